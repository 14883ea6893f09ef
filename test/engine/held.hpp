// A connection that is held, in the world of a test, and what its frames and its far side may do to it.
#pragma once

#include <gtest/gtest.h>

#include "test/engine/fake_world.hpp"

namespace octep::test {

struct held : ::testing::Test {
  bench_top<> top;
  tuple4 opener = flow(1);
  handle at;  // the connection

  void SetUp() override {
    ASSERT_TRUE(top.started);
    top.world.firewall.known4.push_back(settled_state(opener));
    make_it();
  }

  // By the next poll; ten milliseconds later nothing hinders a run.
  void make_it() {
    top.both(opener, 100);
    top.to_next_poll();
    top.settle();
    if (!is_held()) {  // the polls are no longer at whole seconds: one came late
      top.now.us += 1'000'000;
      top.settle();
    }
    name_it();
    top.now.us += 10'000;
  }
  [[nodiscard]] bool is_held() {
    const found f = top.core().table().find(opener, top.core().hash_of(opener));
    return f.is && top.core().table()[f.index].state == record_state::held;
  }
  void name_it() {
    const found f = top.core().table().find(opener, top.core().hash_of(opener));
    ASSERT_TRUE(f.is);
    at = top.core().table().handle_of(f.index);
    ASSERT_EQ(top.core().table()[f.index].state, record_state::held);
  }

  void frame(bool closing = false) { (void)top.frame(opener, 1, 100, closing); }
  void frame_back(bool closing = false) { (void)top.frame(reverse(opener), 2, 101, closing); }

  // The answer to a read of the entry.
  [[nodiscard]] answer entry(entry_state is, u8 identical = 10) const {
    answer a;
    a.entry = is;
    a.entry_revision = at.revision;
    a.identical = identical;
    return a;
  }
  [[nodiscard]] answer given_back(u8 identical = 10) const { return entry(entry_state::pending, identical); }

  // A frame, the read it leads to, and what that answers.
  void read_answers(const answer& a) {
    frame();
    const command c = top.posted();
    ASSERT_EQ(c.kind, command_kind::read_entry);
    ASSERT_EQ(c.target, at);
    top.answer_it(answer_code::done, a);
  }
  void revive() {
    const command c = top.posted();
    ASSERT_EQ(c.kind, command_kind::create);
    top.answer_it();
  }

  // Of the last event of that kind.
  [[nodiscard]] const event* last(event_kind kind) {
    for (auto e = top.world.events.seen.rbegin(); e != top.world.events.seen.rend(); ++e)
      if (e->kind == kind) return &*e;
    return nullptr;
  }
  // Why it was taken out; `none`: it was not.
  [[nodiscard]] reason taken_out_for() {
    const event* e = last(event_kind::taken_out);
    return e == nullptr ? reason::none : e->why;
  }
  [[nodiscard]] u64 made() { return top.count(pass_counter::auto_made); }
};

// What a take-out of the only connection posts, its next hops with it.
inline const kinds whole_take_out{command_kind::deactivate, command_kind::deactivate, command_kind::reclaim,
                                  command_kind::next_hop_release, command_kind::next_hop_release};

}  // namespace octep::test
