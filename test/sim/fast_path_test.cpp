#include "sim/fast_path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace octep::sim {
namespace {

using dc = device_counter;

tuple4 flow(u32 n) { return tuple4::make(n, ~n, n << 16, protocol::tcp); }

wire_frame frame_of(u32 n, u16 port = 1) {
  wire_frame f;
  f.where = {port, 0};
  f.is_flow = true;
  f.tuple = flow(n);
  return f;
}

command set_hop(handle at, u16 mtu = 1'500) {
  command c;
  c.kind = command_kind::next_hop_set;
  c.target = at;
  c.hop.port = 9;
  c.hop.mtu = mtu;
  return c;
}

command make(handle at, identity forward, identity back, handle hop = {0, 1}) {
  command c;
  c.kind = command_kind::create;
  c.block.connection = at;
  c.block.track_tcp = true;
  c.microflows[0] = {forward, {1, 0}, hop, {}};
  c.microflows[1] = {back, {2, 0}, hop, {}};
  return c;
}

command about(command_kind kind, handle target) {
  command c;
  c.kind = kind;
  c.target = target;
  return c;
}

command deactivate(identity who) {
  command c;
  c.kind = command_kind::deactivate;
  c.microflows[0].who = who;
  return c;
}

// A connection in hardware: flow 1 by port 1, flow 2 by port 2, entry 0 revision 1, next hop 0 revision 1.
struct FastPath : ::testing::Test {
  fast_path device;
  identity forward, back;
  instant now{1'000'000};

  void program() {
    forward = device.arrive(frame_of(1, 1), now).who;
    back = device.arrive(frame_of(2, 2), now).who;
    ASSERT_EQ(device.execute(set_hop({0, 1}), now).code, answer_code::done);
    ASSERT_EQ(device.execute(make({0, 1}, forward, back), now).code, answer_code::done);
  }
  dc after(microseconds wait, u32 n = 1, u16 port = 1) {
    now = now + wait;
    return device.arrive(frame_of(n, port), now).why;
  }
  void TearDown() override {
    std::string why;
    EXPECT_TRUE(device.conserved(&why)) << why;
    EXPECT_TRUE(device.consistent(&why)) << why;
  }
};

TEST_F(FastPath, PuntsAFrameNobodyProgrammedWithAnIdentityOfItsOwn) {
  const verdict first = device.arrive(frame_of(1), now);
  EXPECT_EQ(first.is, verdict::what::punted);
  EXPECT_EQ(first.why, dc::kn_mflow_not_active);
  EXPECT_TRUE(first.who.names_flow());
  EXPECT_EQ(device.arrive(frame_of(1), now).who, first.who);
  EXPECT_FALSE(device.arrive(frame_of(2), now).who == first.who);
  EXPECT_FALSE(device.arrive(frame_of(1, 2), now).who == first.who) << "the port is part of the key";
  wire_frame tagged = frame_of(1);
  tagged.where.vlan = 7;
  EXPECT_FALSE(device.arrive(tagged, now).who == first.who) << "so is the VLAN";
}

TEST_F(FastPath, PuntsWhatIsNoFlowWithoutAnIdentity) {
  wire_frame f = frame_of(1);
  f.is_flow = false;
  const verdict v = device.arrive(f, now);
  EXPECT_EQ(v.why, dc::kn_no_flow);
  EXPECT_EQ(v.who.word, 0U);
  EXPECT_EQ(device.microflow_count(), 0U);
}

TEST_F(FastPath, ForwardsWhatWasProgrammed) {
  program();
  const verdict v = device.arrive(frame_of(1, 1), now);
  EXPECT_EQ(v.is, verdict::what::forwarded);
  EXPECT_EQ(v.leaves, wide_tuple{flow(1)}) << "nothing to translate";
  EXPECT_EQ(v.hop.port, 9);
  EXPECT_EQ(v.connection, (handle{0, 1}));
  EXPECT_EQ(after({5}, 2, 2), dc::from_wire_to_wire);
  EXPECT_EQ(device.find(back)->stamp, now);
  EXPECT_EQ(device.counters()[dc::from_wire_to_wire], 2U);
  EXPECT_EQ(device.counters()[dc::tx_wire], 2U);
}

TEST_F(FastPath, TranslatesWhereTheConnectionDoes) {
  program();
  command c = make({0, 1}, forward, back);
  c.block.translates = true;
  c.microflows[0].to = {widen(address4{11}), widen(address4{22}), 33};
  ASSERT_EQ(device.execute(c, now).code, answer_code::done);
  const verdict v = device.arrive(frame_of(1, 1), now);
  EXPECT_EQ(v.leaves, wide_tuple{tuple4::make(11, 22, 33, protocol::tcp)});
}

TEST_F(FastPath, WhatExpiresOrIsTooLongIsTheHosts) {
  program();
  wire_frame f = frame_of(1, 1);
  f.ttl = 1;
  EXPECT_EQ(device.arrive(f, now).why, dc::kn_ttl);
  f.ttl = 2;
  f.ip_bytes = 1'501;
  EXPECT_EQ(device.arrive(f, now).why, dc::kn_mtu);
  f.ip_bytes = 1'500;
  EXPECT_EQ(device.arrive(f, now).why, dc::from_wire_to_wire);
  EXPECT_FALSE(device.find(forward)->condemned);
}

TEST_F(FastPath, CreateCopiesWhateverIsThere) {
  program();
  ASSERT_EQ(device.execute(make({0, 7}, {}, {}), now).code, answer_code::done);
  EXPECT_EQ(device.entry(0).revision, 7);
  EXPECT_EQ(after({1}), dc::kn_fw_rev_mismatch);
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  EXPECT_EQ(after({1}), dc::from_wire_to_wire) << "the same block again, without microflows, is a revive";
}

TEST_F(FastPath, CreateSaysNothingOfADeadIdentity) {
  program();
  const identity stale = identity::make(forward.id(), forward.revision() + 1);
  const identity unborn = identity::make(1'000, 1);
  EXPECT_EQ(device.execute(make({1, 1}, stale, unborn), now).code, answer_code::done);
  EXPECT_EQ(device.entry(1).state, entry_state::valid);
  EXPECT_EQ(device.find(forward)->connection, (handle{0, 1})) << "not touched";
}

TEST_F(FastPath, CreateRefusesAnIdOutOfRangeAfterItCopied) {
  program();
  const identity beyond = identity::make(microflow_capacity + 1, 1);
  EXPECT_EQ(device.execute(make({1, 3}, beyond, back), now).code, answer_code::refused);
  EXPECT_EQ(device.entry(1).revision, 3) << "the copy comes first";
  EXPECT_EQ(device.find(back)->connection, (handle{0, 1})) << "the second microflow was not reached";
  EXPECT_EQ(device.execute(make({1, 3}, {identity::valid_bit}, back), now).code, answer_code::refused) << "id 0";
  EXPECT_EQ(device.execute(make({device.connections(), 1}, forward, back), now).code, answer_code::refused);
}

TEST_F(FastPath, DeactivateSkipsAStaleIdentityAndSaysDone) {
  program();
  EXPECT_EQ(device.execute(deactivate(identity::make(forward.id(), forward.revision() + 1)), now).code, answer_code::done);
  EXPECT_EQ(after({1}), dc::from_wire_to_wire);
  EXPECT_EQ(device.execute(deactivate(forward), now).code, answer_code::done);
  EXPECT_EQ(after({1}), dc::kn_mflow_not_active);
  EXPECT_EQ(device.find({1, 0}, flow(1))->who, forward) << "it is the same microflow still";
  EXPECT_EQ(device.execute(deactivate(identity::make(microflow_capacity + 1, 1)), now).code, answer_code::refused);
}

TEST_F(FastPath, ReclaimWantsTheRevisionThatIsThere) {
  program();
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {0, 2}), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {1, 0}), now).code, answer_code::refused) << "never made";
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {device.connections(), 1}), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {0, 1}), now).code, answer_code::done);
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {0, 1}), now).code, answer_code::refused) << "once";
  EXPECT_EQ(after({1}), dc::kn_conn_reclaim_pending);
}

TEST_F(FastPath, PendingCanBeReclaimedAndRead) {
  program();
  EXPECT_TRUE(device.give_back(0, 10));
  const answer read = device.execute(about(command_kind::read_entry, {0, 0}), now);
  EXPECT_EQ(read.code, answer_code::done);
  EXPECT_EQ(read.entry, entry_state::pending);
  EXPECT_EQ(read.entry_revision, 1);
  EXPECT_EQ(read.identical, 10);
  EXPECT_EQ(device.execute(about(command_kind::reclaim, {0, 1}), now).code, answer_code::done);
  EXPECT_FALSE(device.give_back(0, 10));
  EXPECT_EQ(device.execute(about(command_kind::read_entry, {device.connections(), 0}), now).code, answer_code::refused);
}

TEST_F(FastPath, AMicroflowThatNamesAnotherNextHopPunts) {
  program();
  EXPECT_EQ(device.execute(about(command_kind::next_hop_release, {0, 2}), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(set_hop({0, 2}), now).code, answer_code::done);
  EXPECT_EQ(after({1}), dc::kn_next_hop_mismatch);
  EXPECT_FALSE(device.find(forward)->condemned) << "only an unusable connection condemns";
  EXPECT_EQ(device.execute(about(command_kind::next_hop_release, {0, 2}), now).code, answer_code::done);
  EXPECT_EQ(device.execute(about(command_kind::next_hop_release, {0, 2}), now).code, answer_code::refused);
  EXPECT_EQ(after({1}), dc::kn_next_hop_mismatch);
}

TEST_F(FastPath, DiscardDropsEveryMicroflow) {
  program();
  EXPECT_EQ(device.execute(about(command_kind::discard, {}), now).code, answer_code::done);
  EXPECT_EQ(device.microflow_count(), 0U);
  EXPECT_EQ(device.entry(0).state, entry_state::reclaimed);
  EXPECT_EQ(after({1}), dc::kn_mflow_not_active);
  EXPECT_FALSE(device.find({1, 0}, flow(1))->who == forward);
}

TEST_F(FastPath, AfterARestartTheFirstIdentitiesComeAgain) {
  program();
  device.restart(now);
  EXPECT_EQ(device.entry(0).revision, 0);
  EXPECT_EQ(device.hop({0, 1}), nullptr);
  EXPECT_EQ(device.arrive(frame_of(3), now).who, forward) << "which is why the host has to forget its own";
}

// coprocessor.md: five seconds from its OWN first frame, refreshed by nothing, lengthened by no command.
TEST_F(FastPath, ACondemnedMicroflowLivesFiveSecondsWhateverHappens) {
  program();
  device.give_back(0, 10);
  EXPECT_EQ(after({0}), dc::kn_conn_reclaim_pending);
  EXPECT_TRUE(device.find(forward)->condemned);
  EXPECT_FALSE(device.find(back)->condemned) << "it met no frame yet";
  ASSERT_EQ(device.execute(make({0, 1}, forward, back), now).code, answer_code::done);
  EXPECT_EQ(after(from_s(3)), dc::from_wire_to_wire) << "revived";
  device.give_back(0, 10);
  EXPECT_EQ(after({1'999'999}), dc::kn_conn_reclaim_pending);
  EXPECT_EQ(device.find({1, 0}, flow(1))->who, forward);
  EXPECT_EQ(after({1}), dc::kn_mflow_not_active);
  EXPECT_FALSE(device.find({1, 0}, flow(1))->who == forward);
}

TEST_F(FastPath, AProgrammedMicroflowOutlivesAnySilence) {
  program();
  EXPECT_EQ(after(from_s(100'000)), dc::from_wire_to_wire);
  EXPECT_EQ(device.execute(deactivate(back), now).code, answer_code::done);
  device.advance(now + from_s(1));
  EXPECT_EQ(device.find(back), nullptr) << "deactivated after a day of silence, it goes at the next look";
}

TEST_F(FastPath, AReviveChangesTheEntryAlone) {
  program();
  device.give_back(0, 10);
  EXPECT_EQ(after({1}), dc::kn_conn_reclaim_pending);
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  EXPECT_EQ(device.entry(0).state, entry_state::valid);
  EXPECT_EQ(device.entry(0).identical, 0);
  EXPECT_EQ(after({1}), dc::from_wire_to_wire);
  EXPECT_EQ(after({1}, 2, 2), dc::from_wire_to_wire);
  EXPECT_TRUE(device.find(forward)->condemned) << "its terminal timer runs on";
  EXPECT_FALSE(device.find(back)->condemned);
  now = now + microseconds{microflow_terminal.count - 3};
  device.advance(now);
  EXPECT_NE(device.find(forward), nullptr);
  device.advance(now + microseconds{1});
  EXPECT_EQ(device.find(forward), nullptr);
  EXPECT_NE(device.find(back), nullptr);
}

// --- program and read_microflow ----------------------------------------------------------------------------

command attach(handle connection, u8 direction, identity who, handle hop = {0, 1}) {
  command c;
  c.kind = command_kind::program;
  c.target = connection;
  c.direction = direction;
  c.microflows[0] = {who, {1, 0}, hop, {}};
  return c;
}

command read_stamp(identity who) {
  command c;
  c.kind = command_kind::read_microflow;
  c.microflows[0].who = who;
  return c;
}

TEST_F(FastPath, ProgramSetsOneMicroflowAndNothingElse) {
  program();
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  const identity third = device.arrive(frame_of(3), now).who;
  command c = attach({0, 1}, 1, third);
  c.microflows[0].to = {widen(address4{11}), widen(address4{22}), 33};
  EXPECT_EQ(device.execute(c, now).code, answer_code::done);
  const microflow_view* const m = device.find(third);
  EXPECT_TRUE(m->active);
  EXPECT_EQ(m->connection, (handle{0, 1}));
  EXPECT_EQ(m->direction, 1);
  EXPECT_EQ(m->next_hop, (handle{0, 1}));
  EXPECT_EQ(m->to, c.microflows[0].to);
  EXPECT_EQ(device.find(back)->direction, 1) << "who had the direction before keeps it";
  EXPECT_EQ(after({1}, 3), dc::from_wire_to_wire);
  EXPECT_EQ(after({1}, 1), dc::from_wire_to_wire);
}

TEST_F(FastPath, ProgramAsksNothingOfTheEntry) {
  program();
  EXPECT_EQ(device.execute(attach({1, 7}, 0, forward), now).code, answer_code::done);
  EXPECT_EQ(after({1}), dc::kn_fw_rev_mismatch) << "which its frames find out";
}

TEST_F(FastPath, ProgramSaysNothingOfADeadIdentity) {
  program();
  const identity stale = identity::make(back.id(), back.revision() + 1);
  EXPECT_EQ(device.execute(attach({0, 1}, 1, stale, {0, 9}), now).code, answer_code::done);
  EXPECT_EQ(device.execute(attach({0, 1}, 1, identity::make(1'000, 1)), now).code, answer_code::done);
  EXPECT_EQ(after({1}, 2, 2), dc::from_wire_to_wire) << "whoever has the id now is not touched";
}

TEST_F(FastPath, ProgramRefusesWhatIsOutOfRange) {
  program();
  EXPECT_EQ(device.execute(attach({0, 1}, 0, identity::make(microflow_capacity + 1, 1)), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(attach({0, 1}, 0, {}), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(attach({device.connections(), 1}, 0, forward), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(attach({0, 1}, 2, forward), now).code, answer_code::refused);
  EXPECT_EQ(after({1}), dc::from_wire_to_wire);
}

TEST_F(FastPath, ProgramLengthensNoTerminalTimer) {
  program();
  device.give_back(0, 10);
  EXPECT_EQ(after({0}), dc::kn_conn_reclaim_pending);
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  now = now + from_s(4);
  ASSERT_EQ(device.execute(attach({0, 1}, 0, forward), now).code, answer_code::done);
  EXPECT_TRUE(device.find(forward)->condemned);
  EXPECT_EQ(after({999'999}), dc::from_wire_to_wire);
  EXPECT_EQ(after({1}), dc::kn_mflow_not_active) << "five seconds after its first frame, to the microsecond";
}

TEST_F(FastPath, AStampMovesWithForwardedFramesOnly) {
  program();
  const auto stamp = [&](identity who) {
    const answer a = device.execute(read_stamp(who), now);
    EXPECT_EQ(a.code, answer_code::done);
    EXPECT_TRUE(a.lives);
    return a.stamp;
  };
  EXPECT_EQ(stamp(forward), 0U) << "nothing was forwarded yet";
  EXPECT_EQ(after({1'000}), dc::from_wire_to_wire);
  const u32 first = stamp(forward);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(stamp(back), 0U) << "each its own";
  now = now + from_s(60);
  EXPECT_EQ(stamp(forward), first) << "time alone moves nothing";
  device.give_back(0, 10);
  EXPECT_EQ(after({1'000}), dc::kn_conn_reclaim_pending);
  EXPECT_EQ(stamp(forward), first) << "nor does a punted frame";
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  EXPECT_EQ(after({1'000}), dc::from_wire_to_wire);
  EXPECT_NE(stamp(forward), first);
}

TEST_F(FastPath, AStampCrossesItsWrap) {
  now = {u64{0xffff'ffff} * 1'000 - 5'000'000};
  program();
  EXPECT_EQ(after({4'999'000}), dc::from_wire_to_wire);
  EXPECT_EQ(device.execute(read_stamp(forward), now).stamp, 0xffff'ffffU);
  EXPECT_EQ(after({2'000}), dc::from_wire_to_wire);
  EXPECT_EQ(device.execute(read_stamp(forward), now).stamp, 1U);
}

TEST_F(FastPath, ADeadMicroflowIsReadAsDead) {
  program();
  const answer a = device.execute(read_stamp(identity::make(forward.id(), forward.revision() + 1)), now);
  EXPECT_EQ(a.code, answer_code::done);
  EXPECT_FALSE(a.lives);
  EXPECT_EQ(a.stamp, 0U);
  EXPECT_FALSE(device.execute(read_stamp(identity::make(1'000, 1)), now).lives);
  EXPECT_EQ(device.execute(read_stamp(identity::make(microflow_capacity + 1, 1)), now).code, answer_code::refused);
  EXPECT_EQ(device.execute(read_stamp({}), now).code, answer_code::refused);
  ASSERT_EQ(device.execute(deactivate(forward), now).code, answer_code::done);
  EXPECT_TRUE(device.execute(read_stamp(forward), now).lives) << "not active, but it is there";
}

// --- the give-back rule ------------------------------------------------------------------------------------

tcp_segment acknowledges(u32 upto, u32 window = 1'000, u32 sequence = 500, u32 length = 0) {
  return {.flags = {tcp_flags::ack_bit}, .has_numbers = true, .sequence = sequence, .length = length,
          .acknowledgement = upto, .window = window};
}

struct GiveBack : FastPath {
  void start(const device_facts& as) {
    device = fast_path{{.gives_back = give_back_rule::of(as)}};
    program();
  }
  dc sends(u32 n, const tcp_segment& s) {
    wire_frame f = frame_of(n, static_cast<u16>(n));
    f.tcp = s;
    now = now + microseconds{1};
    return device.arrive(f, now).why;
  }
  // How many equal frames of flow 1 are forwarded before one gives the connection back.
  u32 borne() {
    u32 n = 0;
    while (n < 100 && sends(1, acknowledges(7)) == dc::from_wire_to_wire) ++n;
    return n;
  }
};

TEST_F(GiveBack, TheTwelfthIdenticalFrameOnTheOne) {
  start(xgs3300);
  EXPECT_EQ(borne(), 11U);
  EXPECT_EQ(device.counters()[dc::kn_tcp_max_retrans], 1U) << "and it is punted itself";
  EXPECT_EQ(device.entry(0).state, entry_state::pending);
  EXPECT_EQ(device.entry(0).identical, 10);
  EXPECT_FALSE(device.find(forward)->condemned) << "it met a usable entry";
  EXPECT_EQ(sends(1, acknowledges(8)), dc::kn_conn_reclaim_pending);
  EXPECT_TRUE(device.find(forward)->condemned);
}

TEST_F(GiveBack, TheTenthOnTheOther) {
  start(xgs136);
  EXPECT_EQ(borne(), 9U);
  EXPECT_EQ(device.entry(0).state, entry_state::pending);
  EXPECT_EQ(device.entry(0).identical, 10) << "at the limit there too";
}

TEST_F(GiveBack, AnyDifferenceStartsOver) {
  start(xgs3300);
  const tcp_segment same = acknowledges(7);
  for (const tcp_segment& other : {acknowledges(8), acknowledges(7, 1'001), acknowledges(7, 1'000, 501),
                                   acknowledges(7, 1'000, 500, 1)}) {
    for (int i = 0; i < 11; ++i) ASSERT_EQ(sends(1, same), dc::from_wire_to_wire);
    EXPECT_EQ(device.entry(0).identical, 10);
    ASSERT_EQ(sends(1, other), dc::from_wire_to_wire);
    EXPECT_EQ(device.entry(0).identical, 0);
  }
  for (int i = 0; i < 11; ++i) ASSERT_EQ(sends(1, same), dc::from_wire_to_wire);
  ASSERT_EQ(sends(2, same), dc::from_wire_to_wire) << "the same numbers from the other side";
  EXPECT_EQ(borne(), 11U);
}

TEST_F(GiveBack, TheEndCountsAndNotWhereAFrameBegins) {
  start(xgs3300);
  for (u32 i = 0; i < 11; ++i)
    ASSERT_EQ(sends(1, acknowledges(7, 1'000, 500 - i, 100 + i)), dc::from_wire_to_wire);
  EXPECT_EQ(sends(1, acknowledges(7, 1'000, 600, 0)), dc::kn_tcp_max_retrans);
}

TEST_F(GiveBack, WhatSaysNothingIsPassedOver) {
  start(xgs3300);
  tcp_segment mute = acknowledges(9);
  mute.flags = {};
  for (int i = 0; i < 11; ++i) {
    ASSERT_EQ(sends(1, acknowledges(7)), dc::from_wire_to_wire);
    ASSERT_EQ(sends(2, mute), dc::from_wire_to_wire) << "no ACK";
    ASSERT_EQ(sends(2, tcp_flags{tcp_flags::ack_bit}), dc::from_wire_to_wire) << "no numbers";
  }
  EXPECT_EQ(sends(1, acknowledges(7)), dc::kn_tcp_max_retrans);
}

TEST_F(GiveBack, AnEndingLeavesTheCounterWhereItWas) {
  for (const u8 flag : {tcp_flags::fin_bit, tcp_flags::syn_bit, tcp_flags::rst_bit}) {
    start(xgs3300);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(sends(1, acknowledges(7)), dc::from_wire_to_wire);
    EXPECT_EQ(sends(2, tcp_flags{static_cast<u8>(flag | tcp_flags::ack_bit)}), dc::kn_tcp_flags);
    EXPECT_EQ(device.entry(0).state, entry_state::pending);
    EXPECT_EQ(device.entry(0).identical, 4);
  }
}

TEST_F(GiveBack, ARevivedConnectionStartsOver) {
  start(xgs3300);
  EXPECT_EQ(borne(), 11U);
  ASSERT_EQ(device.execute(make({0, 1}, {}, {}), now).code, answer_code::done);
  EXPECT_EQ(borne(), 11U);
}

TEST_F(GiveBack, ConnectionsCountApart) {
  start(xgs3300);
  const identity other = device.arrive(frame_of(3, 3), now).who;
  ASSERT_EQ(device.execute(make({1, 1}, other, {}), now).code, answer_code::done);
  for (int i = 0; i < 11; ++i) {
    ASSERT_EQ(sends(1, acknowledges(7)), dc::from_wire_to_wire);
    ASSERT_EQ(sends(3, acknowledges(7)), dc::from_wire_to_wire);
  }
  EXPECT_EQ(sends(1, acknowledges(7)), dc::kn_tcp_max_retrans);
  EXPECT_EQ(device.entry(1).state, entry_state::valid);
}

TEST_F(GiveBack, OnlyWhatIsTrackedIsGivenBack) {
  start(xgs3300);
  command c = make({0, 1}, {}, {});
  c.block.track_tcp = false;
  ASSERT_EQ(device.execute(c, now).code, answer_code::done);
  EXPECT_EQ(borne(), 100U);
  EXPECT_EQ(sends(1, tcp_flags{tcp_flags::fin_bit}), dc::from_wire_to_wire);
}

TEST_F(GiveBack, NothingIsWithoutARule) {
  program();
  EXPECT_EQ(borne(), 100U);
  EXPECT_EQ(sends(1, tcp_flags{tcp_flags::rst_bit}), dc::from_wire_to_wire);
}

TEST(FastPathIdentities, AnIdRestsAsLongAsItCan) {
  fast_path device{{.microflows = 3}};
  std::vector<u32> ids;
  for (u32 n = 1; n <= 3; ++n) ids.push_back(device.arrive(frame_of(n), {0}).who.id());
  EXPECT_EQ(ids, (std::vector<u32>{1, 2, 3}));
  const verdict full = device.arrive(frame_of(4), {0});
  EXPECT_EQ(full.why, dc::kn_no_microflow);
  EXPECT_FALSE(full.who.names_flow());
  (void)device.execute(about(command_kind::discard, {}), {0});
  for (const u32 id : ids) EXPECT_EQ(device.arrive(frame_of(10 + id), {0}).who, identity::make(id, 2));
}

TEST(FastPathIdentities, TheRevisionIsSixBitsWide) {
  fast_path device{{.microflows = 1}};
  std::vector<u32> revisions;
  for (u32 n = 0; n < 65; ++n) {
    revisions.push_back(device.arrive(frame_of(n), {0}).who.revision());
    (void)device.execute(about(command_kind::discard, {}), {0});
  }
  EXPECT_EQ(revisions[0], 1U);
  EXPECT_EQ(revisions[62], 63U);
  EXPECT_EQ(revisions[63], 0U);
  EXPECT_EQ(revisions[64], 1U);
}

// coprocessor.md: nine to ten seconds of silence, noticed up to one second later. Over seeds both bounds are approached.
TEST(FastPathIdentities, SilenceEndsAMicroflowAfterNineToElevenSeconds) {
  u64 least_us = ~u64{0}, most_us = 0;
  for (u64 seed = 0; seed < 500; ++seed) {
    fast_path device{{.seed = seed}};
    (void)device.arrive(frame_of(1), {0});
    (void)device.arrive(frame_of(1), {3'000'000});
    u64 lives = 9'000'000;
    while (device.advance({3'000'000 + lives}), device.microflow_count() != 0) lives += 10'000;
    least_us = std::min(least_us, lives);
    most_us = std::max(most_us, lives);
  }
  EXPECT_GE(least_us, 9'000'000U);
  EXPECT_LE(least_us, 9'200'000U);
  EXPECT_LE(most_us, 11'000'000U);
  EXPECT_GE(most_us, 10'800'000U);
}

TEST(FastPathQueues, WhatAQueueRefusesIsDroppedAndWhatWaitsIsCounted) {
  fast_path device{{.wire_frame_ns = 10'000, .kn_frame_ns = 20'000, .queue_room = 2}};
  EXPECT_EQ(device.arrive(frame_of(1), {0}).done, instant{20});
  EXPECT_EQ(device.arrive(frame_of(1), {0}).done, instant{40});
  EXPECT_EQ(device.arrive(frame_of(1), {0}).why, dc::drop_kn_overrun);
  EXPECT_EQ(device.host_sends({0}), instant{10});
  EXPECT_EQ(device.host_sends({0}), instant{20});
  EXPECT_FALSE(device.host_sends({0}));
  EXPECT_TRUE(device.conserved());
  EXPECT_EQ(device.counters()[dc::tx_wire], 0U);
  device.advance({20});
  EXPECT_EQ(device.counters()[dc::tx_kn], 1U);
  EXPECT_EQ(device.counters()[dc::tx_wire], 2U);
  EXPECT_EQ(device.counters()[dc::drop_host_overrun], 1U);
  EXPECT_TRUE(device.conserved());
}

TEST(FastPathQueues, PuntedFramesAreSpreadOverTheRings) {
  fast_path device;
  std::set<u32> rings;
  for (u32 n = 1; n <= 200; ++n) rings.insert(device.arrive(frame_of(n), {0}).ring);
  EXPECT_EQ(rings.size(), punt_rings);
  EXPECT_EQ(*rings.rbegin(), punt_rings - 1);
}

// --- any sequence -----------------------------------------------------------------------------------------
// The model is what coprocessor.md says, written down once more with maps and no timers: it knows when a microflow must
// live and when it must be dead, and between the two it asks the device.

struct model {
  struct flow_state {
    identity who;
    instant last;
    bool active = false;
    handle connection, hop;
    std::optional<instant> condemned;
  };
  struct entry_model {
    entry_state state = entry_state::reclaimed;
    u16 revision = 0;
  };
  std::map<u32, flow_state> flows;         // by key
  std::map<u32, u32> revision_of_id;
  std::map<u32, entry_model> entries;
  std::map<u32, u16> hops;

  void pass_time(const fast_path& device, instant now) {
    for (auto it = flows.begin(); it != flows.end();) {
      const flow_state& f = it->second;
      const bool lives = device.find(f.who) != nullptr;
      const u64 silence = now.since(f.last).count;
      const bool terminal = f.condemned && (*f.condemned + microflow_terminal) <= now;
      if (terminal || (!f.active && silence >= 11'000'000)) RC_ASSERT(!lives);
      if (!terminal && (f.active || silence < 9'000'000)) RC_ASSERT(lives);
      it = lives ? std::next(it) : flows.erase(it);
    }
  }
  // What becomes of a frame of a living microflow.
  device_counter expected(const flow_state& f) {
    if (!f.active) return dc::kn_mflow_not_active;
    const entry_model& e = entries[f.connection.index];
    if (e.revision != f.connection.revision) return dc::kn_fw_rev_mismatch;
    if (e.state != entry_state::valid) return dc::kn_conn_reclaim_pending;
    return hops.contains(f.hop.index) && hops[f.hop.index] == f.hop.revision ? dc::from_wire_to_wire
                                                                              : dc::kn_next_hop_mismatch;
  }
  flow_state* named(identity who) {
    for (auto& [key, f] : flows)
      if (f.who == who) return &f;
    return nullptr;
  }
};

constexpr u32 keys = 5, room = 3, connections = 3, hops = 2;

using history = std::vector<std::tuple<u8, u8, u8, u8>>;

void any_history(const history& steps, bool queues) {
  fast_path device{{.seed = *rc::gen::arbitrary<u64>(),
                    .microflows = room,
                    .connections = connections,
                    .next_hops = hops,
                    .wire_frame_ns = queues ? 700'000'000U : 0U,
                    .kn_frame_ns = queues ? 900'000'000U : 0U,
                    .queue_room = queues ? 2U : 0U}};
  model m;
  std::vector<identity> seen{{}};  // every identity there ever was, and none
  instant now{5'000'000};
  bool forwarded = false, condemned = false;
  for (u32 i = 0; i < hops; ++i) {
    RC_ASSERT(device.execute(set_hop({i, 1}), now).code == answer_code::done);
    m.hops[i] = 1;
  }
  for (const auto& [what, a, b, c] : steps) {
    now = now + microseconds{u64{c} * u64{c} * 100};  // 0 to 6.5 s
    device.advance(now);
    m.pass_time(device, now);
    // Mostly one of the last few, so that many are alive.
    const auto pick = [&seen](u32 n) {
      return seen[seen.size() - 1 - (n < 200 ? n % least(seen.size(), usize{4}) : n % seen.size())];
    };
    const identity who = pick(a), other = pick(b);
    const handle at{a % (connections + 1U), static_cast<u16>(b % 3U)};
    const handle hop{a % (hops + 1U), static_cast<u16>(1 + b % 3U)};
    switch (what % 16) {
      default: {  // a frame
        const u32 key = a % keys;
        const verdict v = device.arrive(frame_of(key), now);
        if (!m.flows.contains(key) && m.flows.size() == room) {
          RC_ASSERT(v.why == dc::kn_no_microflow || v.why == dc::drop_kn_overrun);
          RC_ASSERT(v.who.word == 0U);
          break;
        }
        if (!m.flows.contains(key)) {
          u32& revision = m.revision_of_id[v.who.id()];
          revision = (revision + 1) & identity::revision_mask;
          RC_ASSERT(v.who == identity::make(v.who.id(), revision));
          RC_ASSERT(m.named(v.who) == nullptr);
          m.flows[key].who = v.who;
          seen.push_back(v.who);
        }
        model::flow_state& f = m.flows[key];
        f.last = now;
        RC_ASSERT(v.who == f.who);
        const device_counter expected = m.expected(f);
        forwarded |= expected == dc::from_wire_to_wire;
        condemned |= f.condemned.has_value();
        if (v.is != verdict::what::dropped) RC_ASSERT(v.why == expected);
        const bool forwards = expected == dc::from_wire_to_wire;
        if (v.is == verdict::what::dropped) RC_ASSERT(v.why == (forwards ? dc::drop_wire_overrun : dc::drop_kn_overrun));
        RC_ASSERT(queues || v.is == (forwards ? verdict::what::forwarded : verdict::what::punted));
        if ((expected == dc::kn_conn_reclaim_pending || expected == dc::kn_fw_rev_mismatch) && !f.condemned)
          f.condemned = now;
        break;
      }
      case 0: {
        wire_frame f = frame_of(1);
        f.is_flow = false;
        RC_ASSERT(device.arrive(f, now).who.word == 0U);
        break;
      }
      case 1: {
        const bool told = at.index < connections;
        const handle by{b % hops, static_cast<u16>(1 + (a % 8U == 0 ? 1 : 0))};
        const answer said = device.execute(make(at, who, other, by), now);
        RC_ASSERT(said.code == (told ? answer_code::done : answer_code::refused));
        if (!told) break;
        m.entries[at.index] = {entry_state::valid, at.revision};
        for (const identity i : {who, other})
          if (model::flow_state* f = m.named(i)) {
            f->active = true;
            f->connection = at;
            f->hop = by;
          }
        break;
      }
      case 2: {
        const answer said = device.execute(deactivate(who), now);
        RC_ASSERT(said.code == (who.word == 0 ? answer_code::refused : answer_code::done));
        if (model::flow_state* f = m.named(who)) f->active = false;
        break;
      }
      case 3: {
        model::entry_model& e = m.entries[at.index];
        const bool may = at.index < connections && e.state != entry_state::reclaimed && e.revision == at.revision;
        RC_ASSERT(device.execute(about(command_kind::reclaim, at), now).code ==
                  (may ? answer_code::done : answer_code::refused));
        if (may) e.state = entry_state::reclaimed;
        break;
      }
      case 4: {
        const bool may = hop.index < hops;
        RC_ASSERT(device.execute(set_hop(hop), now).code == (may ? answer_code::done : answer_code::refused));
        if (may) m.hops[hop.index] = hop.revision;
        break;
      }
      case 5: {
        const auto it = m.hops.find(hop.index);
        const bool may = it != m.hops.end() && it->second == hop.revision;
        RC_ASSERT(device.execute(about(command_kind::next_hop_release, hop), now).code ==
                  (may ? answer_code::done : answer_code::refused));
        if (may) m.hops.erase(it);
        break;
      }
      case 6: {
        const u32 index = a % connections;
        const bool may = m.entries[index].state == entry_state::valid;
        RC_ASSERT(device.give_back(index, 10) == may);
        if (may) m.entries[index].state = entry_state::pending;
        break;
      }
      case 8: {
        const bool told = at.index < connections && who.word != 0;
        const handle by{b % hops, static_cast<u16>(1 + (a % 8U == 0 ? 1 : 0))};
        const answer said = device.execute(attach(at, b % 2, who, by), now);
        RC_ASSERT(said.code == (told ? answer_code::done : answer_code::refused));
        if (model::flow_state* f = m.named(who); told && f != nullptr) {
          f->active = true;
          f->connection = at;
          f->hop = by;
        }
        break;
      }
      case 9: {
        const answer said = device.execute(read_stamp(who), now);
        RC_ASSERT(said.code == (who.word == 0 ? answer_code::refused : answer_code::done));
        RC_ASSERT(said.lives == (m.named(who) != nullptr));
        break;
      }
      case 7:
        if (b % 8 == 0) {
          (void)device.execute(about(command_kind::discard, {}), now);
          m.flows.clear();
          for (auto& [index, e] : m.entries) e.state = entry_state::reclaimed;
        } else {
          (void)device.host_sends(now);
        }
        break;
    }
    std::string why;
    if (!device.conserved(&why) || !device.consistent(&why)) RC_FAIL(why);
    std::set<u32> identities;
    const std::vector<microflow_view> living = device.microflows();
    for (const microflow_view& f : living) identities.insert(f.who.word);
    RC_ASSERT(identities.size() == living.size());
    RC_ASSERT(living.size() == m.flows.size());
  }
  RC_CLASSIFY(forwarded, "forwarded");
  RC_CLASSIFY(condemned, "condemned");
}

history some_history() { return *rc::gen::scale(4.0, rc::gen::arbitrary<history>()); }

RC_GTEST_PROP(FastPathProperty, AnyHistoryFollowsThePage, ()) { any_history(some_history(), false); }
RC_GTEST_PROP(FastPathProperty, AnyHistoryThroughShortQueuesIsConserved, ()) { any_history(some_history(), true); }

}  // namespace
}  // namespace octep::sim
