#include <octep/tuple.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "test/support.hpp"

namespace octep {
namespace {

template <class T>
class TupleOf : public ::testing::Test {};
using families = ::testing::Types<tuple4, tuple6>;
TYPED_TEST_SUITE(TupleOf, families);

TYPED_TEST(TupleOf, IsItsWords) {
  EXPECT_TRUE(rc::check([] {
    const TypeParam t = *test::any_tuple<TypeParam>();
    u32 words[TypeParam::words];
    for (u32 i = 0; i < TypeParam::words; ++i) words[i] = t.word(i);
    RC_ASSERT(TypeParam::from_words(words) == t);
    // Every word counts in a comparison.
    const u32 at = *rc::gen::inRange<u32>(0, TypeParam::words);
    words[at] ^= u32{1} << *rc::gen::inRange(0, 32);
    RC_ASSERT(!(TypeParam::from_words(words) == t));
  }));
}

TYPED_TEST(TupleOf, TheReverseOfTheReverseIsTheTuple) {
  EXPECT_TRUE(rc::check([] {
    const TypeParam t = *test::any_tuple<TypeParam>();
    RC_ASSERT(reverse(reverse(t)) == t);
  }));
}

TYPED_TEST(TupleOf, TheReverseExchangesEndsAndAnEchoKeepsItsWords) {
  EXPECT_TRUE(rc::check([] {
    const TypeParam t = *test::any_tuple<TypeParam>();
    const TypeParam r = reverse(t);
    RC_ASSERT(r.source == t.destination);
    RC_ASSERT(r.destination == t.source);
    RC_ASSERT(r.proto == t.proto);
    const bool echo = t.proto == protocol::icmp || t.proto == protocol::icmp6;
    RC_ASSERT(r.source_word() == (echo ? t.source_word() : t.destination_word()));
    RC_ASSERT(r.destination_word() == (echo ? t.destination_word() : t.source_word()));
  }));
}

TEST(Tuple, PortsAreShownInHostOrderAndKeptAsLoaded) {
  const u8 wire[] = {0x01, 0xbb};  // 443
  const u16 word = load_le16(wire);
  EXPECT_EQ(word, 0xbb01);
  EXPECT_EQ(port_number(word), 443);
  EXPECT_EQ(port_word(443), word);
  const tuple4 t = tuple4::make(1, 2, join_ports(port_word(40'000), word), protocol::tcp);
  EXPECT_EQ(t.source_port(), 40'000);
  EXPECT_EQ(t.destination_port(), 443);
  EXPECT_EQ(t.ports & 0xffffU, 0xbb01U);
}

TEST(Tuple, ThirtyTwoBitWordsAndNothingElse) {
  static_assert(sizeof(tuple4) == 4 * tuple4::words);
  static_assert(sizeof(tuple6) == 4 * tuple6::words);
  static_assert(tuple_type<tuple4> && tuple_type<tuple6> && !tuple_type<u32>);
  static_assert(tuple4::which == family::ipv4 && tuple6::which == family::ipv6);
}

}  // namespace
}  // namespace octep
