// What a parse to a tuple costs, beside a parser that takes one byte after the other.
//
// Both read the same frames and find the same tuples and reasons; the rival checks every byte it takes against the
// bytes at hand, as one writes a parser first. For a ratio that holds, interleave and repeat:
//
//   parse_bench --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//   --benchmark_report_aggregates_only=true

#include <benchmark/benchmark.h>

#include <cstddef>
#include <octep/frame.hpp>
#include <random>
#include <vector>

#include "sim/frame_builder.hpp"

namespace {

using namespace octep;

// One byte after the other. What is not there reads as 0 and is remembered.
class byte_reader {
 public:
  explicit byte_reader(const frame_view& f) : bytes_{f.bytes}, size_{f.at_hand()} {}

  u32 take(u32 count) {
    u32 n = 0;
    for (; count > 0; --count) n = n << 8 | next();
    return n;
  }
  u32 take_wire_word(u32 count) {
    u32 n = 0;
    for (u32 i = 0; i < count; ++i) n |= next() << (8 * i);
    return n;
  }
  void skip(u32 count) { at_ += count; }
  [[nodiscard]] u32 at() const { return at_; }
  [[nodiscard]] bool short_of_bytes() const { return short_; }

 private:
  u32 next() {
    if (at_ < size_) return bytes_[at_++];
    short_ = true;
    return 0;
  }

  const u8* bytes_;
  u32 size_;
  u32 at_ = 0;
  bool short_ = false;
};

reason transport_by_bytes(byte_reader& in, u32 number, u32 end, frame_facts& facts, u32& ports) {
  const u32 start = in.at();
  const u32 source = in.take_wire_word(2), destination = in.take_wire_word(2);
  ports = source << 16 | destination;
  u32 claimed = 0;
  if (number == 6) {
    in.skip(8);
    claimed = in.take(1) / 16 * 4;
    const u32 flags = in.take(1);
    facts.closing = (flags & 5) != 0;
    facts.syn = (flags & 18) == 2;
    in.take(6);
    if (claimed < 20) return reason::length_lies;
  } else if (number == 17) {
    claimed = in.take(2);
    in.take(2);
    if (claimed < 8) return reason::length_lies;
  } else {
    const u32 type = (source & 0xff);
    if (number == 1 ? type != 0 && type != 8 : type != 128 && type != 129) return reason::other_icmp;
    ports = in.take_wire_word(2) << 16 | (number == 1 ? 0x0800 : 0x8000);
  }
  if (in.short_of_bytes()) return reason::truncated;
  return start + claimed > end ? reason::length_lies : reason::none;
}

reason by_bytes(const frame_view& frame, frame_facts& facts) {
  byte_reader in{frame};
  facts.closing = facts.syn = false;
  facts.vlan = 0;
  const bool group_to = in.take(1) % 2 != 0;
  in.skip(5);
  const bool group = in.take(1) % 2 != 0 || group_to;
  in.skip(5);
  u32 type = in.take(2);
  for (int tags = 0; tags < 4 && (type == 0x8100 || type == 0x88a8); ++tags) {
    const u32 tag = in.take(2);
    if (tags == 0) facts.vlan = static_cast<u16>(tag & 0xfff);
    type = in.take(2);
  }
  if (in.short_of_bytes()) return reason::truncated;
  if (type == 0x8863 || type == 0x8864) return reason::pppoe;
  if (type != 0x0800 && type != 0x86dd) return reason::not_ip;
  const u32 start = in.at();
  facts.network_offset = static_cast<u16>(start);
  const u32 first = in.take(1);
  if (type == 0x0800) {
    in.skip(1);
    const u32 total = in.take(2);
    in.skip(2);
    const u32 fragment = in.take(2);
    in.skip(1);
    const u32 number = in.take(1);
    in.skip(2);
    const u32 source = in.take_wire_word(4), destination = in.take_wire_word(4);
    if (in.short_of_bytes()) return reason::truncated;
    if (first / 16 != 4) return reason::not_ip;
    if (number != 1 && number != 6 && number != 17)
      return number == 4 || number == 41 || number == 47 || number == 50 || number == 51 ? reason::tunnel
                                                                                         : reason::other_protocol;
    const auto in_group = [](u32 a) { return (a & 0xf0) == 0xe0 || a == 0xffffffff; };
    if (group || in_group(source) || in_group(destination)) return reason::multicast;
    if ((fragment & 0x3fff) != 0) return reason::fragment;
    const u32 header = first % 16 * 4;
    if (header < 20) return reason::length_lies;
    if (total == 0) return reason::superframe;
    if (total < header || start + total > frame.wire_length) return reason::length_lies;
    in.skip(header - 20);
    u32 ports = 0;
    const reason why = transport_by_bytes(in, number, start + total, facts, ports);
    facts.which = family::ipv4;
    facts.v4 = tuple4::make(source, destination, ports, static_cast<protocol>(number));
    return why;
  }
  in.skip(3);
  const u32 payload = in.take(2);
  const u32 number = in.take(1);
  in.skip(1);
  address6 source, destination;
  for (u32& w : source) w = in.take_wire_word(4);
  for (u32& w : destination) w = in.take_wire_word(4);
  if (in.short_of_bytes()) return reason::truncated;
  if (first / 16 != 6) return reason::not_ip;
  if (number != 6 && number != 17 && number != 58) return reason::other_protocol;  // the streams have no chains
  if (group || source[0] % 256 == 255 || destination[0] % 256 == 255) return reason::multicast;
  if (payload == 0) return reason::superframe;
  if (start + 40 + payload > frame.wire_length) return reason::length_lies;
  u32 ports = 0;
  const reason why = transport_by_bytes(in, number, start + 40 + payload, facts, ports);
  facts.which = family::ipv6;
  facts.v6 = tuple6::make(source, destination, ports, static_cast<protocol>(number));
  return why;
}

enum class stream { tcp, udp, mixed, tagged, ipv6 };

// Few enough to stay in the first cache: the work is measured, not the memory.
std::vector<sim::bytes> frames_of(stream kind) {
  std::vector<sim::bytes> frames;
  std::mt19937 random{1};
  const auto any = [&](u32 below) { return static_cast<u32>(random() % below); };
  for (int i = 0; i < 128; ++i) {
    sim::frame_shape shape{.payload = any(64)};
    if (kind == stream::tagged) shape.tags = {{static_cast<u16>(any(4096))}};
    const bool tcp = kind == stream::tcp || (kind != stream::udp && any(4) != 0);
    const protocol proto = tcp ? protocol::tcp : protocol::udp;
    const auto from_port = static_cast<u16>(any(65536)), to_port = static_cast<u16>(any(65536));
    if (kind == stream::ipv6) {
      const auto address = [&](u16 net) {
        return sim::ip6({0x2001, 0xdb8, net, 0, 0, 0, 0, static_cast<u16>(any(65536))});
      };
      frames.push_back(sim::build_frame(sim::make_tuple(proto, address(1), from_port, address(2), to_port), shape));
    } else {
      const auto address = [&](u8 net) {
        return sim::ip4(10, net, static_cast<u8>(any(256)), static_cast<u8>(any(256)));
      };
      frames.push_back(sim::build_frame(sim::make_tuple(proto, address(1), from_port, address(2), to_port), shape));
    }
  }
  return frames;
}

template <class Parse>
void run(benchmark::State& state, stream kind, Parse&& parse) {
  const auto frames = frames_of(kind);
  std::vector<frame_view> views;
  for (const auto& f : frames) views.push_back(sim::view_of(f));
  for (const auto& v : views) {
    frame_facts quick, slow;
    parse_ethernet(v, quick);
    slow.why = by_bytes(v, slow);
    const bool same = quick.why == reason::none && slow.why == reason::none && quick.which == slow.which &&
                      (quick.which == family::ipv4 ? quick.v4 == slow.v4 : quick.v6 == slow.v6) &&
                      quick.vlan == slow.vlan && quick.closing == slow.closing && quick.syn == slow.syn;
    if (!same) return state.SkipWithError("the two parsers differ");
  }
  frame_facts facts;
  auto* seen = &facts;
  benchmark::DoNotOptimize(seen);
  u64 frames_read = 0;
  for (auto _ : state) {
    for (const auto& v : views) {
      parse(v, facts);
      benchmark::ClobberMemory();
    }
    frames_read += views.size();
  }
  state.counters["per_frame"] =
      benchmark::Counter(static_cast<double>(frames_read), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void fast(benchmark::State& state, stream kind) {
  run(state, kind, [](const frame_view& v, frame_facts& facts) { parse_ethernet(v, facts); });
}
void header_by_header(benchmark::State& state, stream kind) {
  run(state, kind, [](const frame_view& v, frame_facts& facts) { octep::detail::read_ethernet(v, facts); });
}
void byte_by_byte(benchmark::State& state, stream kind) {
  run(state, kind, [](const frame_view& v, frame_facts& facts) { facts.why = by_bytes(v, facts); });
}

BENCHMARK_CAPTURE(fast, tcp, stream::tcp);
BENCHMARK_CAPTURE(header_by_header, tcp, stream::tcp);
BENCHMARK_CAPTURE(byte_by_byte, tcp, stream::tcp);
BENCHMARK_CAPTURE(fast, udp, stream::udp);
BENCHMARK_CAPTURE(header_by_header, udp, stream::udp);
BENCHMARK_CAPTURE(byte_by_byte, udp, stream::udp);
BENCHMARK_CAPTURE(fast, mixed, stream::mixed);
BENCHMARK_CAPTURE(header_by_header, mixed, stream::mixed);
BENCHMARK_CAPTURE(byte_by_byte, mixed, stream::mixed);
BENCHMARK_CAPTURE(fast, tagged, stream::tagged);
BENCHMARK_CAPTURE(byte_by_byte, tagged, stream::tagged);
BENCHMARK_CAPTURE(fast, ipv6, stream::ipv6);
BENCHMARK_CAPTURE(byte_by_byte, ipv6, stream::ipv6);

}  // namespace
