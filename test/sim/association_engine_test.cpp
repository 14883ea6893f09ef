#include "sim/association_engine.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace octep::sim {
namespace {

constexpr u64 margin = 1'048'576;  // system.md 13
constexpr u32 frame = 1'400;
constexpr u32 batch = counters_published_every;

struct Engine : ::testing::Test {
  association_engine engine{4};
  instant now{1'000'000};

  void send(handle with, u64 packets) {
    for (u64 i = 0; i < packets; ++i) ASSERT_TRUE(engine.encrypt(with, frame, now = now + microseconds{10}));
  }
  [[nodiscard]] u64 packets(u32 index) { return engine.read(index, now)->packets; }
  void quiet() { now = now + counters_published_after; }
};

TEST_F(Engine, InstallsWhereNothingIs) {
  EXPECT_EQ(engine.install({0, 1}, 0), answer_code::done);
  EXPECT_TRUE(engine.has({0, 1}));
  EXPECT_FALSE(engine.has({0, 2}));
  EXPECT_EQ(engine.install({0, 2}, 0), answer_code::refused) << "in use";
  EXPECT_EQ(engine.install({1, 0}, 0), answer_code::refused) << "no use has revision 0";
  EXPECT_EQ(engine.install({4, 1}, 0), answer_code::refused);
  EXPECT_EQ(engine.remove({0, 2}), answer_code::refused);
  EXPECT_EQ(engine.remove({0, 1}), answer_code::done);
  EXPECT_EQ(engine.remove({0, 1}), answer_code::refused);
  EXPECT_EQ(engine.install({0, 2}, 0), answer_code::done);
  EXPECT_FALSE(engine.read(4, now));
}

TEST_F(Engine, NumbersClimbByOneFromWhereTheyWereLeft) {
  ASSERT_EQ(engine.install({0, 1}, 41), answer_code::done);
  EXPECT_EQ(engine.encrypt({0, 1}, frame, now), 42U);
  EXPECT_EQ(engine.encrypt({0, 1}, frame, now), 43U);
  EXPECT_EQ(engine.encrypt({0, 2}, frame, now), std::nullopt) << "another use of the index";
  EXPECT_TRUE(engine.decrypt({0, 1}, frame, now));
  EXPECT_FALSE(engine.decrypt({1, 1}, frame, now));
  EXPECT_EQ(engine.encrypt({0, 1}, frame, now), 44U) << "what is decrypted takes no number";
  EXPECT_EQ(engine.truth(0), (protected_traffic{4, 4 * frame}));
}

TEST_F(Engine, NoNumberFollowsTheLast) {
  ASSERT_EQ(engine.install({0, 1}, 0xffff'fffe), answer_code::done);
  EXPECT_EQ(engine.encrypt({0, 1}, frame, now), 0xffff'ffffU);
  EXPECT_EQ(engine.encrypt({0, 1}, frame, now), std::nullopt);
  EXPECT_EQ(engine.truth(0).packets, 1U);
}

TEST_F(Engine, CountersMoveOnceABatch) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, batch - 1);
  EXPECT_EQ(packets(0), 0U);
  send({0, 1}, 1);
  EXPECT_EQ(engine.read(0, now), (protected_traffic{batch, u64{batch} * frame}));
  send({0, 1}, batch - 1);
  EXPECT_EQ(packets(0), batch);
  EXPECT_EQ(packets(1), 0U) << "each index its own";
}

TEST_F(Engine, AndWhenTheIndexIsQuiet) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, 5);
  now = now + microseconds{counters_published_after.count - 1};
  EXPECT_EQ(packets(0), 0U);
  now = now + microseconds{1};
  EXPECT_EQ(packets(0), 5U);
}

// system.md 13: a reading of zero after an install is "not published yet".
TEST_F(Engine, AnInstallReadsZeroUntilTheFirstPacketAndThenTheOldTotal) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, batch + 7);
  quiet();
  ASSERT_EQ(packets(0), batch + 7);
  ASSERT_EQ(engine.remove({0, 1}), answer_code::done);
  EXPECT_EQ(packets(0), batch + 7) << "the index keeps them";
  ASSERT_EQ(engine.install({0, 2}, 0), answer_code::done);
  EXPECT_EQ(packets(0), 0U);
  quiet();
  EXPECT_EQ(packets(0), 0U) << "however long";
  send({0, 2}, 1);
  EXPECT_EQ(packets(0), batch + 7);
  send({0, 2}, batch - 1);
  EXPECT_EQ(packets(0), 2 * batch + 7);
}

TEST_F(Engine, AUseThatSentNothingLeavesItsZeroBehind) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, batch);
  ASSERT_EQ(engine.remove({0, 1}), answer_code::done);
  ASSERT_EQ(engine.install({0, 2}, 0), answer_code::done);
  ASSERT_EQ(engine.remove({0, 2}), answer_code::done);
  EXPECT_EQ(packets(0), 0U) << "so a reading before an install may be no baseline";
  ASSERT_EQ(engine.install({0, 3}, 0), answer_code::done);
  send({0, 3}, 1);
  EXPECT_EQ(packets(0), batch);
}

TEST_F(Engine, WhatWasNotPublishedGoesToWhoeverHasTheIndexNext) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, 100);
  ASSERT_EQ(engine.remove({0, 1}), answer_code::done);
  ASSERT_EQ(engine.install({0, 2}, 0), answer_code::done);
  send({0, 2}, batch - 100);
  EXPECT_EQ(packets(0), batch);
}

TEST_F(Engine, ARestartForgetsTheTotalsToo) {
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  send({0, 1}, batch);
  engine.restart();
  EXPECT_FALSE(engine.has({0, 1}));
  EXPECT_EQ(packets(0), 0U);
  EXPECT_EQ(engine.truth(0).packets, 0U);
}

TEST(AssociationTable, ARekeyNamesASuccessor) {
  association_table kernel;
  const u32 first = kernel.add(1, true), inwards = kernel.add(1, false), elsewhere = kernel.add(2, true);
  EXPECT_EQ(kernel.current(1, true)->spi, first);
  EXPECT_EQ(kernel.successor(first), nullptr);
  const u64 changes = kernel.changes();
  const u32 second = kernel.add(1, true);
  EXPECT_GT(kernel.changes(), changes);
  EXPECT_EQ(kernel.current(1, true)->spi, second);
  EXPECT_EQ(kernel.successor(first)->spi, second);
  EXPECT_EQ(kernel.successor(inwards), nullptr);
  EXPECT_EQ(kernel.successor(elsewhere), nullptr);
  EXPECT_TRUE(kernel.remove(first));
  EXPECT_FALSE(kernel.remove(first));
  EXPECT_EQ(kernel.find(first), nullptr);
  EXPECT_EQ(kernel.successor(first), nullptr);
  EXPECT_TRUE(kernel.remove(second));
  EXPECT_EQ(kernel.current(1, true), nullptr);
}

TEST(AssociationTable, APolicyIsApartFromWhatServesIt) {
  association_table kernel;
  EXPECT_FALSE(kernel.covers(1));
  kernel.cover(1, true);
  EXPECT_TRUE(kernel.covers(1));
  EXPECT_EQ(kernel.current(1, true), nullptr);
  kernel.cover(1, false);
  EXPECT_FALSE(kernel.covers(1));
}

TEST(AssociationTable, GivesOutNumbersAndPassesThemOver) {
  association_table kernel;
  const u32 spi = kernel.add(1, true);
  EXPECT_EQ(kernel.find(spi)->sequence, 0U) << "an association nobody named stays at 0";
  EXPECT_EQ(kernel.take_number(spi), 1U);
  EXPECT_TRUE(kernel.pass_over(spi, margin));
  EXPECT_EQ(kernel.take_number(spi), margin + 2);
  EXPECT_TRUE(kernel.account(spi, {3, 300}));
  EXPECT_EQ(kernel.find(spi)->lifetime, (protected_traffic{3, 300}));
  for (const u32 nobody : {0U, 5'000U}) {
    EXPECT_EQ(kernel.take_number(nobody), std::nullopt);
    EXPECT_FALSE(kernel.pass_over(nobody, 1));
    EXPECT_FALSE(kernel.account(nobody, {1, 1}));
  }
}

// --- both, with somebody between them -----------------------------------------------------------------------
// The least that keeps the two in step, by the page: a margin before the engine begins, each time it begins at the kernel's
// number; the last reading before an install is the baseline, zero is nothing, and what is left is the step.

struct between {
  association_engine& engine;
  association_table& kernel;
  u32 spi;
  u32 index;
  u64 uses_margin = margin;
  u16 revision = 0;
  bool installed = false;
  u64 handed = 0;  // by the host, already passed over
  protected_traffic baseline{};

  [[nodiscard]] handle where() const { return {index, revision}; }
  void install(instant now) {
    if (const protected_traffic read = *engine.read(index, now); read.packets != 0) baseline = read;
    const u64 from = kernel.find(spi)->sequence;
    (void)kernel.pass_over(spi, uses_margin);
    ++revision;
    installed = engine.install(where(), static_cast<u32>(from)) == answer_code::done;
  }
  void poll(instant now) {
    const protected_traffic read = *engine.read(index, now);
    if (read.packets == 0) return;
    const protected_traffic step{read.packets - baseline.packets, read.bytes - baseline.bytes};
    baseline = read;
    (void)kernel.account(spi, step);
    const u64 known = std::min(step.packets, handed);
    handed -= known;
    (void)kernel.pass_over(spi, step.packets - known);
  }
  std::optional<u32> hand_over(instant now) {
    (void)kernel.pass_over(spi, 1);
    ++handed;
    return engine.encrypt(where(), frame, now);
  }
};

// Record, R20: 1,048,576 + 722,073 + 11 = 1,770,660.
TEST(Associations, TheKernelsCounterIsMarginAndFlowsAndHost) {
  association_engine engine{2};
  association_table kernel;
  const u32 used = kernel.add(1, true), unused = kernel.add(2, true);
  between b{engine, kernel, used, 0};
  instant now{1'000'000};
  b.install(now);
  b.poll(now);
  EXPECT_EQ(kernel.find(used)->sequence, margin) << "the margin exactly, before anything was counted";
  for (u32 i = 0; i < 722'073; ++i) {
    now = now + microseconds{12};
    ASSERT_TRUE(engine.encrypt(b.where(), frame, now));
    if (i % 70'000 == 50'000) {
      ASSERT_TRUE(b.hand_over(now));
    }
    if (i % 80'000 == 0) b.poll(now);
  }
  ASSERT_TRUE(b.hand_over(now));
  now = now + from_s(2);
  b.poll(now);
  EXPECT_EQ(kernel.find(used)->sequence, 1'770'660U);
  EXPECT_EQ(kernel.find(unused)->sequence, 0U);
}

// Record, R23: what an upload used is told, on indexes whose totals were 13.9 and 23.2 GB.
TEST(Associations, AnIndexThatWasUsedBeforeTellsOnlyWhatIsNew) {
  association_engine engine{1};
  association_table kernel;
  instant now{1'000'000};
  ASSERT_EQ(engine.install({0, 1}, 0), answer_code::done);
  for (u32 i = 0; i < 300'000; ++i) ASSERT_TRUE(engine.encrypt({0, 1}, 46'333, now));  // 13.9 GB
  ASSERT_EQ(engine.remove({0, 1}), answer_code::done);
  now = now + from_s(2);
  between b{engine, kernel, kernel.add(1, true), 0};
  b.revision = 1;
  b.install(now);
  b.poll(now);
  EXPECT_EQ(kernel.find(b.spi)->lifetime, protected_traffic{}) << "zero is no step";
  for (u32 i = 0; i < 40'000; ++i) ASSERT_TRUE(engine.encrypt(b.where(), frame, now = now + microseconds{20}));
  b.poll(now);
  EXPECT_EQ(kernel.find(b.spi)->lifetime.packets, 2 * batch);
  b.poll(now = now + from_s(2));
  EXPECT_EQ(kernel.find(b.spi)->lifetime, (protected_traffic{40'000, 40'000ULL * frame}));
}

// Moves between hardware and host at any moment. Returns how often a number was used twice.
u64 used_twice(const std::vector<std::tuple<u8, u8>>& steps, u64 with_margin) {
  association_engine engine{1};
  association_table kernel;
  between b{engine, kernel, kernel.add(1, true), 0, with_margin};
  instant now{1'000'000};
  std::set<u64> numbers;
  u64 twice = 0;
  const auto use = [&](u64 n) { twice += !numbers.insert(n).second; };
  for (const auto& [what, many] : steps) {
    now = now + from_ms(many);
    switch (what % 6) {
      case 0:
        if (!b.installed) b.install(now);
        break;
      case 1:
        if (b.installed) {
          b.poll(now);
          (void)engine.remove(b.where());
          b.installed = false;
        }
        break;
      case 2: b.poll(now); break;
      case 3:
        if (b.installed) use(*b.hand_over(now));
        else use(*kernel.take_number(b.spi));
        break;
      default:
        for (u32 i = 0; b.installed && i < many * 3U; ++i) use(*engine.encrypt(b.where(), frame, now));
    }
  }
  return twice;
}

RC_GTEST_PROP(AssociationsProperty, NoNumberIsUsedTwice, (const std::vector<std::tuple<u8, u8>>& steps)) {
  RC_ASSERT(used_twice(steps, margin) == 0U);
}

TEST(Associations, WithoutTheMarginNumbersAreUsedTwice) {
  EXPECT_GT(used_twice({{0, 0}, {4, 100}, {1, 0}, {3, 0}}, 0), 0U);
  EXPECT_EQ(used_twice({{0, 0}, {4, 100}, {1, 0}, {3, 0}}, margin), 0U);
}

}  // namespace
}  // namespace octep::sim
