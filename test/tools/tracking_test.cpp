#include "tools/tracking.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "sim/model_constants.hpp"

#include <map>

namespace octep::tools {
namespace {

using sim::tcp_flags;
using sim::wide_tuple;

constexpr tcp_flags syn{tcp_flags::syn_bit}, syn_ack{tcp_flags::syn_bit | tcp_flags::ack_bit}, ack{tcp_flags::ack_bit},
    fin_ack{tcp_flags::fin_bit | tcp_flags::ack_bit}, rst{tcp_flags::rst_bit}, none{};

wide_tuple tcp(u16 from_port, u16 to_port = 80) {
  return tuple4::make(0x0101'0101, 0x0202'0202, join_ports(port_word(from_port), port_word(to_port)), protocol::tcp);
}
wide_tuple udp(u16 from_port) {
  return tuple4::make(0x0101'0101, 0x0202'0202, join_ports(port_word(from_port), port_word(53)), protocol::udp);
}
wide_tuple echo(u16 id) { return tuple4::make(0x0101'0101, 0x0202'0202, join_ports(id, port_word(8)), protocol::icmp); }

struct watched {
  std::vector<connection> gone;
  tracking all{[this](const connection& c) { gone.push_back(c); }};
};

TEST(Tracking, TheSenderOfASynOpens) {
  watched w;
  const auto first = w.all.see(tcp(1000), syn, {0});
  EXPECT_TRUE(first.begins);
  EXPECT_EQ(first.direction, 0);
  EXPECT_FALSE(first.of->picked_up);
  const auto second = w.all.see(reverse(tcp(1000)), syn_ack, {1});
  EXPECT_FALSE(second.begins);
  EXPECT_EQ(second.direction, 1);
  EXPECT_EQ(second.of, first.of);
}

TEST(Tracking, TheReceiverOfASynAckIsTheOpener) {
  watched w;
  const auto answer = w.all.see(reverse(tcp(1000)), syn_ack, {0});
  EXPECT_EQ(answer.direction, 1);
  EXPECT_FALSE(answer.of->picked_up) << "it was not open before";
  EXPECT_TRUE(answer.of->from_opener == tcp(1000));
}

TEST(Tracking, WithoutASynTheFirstSenderOpensAndTheConnectionIsPickedUp) {
  watched w;
  EXPECT_EQ(w.all.see(reverse(tcp(1000)), ack, {0}).direction, 0);
  EXPECT_TRUE(w.all.find(tcp(1000))->picked_up);
  EXPECT_FALSE(w.all.see(udp(1000), none, {0}).of->picked_up);
  EXPECT_FALSE(w.all.see(echo(7), none, {0}).of->picked_up);
}

TEST(Tracking, AnEchoAndItsReplyAreOneConnection) {
  watched w;
  EXPECT_TRUE(w.all.see(echo(7), none, {0}).begins);
  const auto reply = w.all.see(reverse(echo(7)), none, {1});
  EXPECT_FALSE(reply.begins);
  EXPECT_EQ(reply.direction, 1);
  EXPECT_TRUE(w.all.see(echo(8), none, {2}).begins);
}

TEST(Tracking, ASynOnAConnectionThatHasEndedBeginsAnother) {
  watched w;
  (void)w.all.see(tcp(1000), syn, {0});
  EXPECT_FALSE(w.all.see(tcp(1000), syn, {1}).begins);  // sent again
  (void)w.all.see(tcp(1000), fin_ack, {2});
  EXPECT_FALSE(w.all.see(tcp(1000), syn, {3}).begins);  // one half is open
  (void)w.all.see(reverse(tcp(1000)), fin_ack, {4});
  EXPECT_FALSE(w.all.see(tcp(1000), ack, {5}).begins);  // the last acknowledgement
  EXPECT_TRUE(w.all.see(tcp(1000), syn, {6}).begins);
  EXPECT_EQ(w.gone.size(), 1U);
  (void)w.all.see(reverse(tcp(1000)), rst, {7});
  // From the other side: another connection, and another opener.
  const auto other_way = w.all.see(reverse(tcp(1000)), syn, {8});
  EXPECT_TRUE(other_way.begins);
  EXPECT_EQ(other_way.direction, 0);
}

TEST(Tracking, SilenceEndsAConnectionAsTheFirewallWould) {
  struct row {
    std::vector<std::pair<wide_tuple, tcp_flags>> frames;
    microseconds patience;
  };
  const std::vector<row> rows{
      {{{tcp(1), syn}}, sim::tcp_opening_timer},
      {{{tcp(1), syn}, {reverse(tcp(1)), syn_ack}}, sim::tcp_established_timer},
      {{{tcp(1), syn}, {reverse(tcp(1)), syn_ack}, {tcp(1), fin_ack}}, sim::tcp_closing_timer},
      {{{tcp(1), syn}, {reverse(tcp(1)), syn_ack}, {tcp(1), fin_ack}, {reverse(tcp(1)), fin_ack}}, sim::tcp_closed_timer},
      {{{tcp(1), syn}, {reverse(tcp(1)), rst}}, sim::tcp_closed_timer},
      {{{udp(1), none}, {reverse(udp(1)), none}}, sim::udp_multiple_timer},
      {{{echo(1), none}}, sim::icmp_timer},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.patience.count);
    watched w;
    u64 now = 0;
    for (const auto& [tuple, flags] : r.frames) (void)w.all.see(tuple, flags, {now += 1'000});
    w.all.expire({now + r.patience.count});
    EXPECT_EQ(w.gone.size(), 0U);
    w.all.expire({now + r.patience.count + 1});
    EXPECT_EQ(w.gone.size(), 1U);
    EXPECT_EQ(w.all.living(), 0U);
  }
}

TEST(Tracking, AConnectionIsFoundByWhatItsRepliesLookLikeBehindTranslation) {
  watched w;
  const wide_tuple translated = tuple4::make(0x0202'0202, 0x0909'0909, join_ports(port_word(80), port_word(50'001)), protocol::tcp);
  const auto seen = w.all.see(tcp(1000), syn, {0});
  EXPECT_EQ(w.all.find(translated), nullptr);
  w.all.also_arrives_as(*seen.of, translated);
  EXPECT_EQ(w.all.find(translated), w.all.find(tcp(1000)));
  // The port is given to another: what arrives with it is the other's.
  const auto other = w.all.see(tcp(1001), syn, {1});
  w.all.also_arrives_as(*other.of, translated);
  EXPECT_EQ(w.all.find(translated), w.all.find(tcp(1001)));
  w.all.finish();
  EXPECT_EQ(w.all.find(translated), nullptr);
  EXPECT_EQ(w.gone.size(), 2U);
  EXPECT_TRUE(w.gone[0].from_opener == tcp(1000));
}

// The model: a UDP connection or a ping is over when it was silent for longer than its timer.
RC_GTEST_PROP(Tracking, EveryConnectionIsSaidFarewellOnce, ()) {
  watched w;
  std::map<u32, u64> last_heard;
  u64 now = 0, begun = 0;
  const auto steps = *rc::gen::container<std::vector<std::tuple<u32, bool, u64>>>(
      rc::gen::tuple(rc::gen::inRange<u32>(0, 6), rc::gen::arbitrary<bool>(), rc::gen::inRange<u64>(0, 40'000'000)));
  for (const auto& [which, replies, later] : steps) {
    now += later;
    const u16 number = static_cast<u16>(which);
    const wide_tuple tuple = which % 2 == 0 ? udp(number) : echo(number);
    const u64 patience = which % 2 == 0 ? sim::udp_multiple_timer.count : sim::icmp_timer.count;
    const auto known = last_heard.find(which);
    const bool begins = known == last_heard.end() || known->second + patience < now;
    begun += begins ? 1 : 0;
    last_heard[which] = now;
    RC_ASSERT(w.all.see(replies ? reverse(tuple) : tuple, none, {now}).begins == begins);
    RC_ASSERT(w.gone.size() + w.all.living() == begun);
    RC_ASSERT(w.all.living() <= 6U);
  }
  w.all.finish();
  RC_ASSERT(w.gone.size() == begun);
  RC_ASSERT(w.all.living() == 0U);
}

}  // namespace
}  // namespace octep::tools
