#include "tools/replay_loop.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

// Forwards, punts, translates and tells what the test says.
class fake_box final : public sim::appliance {
 public:
  struct arrived {
    u16 port;
    frame_facts facts;
    u8 flags;
    instant now;
  };

  fake_box() : sim::appliance{sim::appliance_options{}} {}

  void advance(instant to) override { advanced_to = to; }
  sim::arrival_verdict arrive(u16 port, const frame_facts& facts, u32, const sim::tcp_segment& tcp, instant now) override {
    EXPECT_EQ(advanced_to, now);
    frames.push_back({port, facts, tcp.flags.bits, now});
    sim::arrival_verdict v = says;
    if (facts.why != reason::none) v = {false, facts.why, {}};
    return v;
  }
  set_result set(setting, u32) override { return set_result::ok; }
  void request_discard() override {}
  bool translate_reply(frame_facts& reply, instant) override {
    reply.v4.destination = 0x0909'0909;
    return translates;
  }
  [[nodiscard]] std::vector<std::pair<std::string, u64>> counters() const override { return {}; }
  [[nodiscard]] const settings& values() const override { return values_; }
  [[nodiscard]] bool sound(std::string* why) override {
    if (!is_sound) *why = "a law is broken";
    return is_sound;
  }

  void tell(event_kind kind, reason why, const tuple4& t, instant at) {
    event e;
    e.kind = kind;
    e.why = why;
    e.at = at;
    e.names_tuple = true;
    e.v4 = t;
    on_event(e);
  }

  instant advanced_to;
  sim::arrival_verdict says;
  bool translates = false;
  bool is_sound = true;
  std::vector<arrived> frames;

 private:
  settings values_;
};

struct bench {
  explicit bench(bool nat = false) : loop{box, nat} {}

  void take(const bytes& frame, u64 us = 0) {
    const u32 length = static_cast<u32>(frame.size());
    observed_frame seen;
    seen.frame = {{frame.data(), length, length}, {us}, link_type::ethernet};
    observe(seen);
    loop.take(seen);
    ++taken;
  }
  const fake_box::arrived& last() { return box.frames.back(); }

  fake_box box;
  replay_loop loop;
  u64 taken = 0;
};

bytes arp(u8 from) { return ethernet(from, 9, 0x0806, bytes(28, 0)); }

u64 refused_for(const replay_sums& sums, reason why) { return sums.not_made[static_cast<usize>(why)]; }

TEST(ReplayLoop, OpenersAndRespondersArriveOnTheirOwnPorts) {
  bench b;
  b.take(from_opener(syn), 1);
  EXPECT_EQ(b.last().port, opener_port);
  EXPECT_EQ(b.last().flags, syn);
  EXPECT_EQ(b.last().now.us, 1U);
  b.take(from_responder(syn | ack), 2);
  EXPECT_EQ(b.last().port, responder_port);
  b.take(from_opener(ack), 3);
  EXPECT_EQ(b.last().port, opener_port);
}

TEST(ReplayLoop, WhatIsNoCandidateArrivesWhereItsSenderWasSeen) {
  bench b;
  b.take(arp(2));
  EXPECT_EQ(b.last().port, opener_port);  // nobody has seen it
  b.take(from_opener(syn));               // from hardware address 1
  b.take(from_responder(syn | ack));      // from 2
  b.take(arp(2));
  EXPECT_EQ(b.last().port, responder_port);
  b.take(arp(1));
  EXPECT_EQ(b.last().port, opener_port);
}

TEST(ReplayLoop, OnlyRepliesAreTranslatedAndOnlyBehindNat) {
  for (const bool nat : {false, true}) {
    bench b{nat};
    b.box.translates = true;
    b.take(from_opener(syn));
    EXPECT_NE(b.last().facts.v4.destination, 0x0909'0909U);
    b.take(from_responder(syn | ack));
    EXPECT_EQ(b.last().facts.v4.destination == 0x0909'0909U, nat);
  }
}

TEST(ReplayLoop, AConnectionEndsWithItsLastReason) {
  bench b{true};
  b.box.translates = true;
  b.take(from_opener(syn));
  const tuple4 opener_way = b.last().facts.v4;
  b.take(from_responder(syn | ack));
  const tuple4 translated = b.last().facts.v4;
  b.box.tell(event_kind::refused, reason::flow_wait_other, opener_way, {5});
  b.box.tell(event_kind::refused, reason::flow_closing, translated, {6});
  const replay_sums& sums = b.loop.finish();
  EXPECT_EQ(sums.connections, 1U);
  EXPECT_EQ(sums.made, 0U);
  EXPECT_EQ(refused_for(sums, reason::flow_closing), 1U);
  EXPECT_EQ(sum(sums.not_made), 1U);
}

TEST(ReplayLoop, WhatWasMadeStaysMadeAndIsTimedFromTheFirstPuntedFrame) {
  bench b;
  b.take(from_opener(syn), 100);
  const tuple4 t = b.last().facts.v4;
  b.take(from_responder(syn | ack), 150);
  b.box.tell(event_kind::refused, reason::flow_wait_other, t, {160});
  b.box.tell(event_kind::made, reason::none, t, {200});
  b.box.tell(event_kind::made, reason::none, t, {999});
  b.box.tell(event_kind::refused, reason::flow_held, t, {1'000});
  const replay_sums& sums = b.loop.finish();
  EXPECT_EQ(sums.made, 1U);
  EXPECT_EQ(sum(sums.not_made), 0U);
  EXPECT_EQ(sums.time_to_made.percentile(50), 100U);
}

TEST(ReplayLoop, UntilAPassHasSpokenTheLastFrameDoes) {
  bench b;
  b.box.says = {false, reason::no_identity, {}};
  b.take(from_opener(syn));
  b.take(ethernet(1, 2, 0x0800, ipv4(17, opener, responder, udp(1, 2))));
  b.box.says = {false, reason::none, {}};
  b.take(from_opener(ack));
  const replay_sums& sums = b.loop.finish();
  EXPECT_EQ(refused_for(sums, reason::not_asked), 1U);
  EXPECT_EQ(refused_for(sums, reason::no_identity), 1U);
}

TEST(ReplayLoop, AnEventAboutNobodyChangesNothing) {
  bench b;
  b.box.tell(event_kind::made, reason::none, {}, {5});
  const replay_sums& sums = b.loop.finish();
  EXPECT_EQ(sums.made, 0U);
  EXPECT_EQ(sums.time_to_made.count(), 0U);
}

TEST(ReplayLoop, ForwardedFramesCountAsForwardedAndMakeTheConnection) {
  bench b;
  b.box.says = {true, reason::none, {}};
  b.take(from_opener(ack));
  const replay_sums& sums = b.loop.finish();
  EXPECT_EQ(sums.forwarded, 1U);
  EXPECT_EQ(sums.forwarded_bytes, from_opener(ack).size());
  EXPECT_EQ(sums.made, 1U);
  EXPECT_EQ(sums.picked_up, 1U);
  EXPECT_EQ(sums.time_to_made.count(), 0U);
}

TEST(ReplayLoop, ContradictionsOfTheSumsAndOfTheModelsAreFoundOut) {
  bench b;
  b.take(from_opener(syn));
  EXPECT_EQ(b.loop.contradicts(b.taken), std::nullopt);
  EXPECT_NE(b.loop.contradicts(b.taken + 1), std::nullopt);
  b.box.is_sound = false;
  EXPECT_EQ(b.loop.contradicts(b.taken), "a law is broken");
}

}  // namespace
}  // namespace octep::tools
