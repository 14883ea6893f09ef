// What threads do to one slot of a candidate table and see of it, added up by each for itself and compared when all have
// ended: for tests that try every order of their accesses.
#pragma once

#include <octep/candidates.hpp>

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "test/scheduled_atomics.hpp"

namespace octep::test {

// Every access under the word is torn apart as well.
using every_access = scheduled_atomics<>;
// The atomic accesses only, for longer threads.
using atomic_accesses = scheduled_atomics<atomics_fault::none, false>;

// Of a tuple everything that its frames bring follows from its source port word, which is not 0: so a torn candidate shows.
template <class Table>
struct slot_history {
  Table table;
  u64 frames = 0, clashes = 0, lost = 0, evicted = 0, evicted_read = 0, taken = 0, emptied_unread = 0;
  std::string wrong;

  write_outcome write(const tuple4& t, u32 hashed, u32 ms) {
    arrival a;
    a.who = identity::make(t.source_word(), 1);
    a.where = {t.source_word(), 0};
    a.at = tick{ms};
    const write_outcome o = table.write(t, hashed, a, 4);
    ++frames;
    clashes += o.clash;
    lost += o.lost;
    evicted += o.evicted;
    evicted_read += o.evicted_read;
    if (o.clash && (o.lost || o.evicted || o.evicted_read || o.due)) wrong = "a clash did something";
    if (o.evicted && !o.lost) wrong = "evicted but not lost";
    if (o.lost && o.evicted_read) wrong = "both read and unread";
    return o;
  }
  // False: nobody was taken.
  bool take(candidate<tuple4>& out) {
    u32 place = 0;
    if (table.take(0, 0, [](const auto&) { return true; }, out, place) != got::one) return false;
    expect_whole(out);
    ++taken;
    return true;
  }
  // False: the word was held.
  bool discard() {
    emptied gone;
    if (!table.empty_slot(0, gone)) return false;
    emptied_unread += gone.unread;
    return true;
  }

  // What is wrong, or nothing. `more(held tuples)` may say something in `wrong` too.
  template <class More>
  std::string check(More&& more) {
    u64 unread = 0;
    std::vector<tuple4> held;
    if (!table.for_each_place(0, [&](u32, const candidate<tuple4>& c) {
          if (!is_expected(c)) expect_whole(c);
          unread += !c.read;
          for (const tuple4& t : held)
            if (t == c.tuple) wrong = "one tuple in two places";
          held.push_back(c.tuple);
        }))
      return "the word stayed taken";
    more(held);
    if (!wrong.empty()) return wrong;
    if (frames - clashes != taken + lost + emptied_unread + unread)
      return fmt::format("{} frames - {} clashes != {} taken + {} lost + {} emptied + {} unread", frames, clashes,
                         taken, lost, emptied_unread, unread);
    if (evicted > lost) return "more evicted than lost";
    return {};
  }

 private:
  // Where a policy ranks, a place may wait for a tuple that no frame brought yet.
  [[nodiscard]] static bool is_expected(const candidate<tuple4>& c) {
    return Table::ranks && c.count == 0 && c.read && c.who == identity{} && c.where == ingress{};
  }
  void expect_whole(const candidate<tuple4>& c) {
    if (c.who != identity::make(c.tuple.source_word(), 1) || c.where.port != c.tuple.source_word() || c.count == 0)
      wrong = "a torn candidate";
  }
};

// Every order of the threads' accesses, each on a history of its own to which `before` was done. A thread is called with it.
template <class History, class Before, class Threads>
exploration explore_histories(Before before, const Threads& threads, u64 limit) {
  return explore(
      [&] {
        auto h = std::make_shared<History>();
        before(*h);
        scenario s;
        for (const auto thread : threads) s.threads.push_back([h, thread] { thread(*h); });
        s.check = [h] { return h->check(); };
        return s;
      },
      limit);
}

}  // namespace octep::test
