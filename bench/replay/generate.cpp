// A capture of any length on standard output: what target P7 and the tests of memory replay.
//
// What it is: TCP connections of which a given number is open at any time, their frames in any order, opener and responder by
// turns: SYN, SYN+ACK, acknowledgements and, where a connection has a life, a FIN of each side; another then takes its seat.
// The same options give the same bytes.
// What it refuses: a payload (zeros), checksums, loss. What that buys: 10 GB without a disk, at the speed of a pipe.
#include "sim/random.hpp"

#include <octep/base.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

using namespace octep;

constexpr const char* usage =
    "usage: replay_generate [--frames N] [--flows N] [--snap N] [--length N] [--life N] [--gap-us N] [--seed N]\n"
    "\n"
    "  --frames N   frames in all (1000000)\n"
    "  --flows N    connections that are open at any time (10000)\n"
    "  --snap N     bytes kept of a frame, 54 to 65535 (100)\n"
    "  --length N   bytes that a frame had on the wire, 54 to 65535 (1000)\n"
    "  --life N     frames of a connection on average, 8 or more; 0: none ends (0)\n"
    "  --gap-us N   microseconds from a frame to the next (10)\n"
    "  --seed N     (1)\n"
    "\n"
    "Writes a pcap file to standard output. Exit status: 0; 1 where it cannot be written; 2 for wrong usage.\n";

struct options {
  u64 frames = 1'000'000;
  u64 flows = 10'000;
  u64 snap = 100;
  u64 length = 1'000;
  u64 life = 0;
  u64 gap_us = 10;
  u64 seed = 1;
};

[[noreturn]] void wrong() {
  std::fputs(usage, stderr);
  std::exit(2);
}

options read(int argc, char** argv) {
  options o;
  const struct {
    std::string_view name;
    u64 options::*to;
    u64 least, most;
  } known[] = {{"--frames", &options::frames, 0, ~u64{0}},     {"--flows", &options::flows, 1, 1'000'000},
               {"--snap", &options::snap, 54, 65'535},         {"--length", &options::length, 54, 65'535},
               {"--life", &options::life, 0, 1'000'000'000},   {"--gap-us", &options::gap_us, 0, 1'000'000'000},
               {"--seed", &options::seed, 0, ~u64{0}}};
  for (int i = 1; i < argc; i += 2) {
    bool taken = false;
    for (const auto& k : known) {
      if (k.name != argv[i] || i + 1 == argc) continue;
      char* end = nullptr;
      const u64 value = std::strtoull(argv[i + 1], &end, 10);
      if (argv[i + 1][0] < '0' || argv[i + 1][0] > '9' || *end != 0 || value < k.least || value > k.most) wrong();
      o.*k.to = value;
      taken = true;
    }
    if (!taken) wrong();
  }
  if (o.life != 0 && o.life < 8) wrong();
  return o;
}

struct flow {
  u64 serial = 0;  // of all connections
  u64 step = 0;    // frames sent
  u64 ends_at = 0;  // 0: never
  u32 sent[2] = {1, 1};
};

void put16(u8* at, u32 v) {
  at[0] = static_cast<u8>(v >> 8);
  at[1] = static_cast<u8>(v);
}
void put32(u8* at, u32 v) {
  put16(at, v >> 16);
  put16(at + 2, v & 0xffff);
}

constexpr u32 headers = 54;  // Ethernet, IPv4, TCP
constexpr u8 fin = 0x01, syn = 0x02, ack = 0x10;
constexpr u32 clients_ports = 200;

// The next frame of `f`, its headers.
void write(u8* to, flow& f, u32 length) {
  const u32 side = f.step & 1U;
  const bool last = f.ends_at != 0 && f.step + 2 >= f.ends_at;
  const u8 flags = f.step == 0 ? syn : f.step == 1 ? syn | ack : last ? fin | ack : ack;
  // 10.0.0.1 and up, 200 ports each, to a server of the documentation's range.
  const u32 addresses[2] = {0x0a00'0001 + static_cast<u32>(f.serial / clients_ports % 0xff'fffe), 0xc000'0201};
  const u32 ports[2] = {20'000 + static_cast<u32>(f.serial % clients_ports), 443};
  constexpr u8 macs[2][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};

  std::memset(to, 0, headers);
  std::memcpy(to, macs[1 - side], 6);
  std::memcpy(to + 6, macs[side], 6);
  put16(to + 12, 0x0800);
  u8* const ip = to + 14;
  ip[0] = 0x45;
  put16(ip + 2, length - 14);
  ip[8] = 64;
  ip[9] = 6;
  put32(ip + 12, addresses[side]);
  put32(ip + 16, addresses[1 - side]);
  u8* const tcp = ip + 20;
  put16(tcp, ports[side]);
  put16(tcp + 2, ports[1 - side]);
  put32(tcp + 4, f.sent[side]);
  if (flags != syn) put32(tcp + 8, f.sent[1 - side]);
  tcp[12] = 0x50;
  tcp[13] = flags;
  put16(tcp + 14, 0xffff);
  f.sent[side] += length - headers + ((flags & (syn | fin)) != 0 ? 1 : 0);
  ++f.step;
}

void append(std::vector<u8>& out, const void* bytes, usize n) {
  const auto* const from = static_cast<const u8*>(bytes);
  out.insert(out.end(), from, from + n);
}

}  // namespace

int main(int argc, char** argv) {
  const options o = read(argc, argv);
  sim::generator random{o.seed, 1};
  const auto length = static_cast<u32>(o.length);
  const auto kept = static_cast<u32>(least(o.length, o.snap));
  constexpr usize flush_at = 1 << 20;
  std::vector<u8> out;
  out.reserve(flush_at + 70'000);
  // In this machine's order, which a reader tells from the magic number; 2.4, microseconds, Ethernet.
  const u32 head[6] = {0xa1b2'c3d4, 0x0004'0002, 0, 0, static_cast<u32>(o.snap), 1};
  append(out, head, sizeof head);

  u64 serial = 0;
  const auto begin = [&] {
    flow f;
    f.serial = serial++;
    if (o.life != 0) f.ends_at = random.between(o.life / 2, o.life + o.life / 2);
    return f;
  };
  std::vector<flow> flows;
  for (u64 i = 0; i < o.flows; ++i) flows.push_back(begin());
  std::vector<u8> frame(kept);
  for (u64 i = 0; i < o.frames; ++i) {
    flow& f = flows[random.below(o.flows)];
    write(frame.data(), f, length);
    const u64 us = 1'700'000'000'000'000 + i * o.gap_us;
    const u32 record[4] = {static_cast<u32>(us / 1'000'000), static_cast<u32>(us % 1'000'000), kept, length};
    append(out, record, sizeof record);
    append(out, frame.data(), kept);
    if (f.ends_at != 0 && f.step >= f.ends_at) f = begin();
    if (out.size() < flush_at) continue;
    if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) return 1;
    out.clear();
  }
  const bool written = std::fwrite(out.data(), 1, out.size(), stdout) == out.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}
