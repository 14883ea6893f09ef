#include "tools/slot.hpp"

#include <octep/hash.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace octep::tools {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* some_tuple = "tcp:192.0.2.1:1234-198.51.100.7:443";

any_tuple tuple(const std::string& text) {
  std::string error;
  const auto t = parse_tuple(text, error);
  EXPECT_TRUE(t.has_value()) << error;
  return *t;
}

std::string said(const arguments& given) {
  const outcome o = slot_command(given);
  EXPECT_EQ(o.status, status_done);
  EXPECT_THAT(o.complaints, IsEmpty());
  return o.out;
}

std::string complaint(const arguments& given) {
  const outcome o = slot_command(given);
  EXPECT_EQ(o.status, status_usage);
  EXPECT_THAT(o.out, IsEmpty());
  EXPECT_THAT(o.complaints, SizeIs(1));
  if (o.complaints.empty()) return {};
  EXPECT_EQ(o.complaints.front().find('\n'), std::string::npos);
  return o.complaints.front();
}

json object(arguments given) {
  given.push_back("--json");
  return json::parse(said(given));
}

TEST(Slot, GivesHashSlotAndHotBucketOfBothDirections) {
  const auto t = std::get<tuple4>(tuple(some_tuple));
  const json o = object({some_tuple});
  EXPECT_EQ(o["hash"], "keyed");
  EXPECT_EQ(o["seed"], 1);
  EXPECT_EQ(o["slots"], 128);
  EXPECT_EQ(o["hot_buckets"], 65'536);
  const json& one = o["tuples"].at(0);
  const u32 forward = keyed_mix{1}(t);
  const u32 backward = keyed_mix{1}(reverse(t));
  EXPECT_EQ(one["arrives"]["tuple"], some_tuple);
  EXPECT_EQ(one["arrives"]["hash"], forward);
  EXPECT_EQ(one["arrives"]["slot"], forward >> 25);
  EXPECT_EQ(one["arrives"]["hot_bucket"], forward >> 16);
  EXPECT_EQ(one["reverse"]["tuple"], "tcp:198.51.100.7:443-192.0.2.1:1234");
  EXPECT_EQ(one["reverse"]["hash"], backward);
  EXPECT_EQ(one["reverse"]["slot"], backward >> 25);
  EXPECT_EQ(one["reverse"]["hot_bucket"], backward >> 16);
  EXPECT_EQ(one["shares_slot"], forward >> 25 == backward >> 25);
  EXPECT_FALSE(one.contains("same_slot"));
}

TEST(Slot, TakesAnyHashAndAnySize) {
  const auto t = std::get<tuple4>(tuple(some_tuple));
  EXPECT_EQ(object({some_tuple, "--hash", "recorded"})["tuples"][0]["arrives"]["hash"], recorded_mix{}(t));
  EXPECT_EQ(object({some_tuple, "--hash", "fold"})["tuples"][0]["arrives"]["hash"], fold_mix{}(t));
  EXPECT_EQ(object({some_tuple, "--hash", "fault"})["tuples"][0]["arrives"]["hash"], sim::recorded_hash_fault{}(t));
  EXPECT_EQ(object({some_tuple, "--seed", "9"})["tuples"][0]["arrives"]["hash"], keyed_mix{9}(t));
  EXPECT_TRUE(object({some_tuple, "--hash", "fold"})["seed"].is_null());
  EXPECT_EQ(object({some_tuple, "--slots", "1"})["tuples"][0]["arrives"]["slot"], 0);
  EXPECT_EQ(object({some_tuple, "--slots", "1"})["tuples"][0]["shares_slot"], true);
  EXPECT_EQ(object({some_tuple, "--slots", "1024"})["tuples"][0]["arrives"]["slot"], keyed_mix{1}(t) >> 22);
  EXPECT_EQ(object({some_tuple, "--connections", "2000000"})["hot_buckets"], 134'217'728);
}

TEST(Slot, SaysSoInWords) {
  const std::string text = said({some_tuple});
  EXPECT_THAT(text, HasSubstr("hash keyed under seed 1, 128 slots, 65,536 hot buckets"));
  EXPECT_THAT(text, HasSubstr("arrives"));
  EXPECT_THAT(text, HasSubstr("tcp:198.51.100.7:443-192.0.2.1:1234"));
  EXPECT_THAT(text, HasSubstr("Its two directions have a slot each."));
  EXPECT_THAT(said({some_tuple, "--slots", "1"}), HasSubstr("Its two directions share a slot."));
}

// The record's eight streams (R2), between the addresses that test/hash_test.cpp argues for.
TEST(Slot, ShowsTheRecordsEightPortsInTwoSlotsUnderTheFault) {
  arguments given{"--hash", "fault", "--slots", "64"};
  for (const int port : {55334, 55342, 64366, 64373, 64380, 64388, 64396, 64403})
    given.push_back(fmt::format("tcp:192.168.1.10:{}-198.51.100.27:443", port));
  EXPECT_THAT(said(given), HasSubstr("Of the 8 as they arrive: 6 in slot 16, 2 in slot 63"));
}

TEST(Slot, TellsIPv6AndEchoesApart) {
  const json o = object({"udp:[2001:db8::1]:5-[2001:db8::2]:53", "icmp:192.0.2.1-198.51.100.7:77"});
  EXPECT_EQ(o["tuples"][0]["reverse"]["tuple"], "udp:[2001:db8::2]:53-[2001:db8::1]:5");
  EXPECT_EQ(o["tuples"][1]["reverse"]["tuple"], "icmp:198.51.100.7-192.0.2.1:77");
  EXPECT_THAT(said({"icmp:192.0.2.1-198.51.100.7:77", "--find", "3"}), HasSubstr("Other identifiers in slot"));
}

RC_GTEST_PROP(SlotFind, ListsTheLowestOtherPortsOfTheSlotAndNoOthers, (u16 port)) {
  slot_options o;
  o.hash = *rc::gen::elementOf(std::vector{sim::hash_kind::keyed, sim::hash_kind::recorded, sim::hash_kind::fault});
  o.slots = 1U << *rc::gen::inRange(3, 9);
  o.find = *rc::gen::inRange(1U, 40U);
  const any_tuple t = tuple(fmt::format("tcp:192.0.2.1:{}-198.51.100.7:443", port));
  const placement p = place(t, o);
  std::vector<u16> model;
  for (u32 other = 0; other < 65'536 && model.size() < o.find; ++other) {
    slot_options alone = o;
    alone.find = 0;
    const any_tuple candidate = tuple4::make(std::get<tuple4>(t).source, std::get<tuple4>(t).destination,
                                             join_ports(port_word(static_cast<u16>(other)), port_word(443)), protocol::tcp);
    if (other != port && place(candidate, alone).arriving.slot == p.arriving.slot) model.push_back(static_cast<u16>(other));
  }
  RC_ASSERT(p.sharing == model);
}

TEST(SlotFind, UnderTheFaultTheWholeRunOfNeighboursIsThere) {
  slot_options o;
  o.hash = sim::hash_kind::fault;
  o.find = 65'536;
  const placement p = place(tuple("tcp:192.168.1.10:64366-198.51.100.27:443"), o);
  for (u32 port = 0xfb00; port <= 0xfbff; ++port) {
    EXPECT_EQ(std::binary_search(p.sharing.begin(), p.sharing.end(), static_cast<u16>(port)), port != 64366) << port;
  }
}

TEST(SlotSelf, ListsPortsWhoseTwoDirectionsMeet) {
  slot_options o;
  o.self = 65'536;
  const placement p = place(tuple(some_tuple), o);
  // One in 128 of 65,536: 512, standard deviation 23.
  EXPECT_NEAR(static_cast<double>(p.both_in_one.size()), 512, 120);
  for (const u16 port : p.both_in_one) {
    EXPECT_TRUE(place(tuple(fmt::format("tcp:192.0.2.1:{}-198.51.100.7:443", port)), slot_options{}).shares_slot()) << port;
  }
}

TEST(SlotFind, SaysWhenThereAreNoMore) {
  EXPECT_THAT(said({some_tuple, "--slots", "1048576", "--find", "100"}), HasSubstr("Other source ports in slot"));
  EXPECT_THAT(said({some_tuple, "--slots", "1048576", "--find", "65536"}),
              testing::AnyOf(HasSubstr("there is none"), HasSubstr("all there are")));
}

TEST(SlotOptions, HelpIsNoError) {
  EXPECT_THAT(said({"--help"}), HasSubstr("octep slot"));
  EXPECT_THAT(said({"--help"}), HasSubstr("--find"));
}

TEST(SlotOptions, EveryNonsenseIsOneLine) {
  EXPECT_THAT(complaint({}), HasSubstr("TUPLE"));
  EXPECT_THAT(complaint({"tcp:nonsense"}), HasSubstr("'tcp:nonsense' is no tuple"));
  EXPECT_THAT(complaint({some_tuple, "udp\n:x"}), HasSubstr("is no tuple"));
  EXPECT_THAT(complaint({some_tuple, "--hash", "md5"}), HasSubstr("recorded, fold, keyed and fault"));
  EXPECT_THAT(complaint({some_tuple, "--slots", "63"}), HasSubstr("power of two"));
  EXPECT_THAT(complaint({some_tuple, "--slots", "0"}), HasSubstr("from 1 to"));
  EXPECT_THAT(complaint({some_tuple, "--slots", "2097152"}), HasSubstr("from 1 to 1048576"));
  EXPECT_THAT(complaint({some_tuple, "--slots", "-4"}), HasSubstr("--slots"));
  EXPECT_THAT(complaint({some_tuple, "--find", "x"}), HasSubstr("--find x"));
  EXPECT_THAT(complaint({some_tuple, "--find", "65537"}), HasSubstr("65536"));
  EXPECT_THAT(complaint({some_tuple, "--self", "0"}), HasSubstr("--self 0"));
  EXPECT_THAT(complaint({some_tuple, "--seed", "18446744073709551616"}), HasSubstr("--seed"));
  EXPECT_THAT(complaint({some_tuple, "--connections", "0"}), HasSubstr("--connections"));
  EXPECT_THAT(complaint({some_tuple, "--nope"}), HasSubstr("--nope"));
  EXPECT_THAT(complaint({some_tuple, "--find"}), HasSubstr("--find"));
}

}  // namespace
}  // namespace octep::tools
