// The far side is changed behind the engine's back, one command at a time: each law is heard to break.
#include "sim/reconcile.hpp"

#include <gtest/gtest.h>

#include <string>

#include "sim/frame_builder.hpp"
#include "test/history.hpp"

namespace octep::sim {
namespace {

struct Reconcile : ::testing::Test {
  box<tiny_policies> all{options()};
  const tuple4 opener = make_tuple(protocol::udp, ip4(192, 168, 1, 10), 40'000, ip4(198, 51, 100, 7), 53);
  instant now;
  u32 index = 0;

  static appliance_options options() {
    appliance_options o;
    o.connections = 3;
    o.next_hops = 4;
    o.nat = true;
    return o;
  }
  void SetUp() override {
    for (int i = 0; i < 80; ++i) {
      now = now + microseconds{100};
      frame_facts f{};
      f.why = reason::none;
      f.v4 = i % 2 == 0 ? opener : octep::reverse(opener);
      if (i % 2 == 1) ASSERT_TRUE(all.translate_reply(f, now));
      all.arrive(static_cast<u16>(1 + i % 2), f, 100, tcp_flags{}, now);
    }
    all.advance(now = now + from_ms(500));
    while (index < 3 && all.core().table()[index].state != record_state::held) ++index;
    ASSERT_LT(index, 3U);
    ASSERT_EQ(broken(), "");
  }
  [[nodiscard]] std::string broken() { return reconciling{all.core(), all.device}.first_broken(); }
  [[nodiscard]] const record& held() { return all.core().table()[index]; }
  void far_side(const command& c) { ASSERT_EQ(all.device.execute(c, now).code, answer_code::done); }
  // Sets direction 0's microflow again, as the engine did.
  [[nodiscard]] command program() {
    const microflow_view m = *all.device.find(held().directions[0].who);
    command c;
    c.kind = command_kind::program;
    c.target = m.connection;
    c.direction = m.direction;
    c.microflows[0] = {m.who, m.where, m.next_hop, m.to};
    return c;
  }
  void expect(const char* sentence) {
    const std::string said = broken();
    EXPECT_EQ(said.substr(0, said.find(" (")), sentence);
  }
};

TEST_F(Reconcile, WhatIsAsItWasBreaksNothing) {
  far_side(program());
  EXPECT_EQ(broken(), "");
}

TEST_F(Reconcile, AMicroflowWithoutARecord) {
  command c = program();
  ++c.target.revision;
  far_side(c);
  expect("a programmed microflow has no record");
}

TEST_F(Reconcile, AMicroflowThatIsNotTheRecords) {
  command c = program();
  c.direction = 1;
  far_side(c);
  expect("a programmed microflow is not the record's");
}

TEST_F(Reconcile, AMicroflowThatCarriesAnothersFrames) {
  command c = program();
  c.microflows[0].to.ports ^= 1;
  far_side(c);
  expect("a programmed microflow translates to another connection's tuple");
}

TEST_F(Reconcile, AMicroflowThatLeavesElsewhere) {
  command c = program();
  c.microflows[0].next_hop = held().directions[1].next_hop;
  far_side(c);
  expect("a programmed microflow leaves by another next hop than the record's");
}

TEST_F(Reconcile, ARecordWhoseMicroflowIsNotProgrammed) {
  command c = program();
  c.kind = command_kind::deactivate;
  far_side(c);
  expect("a held record's microflow lives and is not programmed");
}

TEST_F(Reconcile, AnIdentityThatTheFarSideDroppedIsForgiven) {
  command c;
  c.kind = command_kind::discard;
  far_side(c);
  EXPECT_EQ(broken(), "");
}

TEST_F(Reconcile, AnEntryWithoutARecord) {
  command c;
  c.kind = command_kind::create;
  c.block.connection = {index == 0 ? 1U : 0U, 9};
  far_side(c);
  expect("the far side has a valid entry that no record names");
  ASSERT_TRUE(all.device.give_back(c.block.connection.index, 10));
  expect("the far side has a pending entry that no record names");
}

TEST_F(Reconcile, ANextHopThatIsNotSet) {
  command c;
  c.kind = command_kind::next_hop_release;
  c.target = held().directions[0].next_hop;
  far_side(c);
  expect("a held record's next hop is not programmed");
  c.kind = command_kind::next_hop_set;
  far_side(c);
  expect("a held record's next hop is not programmed");
  c.hop = all.core().hops()[c.target.index].hop;
  far_side(c);
  EXPECT_EQ(broken(), "");
}

}  // namespace
}  // namespace octep::sim
