#include <octep/associations.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/association_engine.hpp"
#include "test/support.hpp"

namespace octep {
namespace {

using test::block;

constexpr u64 ten_gigabit = 1'250'000'000;  // bytes a second
constexpr instant at(u64 ms) { return instant{1'000'000} + from_ms(ms); }

struct Associations : testing::Test {
  static constexpr u32 capacity = 4;
  block memory{associations::bytes_for(capacity)};
  associations table;

  void SetUp() override { ASSERT_TRUE(begin(true)); }
  bool begin(bool fresh, u32 indexes = capacity, u16 last_revision = 0) {
    arena a = memory.cut();
    return table.init(a, indexes, ten_gigabit, fresh, last_revision);
  }
  handle installed(u32 kernel, association_traffic before = {}, instant now = at(0), bool encrypts = true) {
    const handle h = table.open(kernel, encrypts);
    table.read_before(h, before, now);
    EXPECT_TRUE(table.installing(h) && table.installed(h));
    return h;
  }
  void end(handle h) {
    EXPECT_TRUE(table.retire(h));
    EXPECT_TRUE(table.removing(h));
    table.deleted(h);
    table.close(h);
  }
};

TEST_F(Associations, NeedsMemoryAndARange) {
  arena none{nullptr, 0};
  EXPECT_FALSE(table.init(none, 1, ten_gigabit, true));
  EXPECT_EQ(table.open(1, true), handle{});
  arena a = memory.cut();
  EXPECT_FALSE(table.init(a, 0, ten_gigabit, true));
  EXPECT_FALSE(table.init(a, associations::most + 1, ten_gigabit, true));
}

TEST_F(Associations, GiveEveryUseOfAnIndexItsOwnRevision) {
  ASSERT_TRUE(begin(true, 1, 0xfffe));
  const handle first = installed(1);
  EXPECT_EQ(first, (handle{0, 0xffff}));
  EXPECT_EQ(table.open(2, true), handle{}) << "every index is in use";
  end(first);
  const handle second = installed(2);
  EXPECT_EQ(second, (handle{0, 1}));
  EXPECT_FALSE(table.nameable(first));
  EXPECT_FALSE(table.name(first));
  EXPECT_EQ(table.at(association_word{1U << 16}), second);
  EXPECT_EQ(table.at(association_word{0xffffU << 16}), handle{});
  EXPECT_EQ(associations::named_as(second), (handle{1, 1}));
}

TEST_F(Associations, TakeTheIndexThatIsFreeLongest) {
  const handle a = installed(1), b = installed(2);
  end(b);
  end(a);
  EXPECT_EQ(table.open(3, true).index, 2U);
  EXPECT_EQ(table.open(4, true).index, 3U);
  EXPECT_EQ(table.open(5, true).index, b.index);
  EXPECT_EQ(table.open(6, true).index, a.index);
}

TEST_F(Associations, AnInstallStopsAtAReadThatWasNotAnswered) {
  const handle h = table.open(1, true);
  EXPECT_FALSE(table.may_install(h));
  EXPECT_FALSE(table.installed(h));
  EXPECT_FALSE(table.nameable(h));
  table.abandon(h);
  EXPECT_EQ(table[h.index].state, association_state::free);
  table.read_before(h, {1, 1}, at(0));
  EXPECT_FALSE(table[h.index].read_before) << "its use has ended";
}

TEST_F(Associations, TheMarginIsPutOnceAUseAndOnlyWhereItEncrypts) {
  const handle out = installed(1);
  const handle in = installed(2, {}, at(0), false);
  EXPECT_TRUE(table.name(out));
  EXPECT_FALSE(table.name(out)) << "kept, whatever became of the command";
  EXPECT_FALSE(table.name(in));
  EXPECT_TRUE(table[in.index].flowed);
  EXPECT_EQ(table[out.index].passed_over, associations::margin);
  EXPECT_EQ(table[in.index].passed_over, 0U);
}

TEST_F(Associations, AMarkIsNotUndoneByAReadThatIsOut) {
  const handle h = installed(1);
  table.want_reads();
  EXPECT_EQ(table.next_to_read(), handle{});
  (void)table.name(h);
  table.want_reads();
  EXPECT_EQ(table.next_to_read(), h);
  EXPECT_EQ(table.next_to_read(), handle{}) << "once a poll";
  (void)table.name(h);  // while its read is out
  (void)table.read(h, {10, 1'000}, at(1'000));
  EXPECT_TRUE(table[h.index].flowed);
  table.want_reads();
  EXPECT_EQ(table.next_to_read(), h);
}

TEST_F(Associations, WhatFailedWaitsForAPoll) {
  const handle h = table.open(1, true);
  EXPECT_EQ(table.next_to_install(), h);
  table.wait_for_poll(h);
  EXPECT_EQ(table.next_to_install(), handle{});
  table.want_reads();
  EXPECT_EQ(table.next_to_install(), h);
}

TEST_F(Associations, OneThatGoesWhileItIsInstalledLeavesAsSoonAsItStands) {
  const handle h = table.open(1, true);
  table.read_before(h, {}, at(0));
  ASSERT_TRUE(table.installing(h));
  EXPECT_EQ(table.next_to_install(), handle{});
  ASSERT_TRUE(table.retire(h));
  EXPECT_EQ(table.next_to_delete(), handle{}) << "it is not known whether it stands";
  ASSERT_TRUE(table.installed(h));
  EXPECT_FALSE(table.nameable(h));
  EXPECT_EQ(table.next_to_delete(), h);
}

TEST_F(Associations, OneThatGoesBeforeItWasInstalledIsFree) {
  const handle h = table.open(1, true);
  ASSERT_TRUE(table.retire(h));
  EXPECT_EQ(table[h.index].state, association_state::free);
  EXPECT_FALSE(table.retire(h));
}

TEST_F(Associations, OnlyThoseThatFlowedAreRead) {
  (void)installed(1);
  const handle b = installed(2);
  (void)table.name(b);
  table.want_reads();
  EXPECT_EQ(table.next_to_read(), b);
  EXPECT_EQ(table.next_to_read(), handle{});
}

// R20: 1,048,576 + 722,073 + 11 = 1,770,660.
TEST_F(Associations, TheKernelsCounterIsTheMarginTheEnginesAndTheHostsOwn) {
  const handle old = installed(1), next = installed(2, {}, at(0));
  (void)table.name(old);
  ASSERT_TRUE(table.succeed(old, next));
  u64 counter = 0;
  ASSERT_TRUE(table.name(next));
  counter += associations::margin;
  EXPECT_EQ(counter, 1'048'576U) << "before anything was counted for it";
  const auto read = [&](u64 packets, u64 ms) {
    const accounted said = table.read(next, {packets, packets * 1'400}, at(ms));
    EXPECT_FALSE(said.rebased);
    counter += said.numbers;
  };
  read(0, 1'000);  // not published yet
  for (u64 batch = 1; batch <= 44; ++batch) read(batch * 16'380, 1'000 + batch * 200);
  read(44 * 16'380, 10'000);
  read(722'073, 11'000);
  counter += 11;  // the host's own
  EXPECT_EQ(counter, 1'770'660U);
  EXPECT_EQ(table[next.index].passed_over, 1'048'576U + 722'073U);
  EXPECT_EQ(table[next.index].told.packets, 722'073U);
}

TEST_F(Associations, OneThatNobodyNamedStaysAtZero) {
  const handle h = installed(1);
  const accounted said = table.read(h, {11, 11'000}, at(1'000));  // frames that the host handed over
  EXPECT_EQ(said.told, association_traffic{});
  EXPECT_EQ(said.numbers, 0U);
  EXPECT_EQ(table[h.index].passed_over, 0U);
  // They are nobody's later either.
  (void)table.name(h);
  EXPECT_EQ(table.read(h, {12, 12'000}, at(2'000)).told, (association_traffic{1, 1'000}));
}

// R23: told 508,198,324 and 14,060,720 bytes on indexes whose totals were 13.9 and 23.2 GB.
TEST_F(Associations, AnIndexUsedAgainTellsDifferencesAndNotTotals) {
  const association_traffic before[] = {{10'000'000, 13'900'000'000}, {16'000'000, 23'200'000'000}};
  const association_traffic sent[] = {{360'424, 508'198'324}, {180'000, 14'060'720}};
  for (u32 i = 0; i < 2; ++i) {
    const handle h = installed(i, before[i], at(0), i == 0);
    (void)table.name(h);
    EXPECT_EQ(table.read(h, {}, at(500)).told, association_traffic{}) << "not published yet";
    const association_traffic half{before[i].packets + sent[i].packets / 2, before[i].bytes + sent[i].bytes / 2};
    EXPECT_FALSE(table.read(h, half, at(2'500)).rebased);
    EXPECT_FALSE(table.read(h, {before[i].packets + sent[i].packets, before[i].bytes + sent[i].bytes}, at(5'000)).rebased);
    EXPECT_EQ(table[h.index].told, sent[i]);
  }
  EXPECT_EQ(table.rebased(), 0U);
}

TEST_F(Associations, ALastUseWithoutOneFrameHidesNoTotal) {
  ASSERT_TRUE(begin(false, 1));
  end(installed(1, {10'000'000, 13'900'000'000}));
  end(installed(2, {}));  // it read zero to its end, and so does the index now
  const handle h = installed(3, {}, at(0));
  (void)table.name(h);
  const accounted said = table.read(h, {10'000'001, 13'900'001'000}, at(60'000));  // a line could have carried it all
  EXPECT_EQ(said.told, (association_traffic{1, 1'000}));
  EXPECT_FALSE(said.rebased);
}

TEST_F(Associations, ATotalOfUnknownOriginIsABaselineAndNeverALifetime) {
  ASSERT_TRUE(begin(false, 1));
  const handle h = installed(1);
  (void)table.name(h);
  const accounted said = table.read(h, {10'000'000, 13'900'000'000}, at(60'000));
  EXPECT_TRUE(said.rebased);
  EXPECT_EQ(said.told, association_traffic{});
  EXPECT_EQ(said.numbers, 10'000'000U) << "all of them may be its own";
  EXPECT_EQ(table.read(h, {10'000'007, 13'900'007'000}, at(61'000)).told, (association_traffic{7, 7'000}));
  EXPECT_EQ(table.rebased(), 1U);
}

TEST_F(Associations, MoreThanALineCarriesOrLessThanBeforeIsANewBaseline) {
  const handle h = installed(1);
  (void)table.name(h);
  EXPECT_EQ(table.read(h, {1'000, 1'000'000}, at(1'000)).told.packets, 1'000U);
  const accounted above = table.read(h, {2'000, 1'000'000 + 2 * ten_gigabit + 1}, at(2'000));
  EXPECT_TRUE(above.rebased);
  EXPECT_EQ(above.told, association_traffic{});
  EXPECT_EQ(above.numbers, 1'000U);
  const accounted back = table.read(h, {5, 500}, at(3'000));
  EXPECT_TRUE(back.rebased);
  EXPECT_EQ(back.told, association_traffic{});
  EXPECT_EQ(table[h.index].told.packets, 1'000U);
  EXPECT_EQ(table.read(h, {6, 600}, at(4'000)).told, (association_traffic{1, 100}));
  EXPECT_EQ(table.rebased(), 2U);
}

// A batch is published at once, however many readings stood still before it.
TEST_F(Associations, ABatchThatComesBetweenTwoQuickReadingsIsNoMoreThanALineCarries) {
  const handle h = installed(1);
  (void)table.name(h);
  const association_traffic batch{16'380, 16'380 * 1'400};  // 18 ms of ten gigabit
  u64 ms = 0;
  for (u64 n = 1; n <= 20; ++n)
    for (u32 reading = 0; reading < 20; ++reading)
      EXPECT_FALSE(table.read(h, {batch.packets * (n - 1), batch.bytes * (n - 1)}, at(ms++)).rebased) << n;
  EXPECT_EQ(table[h.index].told.packets, batch.packets * 19);
}

TEST_F(Associations, AnAgeOfYearsDoesNotWrapWhatALineCarries) {
  const handle h = installed(1);
  (void)table.name(h);
  const instant later = at(0) + from_s(u64{500'000} * 365 * 86'400);
  EXPECT_EQ(table.read(h, {~u64{0} / 2000, ~u64{0} / 2}, later).told.bytes, ~u64{0} / 2);
}

TEST_F(Associations, ADeleteWaitsForEveryConnection) {
  const handle old = installed(1), next = installed(2);
  (void)table.name(old);
  table.refer(old);
  table.refer(old);
  EXPECT_FALSE(table.removing(old)) << "it does not go";
  ASSERT_TRUE(table.succeed(old, next));
  EXPECT_FALSE(table.nameable(old));
  EXPECT_EQ(table.latest(old), next);
  EXPECT_FALSE(table.removing(old));
  table.drop(old);
  EXPECT_FALSE(table.may_delete(old));
  table.drop(old);
  ASSERT_TRUE(table.removing(old));
  table.delete_refused(old);
  ASSERT_TRUE(table.removing(old));
  table.deleted(old);
  EXPECT_EQ(table.read(old, {5, 500}, at(1'000)).told.packets, 5U) << "the counters are the index's";
  table.close(old);
  EXPECT_EQ(table[old.index].state, association_state::free);
  EXPECT_EQ(table.latest(old), handle{});
}

TEST_F(Associations, SuccessorsFormALineAndNeverARing) {
  const handle a = installed(1), b = installed(2), c = installed(3), in = installed(4, {}, at(0), false);
  EXPECT_FALSE(table.succeed(a, a));
  EXPECT_FALSE(table.succeed(a, in));
  EXPECT_FALSE(table.succeed(a, {9, 1}));
  ASSERT_TRUE(table.succeed(a, b));
  EXPECT_FALSE(table.succeed(b, a));
  ASSERT_TRUE(table.succeed(b, c));
  EXPECT_EQ(table.latest(a), c);
  EXPECT_FALSE(table.succeed(c, a));
  EXPECT_EQ(table.of_kernel(3), c);
  EXPECT_EQ(table.of_kernel(9), handle{});
}

TEST_F(Associations, AfterARestartEachIsInstalledAnewFromZero) {
  const handle h = installed(1, {100, 100'000});
  const handle going = installed(2);
  EXPECT_TRUE(table.retire(going) && table.removing(going));
  (void)table.name(h);
  table.refer(h);
  table.forget_all(at(1'000));
  EXPECT_EQ(table[going.index].state, association_state::free);
  const handle again = table.of_kernel(1);
  EXPECT_EQ(again, (handle{h.index, 2}));
  EXPECT_FALSE(table.nameable(again));
  ASSERT_TRUE(table.installing(again) && table.installed(again));
  EXPECT_EQ(table[again.index].references, 0U);
  EXPECT_TRUE(table.name(again)) << "its numbers begin where the kernel's counter stands, so it needs a margin of its own";
  EXPECT_EQ(table.read(again, {3, 300}, at(2'000)).told.packets, 3U);
}

// --- no number twice ------------------------------------------------------------------------------------------------

// A host with an engine, as the simulator models both; what keeps them in step is the account and nothing else. Of one kernel's
// association every number that leaves is larger than all before: then none leaves twice.
struct host {
  static constexpr u32 indexes = 3;
  block memory{associations::bytes_for(indexes)};
  associations account;
  sim::association_engine engine{indexes};
  sim::association_table kernel;
  std::map<u32, u64> largest;  // by SPI
  std::vector<u32> spis;
  std::set<u32> referred;
  instant now = at(0);
  std::string wrong;
  u64 flowed = 0, resumed = 0, deletes = 0, successions = 0;

  host() {
    arena a = memory.cut();
    if (!account.init(a, indexes, ten_gigabit, true)) wrong = "no room";
  }

  association_traffic reading(u32 index) {
    const auto r = engine.read(index, now);
    return {r->packets, r->bytes};
  }
  void sent(u32 spi, u64 number) {
    if (number <= largest[spi]) wrong = "number " + std::to_string(number) + " of " + std::to_string(spi) + " left twice";
    largest[spi] = number;
  }
  void install(u32 spi, handle h) {
    if (!account.installing(h)) return;
    if (engine.install(h, static_cast<u32>(kernel.find(spi)->sequence)) != answer_code::done) return void(wrong = "refused");
    if (!account.installed(h)) wrong = "not installed";
  }
  u32 add(bool answered) {
    const u32 spi = kernel.add(0, true);
    spis.push_back(spi);
    const handle h = account.open(spi, true);
    if (h.revision == 0) return spi;
    if (!answered) {
      account.abandon(h);
      return spi;
    }
    account.read_before(h, reading(h.index), now);
    install(spi, h);
    return spi;
  }
  void flow(u32 spi, u32 frames, bool fails) {
    const handle h = account.of_kernel(spi);
    if (account.nameable(h)) {
      if (account.name(h)) (void)kernel.pass_over(spi, associations::margin);
      if (fails) return;
      if (referred.insert(spi).second) account.refer(h);
    }
    if (referred.count(spi) == 0) return;
    for (u32 i = 0; i < frames; ++i) {
      const auto number = engine.encrypt(h, 1'400, now);
      if (!number) return void(wrong = "a flow is under an association that is gone");
      sent(spi, *number);
      ++flowed;
    }
    now = now + microseconds{u64{frames} * 2};  // ten gigabit
  }
  // The host's own: handed to the engine while that has the association.
  void own(u32 spi) {
    const handle h = account.of_kernel(spi);
    if (engine.has(h)) {
      (void)kernel.pass_over(spi, 1);
      sent(spi, *engine.encrypt(h, 1'400, now));
    } else {
      resumed += largest[spi] != 0;
      sent(spi, *kernel.take_number(spi));
    }
    now = now + microseconds{2};
  }
  void read(u32 spi) {
    const handle h = account.of_kernel(spi);
    if (h.revision == 0) return;
    const accounted said = account.read(h, reading(h.index), now);
    (void)kernel.pass_over(spi, said.numbers);
    (void)kernel.account(spi, {said.told.packets, said.told.bytes});
  }
  void rekey(u32 spi) {
    const handle old = account.of_kernel(spi);
    const u32 next = add(true);
    const handle h = account.of_kernel(next);
    if (account.succeed(old, h)) {
      ++successions;
      if (referred.erase(spi) != 0) {  // its connections move, one command each
        if (account.name(h)) (void)kernel.pass_over(next, associations::margin);
        referred.insert(next);
        account.refer(h);
        account.drop(old);
      }
    }
  }
  void remove(u32 spi, bool read_last) {
    const handle h = account.of_kernel(spi);
    (void)account.retire(h);
    if (referred.count(spi) != 0 && account.may_delete(h)) wrong = "may be deleted under a connection";
    if (referred.erase(spi) != 0) account.drop(h);  // taken out
    if (!account.removing(h)) return;
    if (engine.remove(h) != answer_code::done) wrong = "the engine did not have it";
    account.deleted(h);
    ++deletes;
    if (read_last) read(spi);
    account.close(h);
  }
  void restart() {
    engine.restart();
    account.forget_all(now);
    referred.clear();
    for (const u32 spi : spis)
      if (const handle h = account.of_kernel(spi); h.revision != 0) install(spi, h);
  }
};

RC_GTEST_PROP(AssociationsBesideTheModels, NoSequenceNumberIsUsedTwice, ()) {
  host h;
  const auto steps = *rc::gen::container<std::vector<std::vector<u32>>>(
      rc::gen::container<std::vector<u32>>(3, rc::gen::arbitrary<u32>()));
  for (const auto& s : steps) {
    const u32 what = s[0] % 16;
    const u32 spi = h.spis.empty() ? h.add(true) : h.spis[h.spis.size() - 1 - s[1] % least<usize>(h.spis.size(), 5)];
    if (what < 5) h.flow(spi, s[2] % 9'000, s[2] % 11 == 0);
    else if (what < 8) h.own(spi);
    else if (what < 10) h.read(spi);
    else if (what < 11) (void)h.add(s[2] % 4 != 0);
    else if (what < 12) h.rekey(spi);
    else if (what < 14) h.remove(spi, s[2] % 2 == 0);
    else if (what < 15) h.now = h.now + from_ms(s[2] % 3'000);
    else h.restart();
    RC_ASSERT(h.wrong == "");
  }
  for (const u32 spi : h.spis) {
    h.own(spi);
    RC_ASSERT(h.wrong == "");
  }
  // Nobody's lifetime is larger than what left under it.
  for (const u32 spi : h.spis) RC_ASSERT(h.kernel.find(spi)->lifetime.packets <= h.largest[spi] + 2 * 16'380);
  RC_CLASSIFY(h.resumed > 0, "the kernel went on after the engine");
  RC_CLASSIFY(h.successions > 0, "succession");
}

}  // namespace
}  // namespace octep
