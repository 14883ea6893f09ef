// The frame parser against its reference, on any bytes, any cut and any claim of the wire's length.
//
//   byte 0       bits 0-5 offset, bits 6-7 what stands there: an Ethernet frame (offset unused), IPv4, IPv6, a VLAN tag
//   byte 1       how many of the bytes are not at hand
//   byte 2       how many more the wire had; 254: 70,000 more (a superframe's); 255: half as many
//   the rest     the frame, in an allocation of exactly the bytes at hand

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <octep/frame.hpp>
#include <vector>

#include "test/exact_bytes.hpp"
#include "test/reference_parser.hpp"

namespace {

using namespace octep;

void demand(bool holds) {
  if (!holds) std::abort();
}

struct entry {
  unsigned what;
  u32 offset;

  [[nodiscard]] u16 ethertype() const {
    return what == 1 ? ethertype_ipv4 : what == 2 ? ethertype_ipv6 : ethertype_vlan;
  }
};

test::verdict fast(const entry& e, const u8* frame, std::size_t contiguous, std::size_t wire) {
  const test::exact_bytes exact{frame, contiguous};
  const frame_view view{exact.data(), static_cast<u32>(contiguous), static_cast<u32>(wire)};
  frame_facts facts;
  if (e.what == 0)
    parse_ethernet(view, facts);
  else
    parse_network(view, e.offset, e.ethertype(), facts);
  return test::verdict_of(facts);
}

test::verdict slow(const entry& e, const u8* frame, std::size_t contiguous, std::size_t wire) {
  test::reference_parser parser{{frame, frame + contiguous}, wire};
  return e.what == 0 ? parser.ethernet() : parser.network(e.offset, e.ethertype());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const entry e{data[0] / 64U, data[0] % 64U};
  const u8* const frame = data + 3;
  const std::size_t length = size - 3;
  const std::size_t contiguous = length - std::min<std::size_t>(data[1], length);
  const std::size_t wire = data[2] == 255 ? length / 2 : length + (data[2] == 254 ? 70'000U : data[2]);

  const test::verdict verdict = fast(e, frame, contiguous, wire);
  demand(verdict == slow(e, frame, contiguous, wire));

  // A part says what the whole does, or nothing.
  if (verdict.why != reason::truncated) demand(verdict == fast(e, frame, length, wire));
  return 0;
}
