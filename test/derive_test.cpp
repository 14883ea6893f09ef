#include <octep/derive.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "test/support.hpp"

namespace octep {
namespace {

// --- what the far side does with a rewrite, written down once more -------------------------------------------

template <tuple_type Tuple>
Tuple rewritten(const Tuple& arrives, const rewrite& to) {
  if constexpr (is_same<Tuple, tuple4>) {
    return Tuple::make(to.source[0], to.destination[0], to.ports, arrives.proto);
  } else {
    return Tuple::make(to.source, to.destination, to.ports, arrives.proto);
  }
}

enum class nat { none, source, destination, both };

// Any connection under that kind of NAT. An echo's responder ends carry the request's type and cannot be translated.
template <tuple_type Tuple>
firewall_answer<Tuple> any_answer(nat kind) {
  firewall_answer<Tuple> a;
  a.found = true;
  a.proto = *test::any_protocol(Tuple::which);
  const u16 type = port_word(a.proto == protocol::icmp ? 8 : 128);
  a.opener = {*test::any_address<Tuple>(), *test::any_word()};
  a.responder = {*test::any_address<Tuple>(), is_echo(a.proto) ? type : *test::any_word()};
  a.opener_translated = a.opener;
  a.responder_seen = a.responder;
  if (kind == nat::source || kind == nat::both) a.opener_translated = {*test::any_address<Tuple>(), *test::any_word()};
  if (kind == nat::destination || kind == nat::both)
    a.responder_seen = {*test::any_address<Tuple>(), is_echo(a.proto) ? type : *test::any_word()};
  return a;
}

rc::Gen<nat> any_nat() { return rc::gen::element(nat::none, nat::source, nat::destination, nat::both); }

template <class T>
class Derive : public ::testing::Test {};
using families = ::testing::Types<tuple4, tuple6>;
TYPED_TEST_SUITE(Derive, families);

TYPED_TEST(Derive, EachDirectionsTupleIsMadeOfTheEndsItsFramesShow) {
  EXPECT_TRUE(rc::check([] {
    const auto a = any_answer<TypeParam>(*any_nat());
    const tuple_pair<TypeParam> t = derive(a);
    const bool echo = is_echo(a.proto);
    RC_ASSERT(t[0].source == a.opener.address);
    RC_ASSERT(t[0].destination == a.responder_seen.address);
    RC_ASSERT(t[0].source_word() == a.opener.word);
    RC_ASSERT(t[0].destination_word() == a.responder_seen.word);
    RC_ASSERT(t[1].source == a.responder.address);
    RC_ASSERT(t[1].destination == a.opener_translated.address);
    // An echo's id stays first, and it is the translated one.
    RC_ASSERT(t[1].source_word() == (echo ? a.opener_translated.word : a.responder.word));
    RC_ASSERT(t[1].destination_word() == (echo ? a.responder.word : a.opener_translated.word));
    RC_ASSERT(t[0].proto == a.proto);
    RC_ASSERT(t[1].proto == a.proto);
  }));
}

// What a direction's frames become is what the other direction's frames answer to.
TYPED_TEST(Derive, ARewrittenTupleReversedIsTheOtherDirections) {
  EXPECT_TRUE(rc::check([] {
    const auto a = any_answer<TypeParam>(*any_nat());
    const tuple_pair<TypeParam> t = derive(a);
    RC_ASSERT(reverse(rewritten(t[0], rewrite_of(derive(a), 0))) == t[1]);
    RC_ASSERT(reverse(rewritten(t[1], rewrite_of(derive(a), 1))) == t[0]);
  }));
}

TYPED_TEST(Derive, WithoutNATTheDirectionsAreEachOthersReverseAndNothingIsRewritten) {
  EXPECT_TRUE(rc::check([] {
    const auto a = any_answer<TypeParam>(nat::none);
    const tuple_pair<TypeParam> t = derive(a);
    RC_ASSERT(t[1] == reverse(t[0]));
    RC_ASSERT(reverse(reverse(t[0])) == t[0]);
    for (u32 d = 0; d < 2; ++d) RC_ASSERT(rewritten(t[d], rewrite_of(derive(a), d)) == t[d]);
    RC_ASSERT(!translates(derive(a)));
  }));
}

TYPED_TEST(Derive, SourceNATKeepsTheResponderAndDestinationNATTheOpener) {
  EXPECT_TRUE(rc::check([] {
    const auto s = any_answer<TypeParam>(nat::source);
    RC_ASSERT(rewritten(derive(s)[0], rewrite_of(derive(s), 0)).destination == derive(s)[0].destination);
    RC_ASSERT(rewritten(derive(s)[1], rewrite_of(derive(s), 1)).source == derive(s)[1].source);
    const auto d = any_answer<TypeParam>(nat::destination);
    RC_ASSERT(rewritten(derive(d)[0], rewrite_of(derive(d), 0)).source == derive(d)[0].source);
    RC_ASSERT(rewritten(derive(d)[1], rewrite_of(derive(d), 1)).destination == derive(d)[1].destination);
  }));
}

TYPED_TEST(Derive, TranslatesMeansThatSomeFrameLeavesOtherwiseThanItArrived) {
  EXPECT_TRUE(rc::check([] {
    const auto a = any_answer<TypeParam>(*any_nat());
    const tuple_pair<TypeParam> t = derive(a);
    bool changed = false;
    for (u32 d = 0; d < 2; ++d) changed = changed || rewritten(t[d], rewrite_of(derive(a), d)) != t[d];
    RC_ASSERT(translates(derive(a)) == changed);
  }));
}

// Seen from the responder it is the same connection read backwards. For ports only: an echo's ends are not alike.
TYPED_TEST(Derive, TheConnectionReadBackwardsHasTheDirectionsExchanged) {
  EXPECT_TRUE(rc::check([] {
    auto a = any_answer<TypeParam>(*any_nat());
    if (is_echo(a.proto)) a.proto = protocol::udp;
    firewall_answer<TypeParam> back = a;
    back.opener = a.responder;
    back.opener_translated = a.responder_seen;
    back.responder_seen = a.opener_translated;
    back.responder = a.opener;
    RC_ASSERT(derive(back)[0] == derive(a)[1]);
    RC_ASSERT(derive(back)[1] == derive(a)[0]);
    RC_ASSERT(rewrite_of(derive(back), 0) == rewrite_of(derive(a), 1));
  }));
}

TYPED_TEST(Derive, TheDirectionOfATupleIsItsPlaceInThePair) {
  EXPECT_TRUE(rc::check([] {
    const tuple_pair<TypeParam> t = derive(any_answer<TypeParam>(*any_nat()));
    const TypeParam other = *test::any_tuple<TypeParam>();
    RC_ASSERT(direction_of(t, t[0]) == 0);
    RC_ASSERT(direction_of(t, t[1]) == (t[1] == t[0] ? 0 : 1));
    RC_ASSERT(direction_of(t, other) == (other == t[0] ? 0 : other == t[1] ? 1 : -1));
  }));
}

// --- connections as an administrator would write them down ---------------------------------------------------

constexpr address4 ip(u8 a, u8 b, u8 c, u8 d) { return u32{a} | (u32{b} << 8) | (u32{c} << 16) | (u32{d} << 24); }

constexpr address4 inside = ip(192, 168, 1, 20);
constexpr address4 outside = ip(203, 0, 113, 5);
constexpr address4 server = ip(198, 51, 100, 7);
constexpr address4 public_name = ip(203, 0, 113, 80);
constexpr address4 in_dmz = ip(10, 0, 0, 80);

constexpr u16 port(u16 number) { return port_word(number); }

tuple4 tcp(address4 from, u16 from_port, address4 to, u16 to_port) {
  return tuple4::make(from, to, join_ports(port(from_port), port(to_port)), protocol::tcp);
}

TEST(DeriveExamples, ADownloadBehindSourceNAT) {
  firewall_answer<tuple4> a;
  a.proto = protocol::tcp;
  a.opener = {inside, port(51'000)};
  a.responder_seen = a.responder = {server, port(443)};
  a.opener_translated = {outside, port(33'333)};
  EXPECT_EQ(derive(a)[0], tcp(inside, 51'000, server, 443));
  EXPECT_EQ(derive(a)[1], tcp(server, 443, outside, 33'333));
  EXPECT_EQ(rewrite_of(derive(a), 0), (rewrite{{outside, 0, 0, 0}, {server, 0, 0, 0}, join_ports(port(33'333), port(443))}));
  EXPECT_EQ(rewrite_of(derive(a), 1), (rewrite{{server, 0, 0, 0}, {inside, 0, 0, 0}, join_ports(port(443), port(51'000))}));
  EXPECT_TRUE(translates(derive(a)));
}

TEST(DeriveExamples, AServerBehindAForwardedPort) {
  firewall_answer<tuple4> a;
  a.proto = protocol::tcp;
  a.opener = a.opener_translated = {server, port(40'000)};
  a.responder_seen = {public_name, port(80)};
  a.responder = {in_dmz, port(8'080)};
  EXPECT_EQ(derive(a)[0], tcp(server, 40'000, public_name, 80));
  EXPECT_EQ(derive(a)[1], tcp(in_dmz, 8'080, server, 40'000));
  EXPECT_EQ(rewrite_of(derive(a), 0), (rewrite{{server, 0, 0, 0}, {in_dmz, 0, 0, 0}, join_ports(port(40'000), port(8'080))}));
  EXPECT_EQ(rewrite_of(derive(a), 1), (rewrite{{public_name, 0, 0, 0}, {server, 0, 0, 0}, join_ports(port(80), port(40'000))}));
}

TEST(DeriveExamples, AnInsideHostThatUsesThePublicNameIsTranslatedBothWays) {
  firewall_answer<tuple4> a;
  a.proto = protocol::tcp;
  a.opener = {inside, port(51'000)};
  a.opener_translated = {outside, port(33'333)};
  a.responder_seen = {public_name, port(80)};
  a.responder = {in_dmz, port(8'080)};
  EXPECT_EQ(derive(a)[0], tcp(inside, 51'000, public_name, 80));
  EXPECT_EQ(derive(a)[1], tcp(in_dmz, 8'080, outside, 33'333));
  EXPECT_EQ(rewrite_of(derive(a), 0), (rewrite{{outside, 0, 0, 0}, {in_dmz, 0, 0, 0}, join_ports(port(33'333), port(8'080))}));
  EXPECT_EQ(rewrite_of(derive(a), 1), (rewrite{{public_name, 0, 0, 0}, {inside, 0, 0, 0}, join_ports(port(80), port(51'000))}));
}

TEST(DeriveExamples, APingWhoseIdIsTranslated) {
  firewall_answer<tuple4> a;
  a.proto = protocol::icmp;
  a.opener = {inside, port(77)};
  a.opener_translated = {outside, port(4'242)};
  a.responder_seen = a.responder = {server, port(8)};
  const auto words = [](u16 id) { return join_ports(port(id), port(8)); };
  EXPECT_EQ(derive(a)[0], tuple4::make(inside, server, words(77), protocol::icmp));
  EXPECT_EQ(derive(a)[1], tuple4::make(server, outside, words(4'242), protocol::icmp));
  EXPECT_EQ(rewrite_of(derive(a), 0), (rewrite{{outside, 0, 0, 0}, {server, 0, 0, 0}, words(4'242)}));
  EXPECT_EQ(rewrite_of(derive(a), 1), (rewrite{{server, 0, 0, 0}, {inside, 0, 0, 0}, words(77)}));
}

TEST(DeriveExamples, AnIPv6PingKeepsItsWordsToo) {
  firewall_answer<tuple6> a;
  a.proto = protocol::icmp6;
  a.opener = a.opener_translated = {{1, 2, 3, 4}, port(77)};
  a.responder_seen = a.responder = {{5, 6, 7, 8}, port(128)};
  const u32 words = join_ports(port(77), port(128));
  EXPECT_EQ(derive(a)[0], tuple6::make({1, 2, 3, 4}, {5, 6, 7, 8}, words, protocol::icmp6));
  EXPECT_EQ(derive(a)[1], tuple6::make({5, 6, 7, 8}, {1, 2, 3, 4}, words, protocol::icmp6));
  EXPECT_FALSE(translates(derive(a)));
}

}  // namespace
}  // namespace octep
