#include <octep/next_hops.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

next_hop hop(u32 number) {
  next_hop h;
  h.port = static_cast<u16>(number);
  h.mtu = 1'500;
  return h;
}

struct small_table {
  test::block memory;
  next_hops table;

  explicit small_table(u32 capacity, u16 last_revision = 0) : memory{next_hops::bytes_for(capacity)} {
    arena a = memory.cut();
    EXPECT_TRUE(table.init(a, capacity, last_revision));
    EXPECT_EQ(a.left(), 0U);
  }
  handle set(u32 number) {
    const next_hops::acquired a = table.acquire(hop(number));
    EXPECT_TRUE(a.found_room);
    table.programmed(a.where);
    return a.where;
  }
};

// --- every edge ----------------------------------------------------------------------------------------------

using enum next_hop_state;

// Entry 0 in that state, with one reference where the state has any.
handle bring_to(small_table& t, next_hop_state to) {
  const handle h = t.table.acquire(hop(7)).where;
  if (to == setting) return h;
  if (to == barred) {
    t.table.bar(h);
    return h;
  }
  t.table.programmed(h);
  if (to == programmed) return h;
  t.table.drop(h);
  if (to == idle) return h;
  EXPECT_EQ(t.table.next_to_release(), h);
  if (to == releasing) return h;
  t.table.released(h);
  return h;
}

struct edge {
  const char* call;
  void (*go)(next_hops&, handle);
  next_hop_state after[6];  // by the state before: free, setting, programmed, idle, releasing, barred
};

const edge edges[] = {
    {"acquire an equal hop",
     [](next_hops& t, handle) { (void)t.acquire(hop(7)); },
     {free /*another index*/, setting, programmed, programmed, releasing, barred}},
    {"programmed",
     [](next_hops& t, handle h) { t.programmed(h); },
     {free, programmed, programmed, idle, releasing, programmed}},
    {"refused", [](next_hops& t, handle h) { t.refused(h); }, {free, free, programmed, idle, free, free}},
    {"bar", [](next_hops& t, handle h) { t.bar(h); }, {free, barred, programmed, idle, barred, barred}},
    {"drop", [](next_hops& t, handle h) { t.drop(h); }, {free, free, idle, idle, releasing, barred}},
    {"next_to_release",
     [](next_hops& t, handle) { (void)t.next_to_release(); },
     {free, setting, programmed, releasing, releasing, barred}},
    {"released", [](next_hops& t, handle h) { t.released(h); }, {free, setting, programmed, idle, free, free}},
    {"forget_all", [](next_hops& t, handle) { t.forget_all(); }, {free, free, free, free, free, free}},
};

TEST(NextHops, EveryCallInEveryState) {
  for (const edge& e : edges)
    for (const next_hop_state before : {free, setting, programmed, idle, releasing, barred}) {
      small_table t{2};
      const handle h = bring_to(t, before);
      ASSERT_EQ(t.table[h.index].state, before);
      e.go(t.table, h);
      EXPECT_EQ(t.table[h.index].state, e.after[static_cast<usize>(before)])
          << e.call << " in state " << static_cast<int>(before);
      EXPECT_EQ(t.table[h.index].revision, h.revision);
    }
}

TEST(NextHops, AHandleOfAnEarlierUseTouchesNobody) {
  for (const edge& e : edges) {
    if (std::string{e.call} == "acquire an equal hop" || std::string{e.call} == "forget_all" ||
        std::string{e.call} == "next_to_release")
      continue;
    for (const next_hop_state state : {setting, programmed, idle, releasing, barred}) {
      small_table t{1};
      const handle earlier = t.table.acquire(hop(7)).where;
      t.table.refused(earlier);
      const handle later = bring_to(t, state);
      ASSERT_EQ(earlier.index, later.index);
      const u32 references = t.table[0].references;
      e.go(t.table, earlier);
      e.go(t.table, {later.index + 100, later.revision});  // no such index: AddressSanitizer looks on
      EXPECT_EQ(t.table[0].state, state) << e.call;
      EXPECT_EQ(t.table[0].references, references) << e.call;
    }
  }
}

// --- the rules one by one ------------------------------------------------------------------------------------

TEST(NextHops, EqualHopsAreProgrammedOnceAndShared) {
  small_table t{4};
  const auto first = t.table.acquire(hop(1));
  EXPECT_TRUE(first.found_room && first.must_program && !first.pending && !first.barred);
  const auto meanwhile = t.table.acquire(hop(1));
  EXPECT_TRUE(meanwhile.found_room && meanwhile.pending && !meanwhile.must_program);
  EXPECT_EQ(meanwhile.where, first.where);
  t.table.programmed(first.where);
  const auto after = t.table.acquire(hop(1));
  EXPECT_TRUE(after.found_room && !after.pending && !after.must_program);
  EXPECT_EQ(after.where, first.where);
  EXPECT_EQ(t.table[first.where.index].references, 3U);
  EXPECT_NE(t.set(2), first.where);
}

TEST(NextHops, HopsThatDifferInAnythingAreNotShared) {
  small_table t{8};
  std::vector<next_hop> all(6, hop(1));
  all[1].port = 2;
  all[2].vlan = 2;
  all[3].mtu = 2;
  all[4].source_mac[5] = 2;
  all[5].destination_mac[0] = 2;
  for (const next_hop& h : all) EXPECT_TRUE(t.table.acquire(h).must_program);
}

TEST(NextHops, TheLastReferenceOwesARelease) {
  small_table t{4};
  const handle h = t.set(1);
  EXPECT_EQ(t.table.acquire(hop(1)).where, h);
  t.table.drop(h);
  EXPECT_FALSE(t.table.owes_release());
  EXPECT_EQ(t.table.next_to_release().revision, 0);
  t.table.drop(h);
  EXPECT_TRUE(t.table.owes_release());
  EXPECT_EQ(t.table.next_to_release(), h);
  EXPECT_EQ(t.table.next_to_release(), h) << "the same until it is answered";
  t.table.released(h);
  EXPECT_FALSE(t.table.owes_release());
}

TEST(NextHops, TheLongestIdleIsReleasedFirst) {
  small_table t{3};
  const handle a = t.set(1);
  const handle b = t.set(2);
  const handle c = t.set(3);
  for (const handle& h : {b, c, a}) t.table.drop(h);
  for (const handle& h : {b, c, a}) {
    EXPECT_EQ(t.table.next_to_release(), h);
    t.table.released(h);
  }
}

TEST(NextHops, AnIdleEntryIsTakenAgainWithoutACommand) {
  small_table t{1};
  const handle h = t.set(1);
  t.table.drop(h);
  const auto again = t.table.acquire(hop(1));
  EXPECT_TRUE(again.found_room && !again.must_program && !again.pending);
  EXPECT_EQ(again.where, h);
  EXPECT_FALSE(t.table.owes_release());
}

TEST(NextHops, WhatIsBeingReleasedIsNotSharedAnyMore) {
  small_table t{2};
  const handle h = t.set(1);
  t.table.drop(h);
  ASSERT_EQ(t.table.next_to_release(), h);
  const auto other = t.table.acquire(hop(1));
  EXPECT_TRUE(other.must_program);
  EXPECT_NE(other.where.index, h.index);
}

TEST(NextHops, ASetThatWasNeverPostedOwesNothing) {
  small_table t{1};
  const auto a = t.table.acquire(hop(1));
  t.table.drop(a.where);
  EXPECT_FALSE(t.table.owes_release());
  EXPECT_TRUE(t.table.acquire(hop(2)).must_program);
}

TEST(NextHops, AnUnansweredSetBarsItsHopAndItsIndexUntilTheAnswer) {
  small_table t{1};
  const auto a = t.table.acquire(hop(1));
  t.table.bar(a.where);
  t.table.drop(a.where);  // its make gives up
  const auto same = t.table.acquire(hop(1));
  EXPECT_TRUE(same.barred && !same.found_room);
  const auto other = t.table.acquire(hop(2));
  EXPECT_TRUE(!other.barred && !other.found_room) << "the table is full";
  EXPECT_FALSE(t.table.owes_release());
  t.table.programmed(a.where);  // late: the far side has it, and nobody needs it
  EXPECT_EQ(t.table.next_to_release(), a.where);
}

TEST(NextHops, ALateAnswerToASetThatIsStillReferredToMakesItGood) {
  small_table t{1};
  const auto a = t.table.acquire(hop(1));
  t.table.bar(a.where);
  t.table.programmed(a.where);
  EXPECT_EQ(t.table[0].state, programmed);
  EXPECT_EQ(t.table[0].references, 1U);
}

TEST(NextHops, AnEqualHopElsewhereIsSharedWhileOneIsBarred) {
  small_table t{2};
  const handle old = t.set(1);
  t.table.drop(old);
  ASSERT_EQ(t.table.next_to_release(), old);
  const handle young = t.set(1);
  t.table.bar(old);
  const auto a = t.table.acquire(hop(1));
  EXPECT_TRUE(a.found_room && !a.barred);
  EXPECT_EQ(a.where, young);
}

TEST(NextHops, ReferencesToWhatWasForgottenMayBeDroppedLater) {
  small_table t{2};
  const handle a = t.set(1);
  const handle b = t.set(2);
  t.table.forget_all();
  const handle c = t.set(1);
  EXPECT_EQ(c.index, a.index);
  EXPECT_EQ(c.revision, a.revision + 1) << "revisions go on: what names the old use is punted";
  t.table.drop(a);
  t.table.drop(b);
  EXPECT_EQ(t.table[c.index].references, 1U);
  EXPECT_EQ(t.table[c.index].state, programmed);
  EXPECT_FALSE(t.table.owes_release());
}

TEST(NextHops, RevisionsClimbPastTheWrapAndPassOverZero) {
  small_table t{1, 65'534};
  for (const u32 expected : {65'535U, 1U, 2U}) {
    const handle h = t.set(1);
    EXPECT_EQ(h.revision, expected);
    t.table.drop(h);
    t.table.released(t.table.next_to_release());
  }
}

TEST(NextHops, NoMemoryOrNoCapacityIsNoRoom) {
  test::block memory{next_hops::bytes_for(4)};
  arena a = memory.cut();
  next_hops table;
  EXPECT_FALSE(table.init(a, 0));
  EXPECT_FALSE(table.init(a, 5));
  EXPECT_FALSE(table.acquire(hop(1)).found_room);
  EXPECT_FALSE(table.owes_release());
  EXPECT_TRUE(table.init(a, 4));
  EXPECT_EQ(table.capacity(), 4U);
}

TEST(NextHops, MemoryPerEntry) {
  fmt::print("next hops: {} bytes an entry, {} for the recorded 254\n", sizeof(next_hop_entry),
             next_hops::bytes_for(254));
  EXPECT_LE(sizeof(next_hop_entry), 40U);
}

// --- any sequence against a model ----------------------------------------------------------------------------

// A use of an index. A use that has ended is not in the model at all, so a handle of one cannot do anything.
struct use {
  u32 hop;
  next_hop_state state;
  u32 references;
};
using use_name = std::pair<u32, u16>;  // index, revision

struct model {
  std::map<use_name, use> uses;
  std::deque<u32> free;         // the longest free first
  std::deque<use_name> idle;    // the longest idle first
  std::map<u32, u16> revision;  // the last of each index

  void forget_idle(use_name n) { std::erase(idle, n); }
  void end(use_name n) {
    uses.erase(n);
    free.push_back(n.first);
  }
  void to_idle(use_name n) {
    uses[n].state = idle_state;
    idle.push_back(n);
  }
  static constexpr next_hop_state idle_state = next_hop_state::idle;
};

enum class does { acquire, programmed, refused, bar, drop, next_to_release, released, forget_all };
struct step {
  does what;
  u32 hop;
  u32 which;
};

RC_GTEST_PROP(NextHops, AddUpUnderAnySequence, ()) {
  const u32 capacity = *rc::gen::inRange<u32>(1, 5);
  const u16 last = *rc::gen::element<u16>(0, 65'533, 65'535);
  const auto steps = *rc::gen::container<std::vector<step>>(rc::gen::build<step>(
      rc::gen::set(&step::what, rc::gen::weightedElement<does>({{8, does::acquire},
                                                                {5, does::programmed},
                                                                {2, does::refused},
                                                                {2, does::bar},
                                                                {6, does::drop},
                                                                {3, does::next_to_release},
                                                                {3, does::released},
                                                                {1, does::forget_all}})),
      rc::gen::set(&step::hop, rc::gen::inRange<u32>(0, 4)), rc::gen::set(&step::which, rc::gen::arbitrary<u32>())));

  small_table t{capacity, last};
  model m;
  for (u32 i = 0; i < capacity; ++i) {
    m.free.push_back(i);
    m.revision[i] = last;
  }
  std::vector<use_name> handed_out;  // all, of uses that have ended too

  for (const step& s : steps) {
    if (s.what == does::acquire) {
      const auto got = t.table.acquire(hop(s.hop));
      std::optional<use_name> shared;
      bool barred_equal = false;
      for (const auto& [n, u] : m.uses) {
        if (u.hop != s.hop) continue;
        if (u.state == setting || u.state == programmed || u.state == idle) shared = n;
        if (u.state == barred) barred_equal = true;
      }
      if (shared) {
        use& u = m.uses[*shared];
        if (u.state == idle) {
          m.forget_idle(*shared);
          u.state = programmed;
        }
        ++u.references;
        RC_ASSERT(got.found_room && !got.must_program && !got.barred);
        RC_ASSERT(got.pending == (u.state == setting));
        RC_ASSERT((use_name{got.where.index, got.where.revision}) == *shared);
      } else if (barred_equal || m.free.empty()) {
        RC_ASSERT(!got.found_room && !got.must_program && !got.pending);
        RC_ASSERT(got.barred == barred_equal);
      } else {
        const u32 index = m.free.front();
        m.free.pop_front();
        m.revision[index] = m.revision[index] == 65'535 ? u16{1} : static_cast<u16>(m.revision[index] + 1);
        const use_name n{index, m.revision[index]};
        m.uses[n] = {s.hop, setting, 1};
        handed_out.push_back(n);
        RC_ASSERT(got.found_room && got.must_program && !got.barred && !got.pending);
        RC_ASSERT((use_name{got.where.index, got.where.revision}) == n);
      }
    } else if (s.what == does::forget_all) {
      t.table.forget_all();
      for (u32 i = 0; i < capacity; ++i)  // index by index
        for (const auto& [n, u] : std::map{m.uses})
          if (n.first == i) m.end(n);
      m.idle.clear();
    } else if (s.what == does::next_to_release) {
      const handle got = t.table.next_to_release();
      std::optional<use_name> expected;
      for (const auto& [n, u] : m.uses)
        if (u.state == releasing) expected = n;
      if (!expected && !m.idle.empty()) {
        expected = m.idle.front();
        m.idle.pop_front();
        m.uses[*expected].state = releasing;
      }
      RC_ASSERT((use_name{got.index, got.revision}) == expected.value_or(use_name{0, 0}));
    } else {
      if (handed_out.empty()) continue;
      // Mostly one of the living, sometimes any that ever was.
      const bool of_living = !m.uses.empty() && s.which % 4 != 0;
      const use_name n = of_living ? std::next(m.uses.begin(), s.which / 4 % m.uses.size())->first
                                   : handed_out[s.which / 4 % handed_out.size()];
      const handle h{n.first, n.second};
      const auto at = m.uses.find(n);
      const next_hop_state state = at == m.uses.end() ? free : at->second.state;
      const bool set_out = state == setting || state == barred;
      const bool release_out = state == releasing || state == barred;
      switch (s.what) {
        case does::programmed:
          t.table.programmed(h);
          if (set_out) {
            at->second.state = programmed;
            if (at->second.references == 0) m.to_idle(n);
          }
          break;
        case does::refused:
          t.table.refused(h);
          if (set_out || release_out) m.end(n);
          break;
        case does::released:
          t.table.released(h);
          if (release_out) m.end(n);
          break;
        case does::bar:
          t.table.bar(h);
          if (state == setting || state == releasing) at->second.state = barred;
          break;
        default:  // drop
          t.table.drop(h);
          if (state == free || at->second.references == 0) break;
          if (--at->second.references > 0) break;
          if (state == programmed) m.to_idle(n);
          if (state == setting) m.end(n);
          break;
      }
    }

    RC_ASSERT(m.uses.size() + m.free.size() == capacity);
    u32 owed = 0;
    for (u32 i = 0; i < capacity; ++i) {
      const next_hop_entry& e = t.table[i];
      RC_ASSERT(e.revision == m.revision[i]);
      const auto at = m.uses.find({i, e.revision});
      RC_ASSERT(e.state == (at == m.uses.end() ? free : at->second.state));
      RC_ASSERT(e.references == (at == m.uses.end() ? 0U : at->second.references));
      if (at != m.uses.end()) RC_ASSERT(e.hop == hop(at->second.hop));
      owed += e.state == idle || e.state == releasing ? 1 : 0;
    }
    RC_ASSERT(t.table.owes_release() == (owed != 0));
  }
}

}  // namespace
}  // namespace octep
