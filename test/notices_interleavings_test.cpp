// Those who tell and the worker who listens, in every order of their accesses: what was told is taken once or covered by an
// overflow, whole, and while something is left the worker has been kicked.
#include <octep/notices.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "test/scheduled_atomics.hpp"

namespace octep::test {
namespace {

// Everything in a tuple follows from its number, so a torn one shows.
tuple4 tuple_of(u32 number) { return tuple4::make(number, number * 3, join_ports(static_cast<u16>(number), 1), protocol::udp); }

template <class Box>
struct history {
  Box box;
  u32 told = 0;        // bits: tuples, by number
  u32 kinds_told = 0;  // bits
  u32 taken = 0;
  u32 kinds_taken = 0;
  bool everything = false;
  bool kicked = false;
  std::string wrong;

  void gone(u32 number) {
    told |= u32{1} << number;
    if (box.post_gone(tuple_of(number))) kicked = true;
  }
  void changed(notice_kind kind) {
    kinds_told |= u32{1} << static_cast<u32>(kind);
    if (box.post(kind)) kicked = true;
  }
  // What a pass does: a kick that comes after its begin asks for another one.
  void listen() {
    kicked = false;
    for (notice n; box.take(n);) {
      if (n.kind != notice_kind::state_gone) {
        kinds_taken |= u32{1} << static_cast<u32>(n.kind);
        continue;
      }
      const u32 bit = u32{1} << (n.v4.source & 31);
      if (n.v4 != tuple_of(n.v4.source)) wrong = "a torn tuple";
      if ((taken & bit) != 0) wrong = "taken twice";
      if ((told & bit) == 0) wrong = "taken before it was told";
      taken |= bit;
    }
    if (box.take_overflow()) everything = true;
  }
  std::string check() {
    for (u32 pass = 0; kicked; ++pass) {
      if (pass == 4) return "passes do not end";
      listen();
    }
    if (!wrong.empty()) return wrong;
    if ((told & ~taken) != 0 && !everything) return "told and neither taken nor covered";
    if (kinds_told != kinds_taken) return "a kind was lost";
    kicked = false;
    if (notice n; box.take(n) || box.take_overflow()) return "something was left, and nobody was kicked for it";
    return {};
  }
};

template <class H>
exploration try_all(const std::vector<void (*)(H&)>& threads, u64 limit = 4'000'000) {
  return explore(
      [&] {
        auto h = std::make_shared<H>();
        scenario s;
        for (const auto thread : threads) s.threads.push_back([h, thread] { thread(*h); });
        s.check = [h] { return h->check(); };
        return s;
      },
      limit);
}

template <class H>
void expect_exact(const char* what, const std::vector<void (*)(H&)>& threads) {
  const exploration e = try_all<H>(threads);
  EXPECT_TRUE(e.complete) << what << ": " << e.interleavings;
  EXPECT_EQ(e.wrong, 0U) << what << ": " << e.first_wrong;
  std::printf("%s: %llu interleavings, all exact\n", what, static_cast<unsigned long long>(e.interleavings));
}

using atomic_accesses = scheduled_atomics<atomics_fault::none, false>;
template <u32 Room, class A>
using of = history<notices<Room, A>>;

template <class H>
std::vector<void (*)(H&)> one_tells_one_listens() {
  return {[](H& h) { h.gone(1); }, [](H& h) { h.listen(); }};
}
template <class H>
std::vector<void (*)(H&)> two_tell() {
  return {[](H& h) { h.gone(1); }, [](H& h) { h.gone(2); }};
}
template <class H>
std::vector<void (*)(H&)> two_tell_one_listens() {
  return {[](H& h) { h.gone(1); }, [](H& h) { h.gone(2); }, [](H& h) { h.listen(); }};
}

TEST(NoticesInterleavings, WithEveryAccessTornApart) {
  expect_exact("one tells, one listens, 1 seat", one_tells_one_listens<of<1, scheduled_atomics<>>>());
  expect_exact("two tell, 1 seat", two_tell<of<1, scheduled_atomics<>>>());
}

TEST(NoticesInterleavings, TwoTellAndOneListens) {
  expect_exact("two tell, 2 seats", two_tell<of<2, atomic_accesses>>());
  expect_exact("two tell, one listens, 1 seat", two_tell_one_listens<of<1, atomic_accesses>>());
}

TEST(NoticesInterleavings, AFullBoxBesideItsReader) {
  using H = of<1, atomic_accesses>;
  expect_exact<H>("one tells twice, one listens twice, 1 seat",
                  {[](H& h) { h.gone(1), h.gone(2); }, [](H& h) { h.listen(), h.listen(); }});
}

TEST(NoticesInterleavings, KindsThatNameNobody) {
  using H = of<1, atomic_accesses>;
  expect_exact<H>("two tell of one kind, one listens",
                  {[](H& h) { h.changed(notice_kind::routes_changed); }, [](H& h) { h.changed(notice_kind::routes_changed); },
                   [](H& h) { h.listen(); }});
}

// That the check can fail.
TEST(NoticesInterleavings, AWordThatKeepsNobodyOutIsCaught) {
  using H = of<1, scheduled_atomics<atomics_fault::try_always_succeeds>>;
  EXPECT_EQ(try_all<H>(two_tell<H>()).wrong, 1U);
}
TEST(NoticesInterleavings, AReleaseBeforeTheTupleIsWrittenIsCaught) {
  using H = of<1, scheduled_atomics<atomics_fault::release_runs_ahead>>;
  // The other news is what makes the worker look there already.
  const std::vector<void (*)(H&)> threads{[](H& h) { h.gone(1); },
                                          [](H& h) { h.changed(notice_kind::rules_changed), h.listen(); }};
  EXPECT_EQ(try_all<H>(threads).wrong, 1U);
}

}  // namespace
}  // namespace octep::test
