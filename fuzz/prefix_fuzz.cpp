// The punt prefix against its reference, on any bytes, any cut and any claim of the wire's length; and what was read,
// written again, reads the same.
//
//   byte 0     how many of the bytes are not at hand
//   byte 1     how many more the wire had; 255: half as many
//   the rest   prefix and frame, in an allocation of exactly the bytes at hand

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <octep/frame.hpp>
#include <octep/metadata.hpp>
#include <vector>

#include "test/exact_bytes.hpp"
#include "test/reference_parser.hpp"

namespace {

using namespace octep;

void demand(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const u8* const all = data + 2;
  const std::size_t length = size - 2;
  const std::size_t contiguous = length - std::min<std::size_t>(data[0], length);
  const std::size_t wire = data[1] == 255 ? length / 2 : length + data[1];

  const test::exact_bytes exact{all, contiguous};
  punt_metadata metadata;
  frame_view inner;
  test::prefix_verdict verdict;
  verdict.why = parse_prefix({exact.data(), static_cast<u32>(contiguous), static_cast<u32>(wire)}, metadata, inner);
  const bool read = verdict.why == reason::none || verdict.why == reason::no_identity;
  if (read) {
    verdict.metadata = metadata;
    verdict.at_hand = inner.at_hand();
    verdict.wire = inner.wire_length;
    demand(inner.bytes == exact.data() + recorded_prefix::length);
  } else {
    demand(metadata == punt_metadata{} && inner.bytes == nullptr);
  }
  demand(inner.contiguous == inner.at_hand());
  demand(verdict == test::reference_prefix({all, all + contiguous}, wire));
  if (!read) return 0;

  // The frame behind it is the parser's to read, to its last byte.
  frame_facts facts;
  parse_ethernet(inner, facts);

  std::vector<u8> again(recorded_prefix::length, 0xee);
  write_prefix(again.data(), metadata, inner.wire_length);
  again.insert(again.end(), inner.bytes, inner.bytes + inner.at_hand());
  const auto whole = static_cast<u32>(recorded_prefix::length + inner.wire_length);
  punt_metadata metadata_again;
  frame_view inner_again;
  const reason why = parse_prefix({again.data(), static_cast<u32>(again.size()), whole}, metadata_again, inner_again);
  demand(why == (metadata.who.names_flow() ? reason::none : reason::no_identity));
  demand(metadata_again == metadata && inner_again.at_hand() == inner.at_hand() &&
         inner_again.wire_length == inner.wire_length);
  return 0;
}
