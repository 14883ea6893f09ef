#include "sim/wide_tuple.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/crc32c.hpp"

namespace octep::sim {
namespace {

protocol some_protocol() {
  return *rc::gen::element(protocol::icmp, protocol::tcp, protocol::udp, protocol::icmp6);
}

RC_GTEST_PROP(WideTuple, ConvertsWithoutLossAndReversesLikeTheCore, (u32 from, u32 to, u32 ports)) {
  const tuple4 narrow4 = tuple4::make(from, to, ports, some_protocol());
  RC_ASSERT(wide_tuple{narrow4}.as<tuple4>() == narrow4);
  RC_ASSERT(reverse(wide_tuple{narrow4}) == wide_tuple{octep::reverse(narrow4)});
  const tuple6 narrow6 = tuple6::make({from, 1, 2, to}, {to, from, 3, 4}, ports, some_protocol());
  RC_ASSERT(wide_tuple{narrow6}.as<tuple6>() == narrow6);
  RC_ASSERT(reverse(wide_tuple{narrow6}) == wide_tuple{octep::reverse(narrow6)});
}

RC_GTEST_PROP(WideTuple, KnowsItsReverseAndIsScatteredLikeIt, (u8 from, u8 to, u8 word, u8 another)) {
  const u32 ports = join_ports(word % 3, another % 3);
  const wide_tuple a{tuple4::make(from % 3, to % 3, ports, some_protocol())};
  const wide_tuple b{tuple4::make(to % 3, from % 3, rotate_left(ports, 16), some_protocol())};
  const wide_tuple c{tuple6::make({from, 1, 2, to}, {to, from, 3, 4}, ports, some_protocol())};
  RC_ASSERT(is_reverse(a, b) == (reverse(a) == b));
  for (const wide_tuple& t : {a, b, c}) {
    RC_ASSERT(is_reverse(t, reverse(t)));
    RC_ASSERT(scatter_either_way(t) == scatter_either_way(reverse(t)));
  }
  RC_ASSERT(!is_reverse(a, c));
}

TEST(WideTuple, TheFamilyIsPartOfIt) {
  const tuple4 a = tuple4::make(1, 2, 3, protocol::udp);
  const tuple6 b = tuple6::make({1, 0, 0, 0}, {2, 0, 0, 0}, 3, protocol::udp);
  EXPECT_FALSE(wide_tuple{a} == wide_tuple{b});
}

// The check value of the algorithm: nine ASCII digits.
TEST(Crc32c, HasTheStandardCheckValue) {
  u32 state = ~u32{0};
  for (const char c : {'1', '2', '3', '4', '5', '6', '7', '8', '9'}) state = crc32c(state, static_cast<u8>(c));
  EXPECT_EQ(~state, 0xe306'9283U);
}

TEST(Crc32c, AWordIsItsFourWireBytes) {
  u32 by_byte = ~u32{0};
  for (const u8 byte : {u8{1}, u8{2}, u8{3}, u8{4}}) by_byte = crc32c(by_byte, byte);
  EXPECT_EQ(crc32c(~u32{0}, u32{0x0403'0201}), by_byte);
}

}  // namespace
}  // namespace octep::sim
