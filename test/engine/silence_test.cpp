#include <octep/engine/engine.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "test/engine/far_side.hpp"

namespace octep::test {
namespace {

using enum command_kind;

// --- an operation at one of its stages ----------------------------------------------------------------------

enum class stage {
  make_hop0,
  make_hop1,
  make_create,
  deactivate0,
  deactivate1,
  take_out_reclaim,
  take_out_read_back,
  attach,
  repoint_hop,
  repoint_program,
  probe_read,
  revive_create,
  stamp0,
  stamp1,
  release,
  whole_discard,
  count_
};

constexpr const char* stage_names[] = {
    "make_hop0",   "make_hop1",       "make_create", "deactivate0",   "deactivate1", "reclaim", "read_back", "attach",
    "repoint_hop", "repoint_program", "probe_read",  "revive_create", "stamp0",      "stamp1",  "release",   "discard"};

// A far side with one held connection, or on its way to one, whose command of that stage is out.
class at_stage {
 public:
  explicit at_stage(stage which) : which_{which} {
    if (which > stage::make_create) {
      top.make(1, 1);
      if (which != stage::stamp0 && which != stage::stamp1) top.run_for(from_ms(10));
    } else {
      top.know(1);
      top.both(flow(1), top.first_id(1));
      top.to_next_poll();
    }
    switch (which) {
      case stage::make_hop0: post(next_hop_set); break;
      case stage::make_hop1: post(next_hop_set, 1); break;
      case stage::make_create: post(create); break;
      case stage::deactivate0:
      case stage::deactivate1:
      case stage::take_out_reclaim:
      case stage::take_out_read_back:
      case stage::release:
        EXPECT_TRUE(top.core().remove(flow(1)));
        if (which == stage::deactivate0) post(deactivate);
        if (which == stage::deactivate1) post(deactivate, 1);
        if (which == stage::take_out_reclaim) post(reclaim);
        if (which == stage::release) post(next_hop_release);
        if (which == stage::take_out_read_back) {
          post(reclaim);
          top.answer_it(answer_code::refused);
          post(read_entry);
        }
        break;
      case stage::attach:
        top.far.dead.insert(top.who(1).word);
        top.far.microflows.erase(top.who(1).word);
        (void)top.frame(flow(1), 1, 900);
        post(program);
        break;
      case stage::repoint_hop:
      case stage::repoint_program:
        top.world.next_hops.changed_port = 1;
        top.core().changed();
        post(which == stage::repoint_hop ? next_hop_set : program);
        break;
      case stage::probe_read:
      case stage::revive_create:
        (void)top.frame(flow(1), 1, top.first_id(1));
        post(read_entry);
        if (which == stage::probe_read) break;
        top.answer_it(answer_code::done, {.entry = entry_state::pending, .entry_revision = top.of(1).revision, .identical = 10});
        post(create);
        break;
      case stage::stamp0:
      case stage::stamp1:
        top.run_to(microseconds_before(top.of(1).read_at));
        top.now = top.of(1).read_at;
        post(read_microflow, which == stage::stamp1 ? 1 : 0);
        break;
      case stage::whole_discard:
        top.core().request_discard();
        post(discard);
        break;
      case stage::count_: break;
    }
  }

  // The far side has done what it was told, and says so, or refuses it.
  void far_side_says(bool done) {
    const command c = top.core().commands().current();
    answer a = done ? top.far.execute(c) : answer{};
    // It was told to read what it had given back.
    if (c.kind == read_entry && which_ == stage::probe_read) a = {.entry = entry_state::pending, .entry_revision = top.of(1).revision};
    // It refuses to release what it does not have at that revision.
    if (c.kind == next_hop_release && !done) top.far.hops.erase(c.target.index);
    top.answer_it(done ? answer_code::done : answer_code::refused, a);
  }
  void silence() {
    const u64 unanswered = top.count(pass_counter::cmd_unanswered);
    top.now = top.now + from_ms(2'000);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(top.next().what, step::kind::wait) << "nothing is posted before it speaks";
      top.now.us += 70'000;
      top.both(flow(2), 700, 16);
    }
    EXPECT_EQ(top.count(pass_counter::cmd_unanswered), unanswered + 1);
  }
  // Nobody brings another frame; all that is owed is done.
  void rest() {
    top.run_for(from_s(30));
    top.run();
  }

  live_top<> top{8, 8};

 private:
  [[nodiscard]] static instant microseconds_before(instant t) { return {t.us - 1}; }

  // Runs up to the `nth` command of that kind, which stays out.
  void post(command_kind kind, u32 nth = 0) {
    for (u32 n = 0; n < 2'000; ++n) {
      const command c = top.posted();
      if (c.kind == kind && nth-- == 0) return;
      if (c.kind == none)
        top.to_next_poll();
      else
        top.answer_it(answer_code::done, top.far.execute(c));
    }
    ADD_FAILURE() << "it was never posted";
  }

  stage which_;
};

struct every_stage : ::testing::TestWithParam<int> {
  stage which = static_cast<stage>(GetParam());
};

TEST_P(every_stage, forgets_by_a_reset_everything_and_whatever_was_out) {
  at_stage it{which};
  auto& top = it.top;
  const u64 voided = top.tag;
  const command was = top.core().commands().current();
  top.far.restart();
  top.world.events.seen.clear();
  const u64 kicks = top.world.kicks;
  top.core().far_side_reset(top.now);
  EXPECT_EQ(top.world.kicks, kicks + 1);
  EXPECT_EQ(top.told(event_kind::far_side_reset), 1U);
  EXPECT_EQ(top.count(pass_counter::far_side_resets), 1U);
  const u32 held = top.core().table().held();

  // What was out is nobody's: its answer changes nothing.
  const u64 unknown = top.count(pass_counter::cmd_unknown_tag);
  top.core().answered(voided, top.far.execute({}), top.now);
  EXPECT_EQ(top.count(pass_counter::cmd_unknown_tag), unknown + 1);
  EXPECT_EQ(top.core().table().held(), held);

  const u64 posted = top.count(pass_counter::cmd_posted);
  for (u32 slice = 0; top.core().table().held() != 0 && slice < 100; ++slice) EXPECT_EQ(top.next().what, step::kind::idle);
  EXPECT_EQ(top.count(pass_counter::cmd_posted), posted) << "nothing is posted for what is forgotten";
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
  EXPECT_FALSE(top.core().hot().perhaps(top.core().hash_of(flow(1))));
  EXPECT_FALSE(top.core().discard_owed());
  int written = 0;
  for (u32 slot = 0; slot < fleet_policies::geometry.slots; ++slot)
    (void)top.core().candidates_for<tuple4>().for_each_place(slot, [&](u32, const auto&) { ++written; });
  EXPECT_EQ(written, 0);
  EXPECT_EQ(top.broken(), "");
  it.rest();
  EXPECT_EQ(top.count(pass_counter::cmd_posted), posted) << was.target.index;

  // It has new identities, and the connection is made again by two next hops and a create.
  top.world.next_hops.changed_port = 0;
  top.posted_of.clear();
  top.both(flow(1), 400);
  top.run_for(from_s(1));
  EXPECT_TRUE(top.holds(1));
  EXPECT_EQ(top.posted_of[next_hop_set], 2U);
  EXPECT_EQ(top.posted_of[create], 1U);
  EXPECT_EQ(top.broken(), "");
}

TEST_P(every_stage, posts_nothing_after_it_is_gone_until_it_is_reset) {
  at_stage it{which};
  auto& top = it.top;
  const u64 voided = top.tag;
  top.core().far_side_gone(top.now);
  EXPECT_EQ(top.told(event_kind::far_side_gone), 1U);
  const u64 posted = top.count(pass_counter::cmd_posted);
  const auto idles = [&] {
    const step s = top.next();
    EXPECT_EQ(s.what, step::kind::idle);
    EXPECT_EQ(s.until, never);
  };
  idles();
  for (int i = 0; i < 40; ++i) {
    top.now = top.now + from_ms(700);
    top.both(flow(1), top.first_id(1), 16);
    top.both(flow(2), 800, 16);
    if (i == 3) (void)top.core().set(setting::enable, 0, top.now);
    if (i == 5) (void)top.core().set(setting::enable, 1, top.now);
    if (i == 7) top.core().request_discard();
    if (i == 9) top.core().changed();
    if (i == 11) top.core().states_gone();
    if (i == 13) (void)top.core().remove(flow(1));
    if (i == 15) (void)top.core().remove_host(family::ipv4, detail::widen(inside(1)));
    if (i == 17) (void)top.core().state_gone(flow(1));
    if (i == 19) (void)top.core().keep_out(flow(2));
    if (i == 21) top.core().answered(voided, {}, top.now);
    if (i == 23) top.core().far_side_gone(top.now);
    idles();
  }
  EXPECT_EQ(top.count(pass_counter::cmd_posted), posted);
  // It comes back, and knows nothing.
  top.far.restart();
  top.core().far_side_reset(top.now);
  it.rest();
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.count(pass_counter::cmd_posted), posted) << "the discard that was wished is done";
  top.both(flow(1), 400);
  top.run_for(from_s(2));
  EXPECT_TRUE(top.holds(1));
  EXPECT_EQ(top.broken(), "");
}

TEST_P(every_stage, ends_true_when_its_answer_comes_late) {
  for (const bool done : {true, false}) {
    at_stage it{which};
    auto& top = it.top;
    it.silence();
    it.far_side_says(done);
    EXPECT_EQ(top.count(pass_counter::cmd_late), 1U);
    it.rest();
    EXPECT_EQ(top.broken(), "") << "done: " << done;
    EXPECT_EQ(top.references(), 2 * top.core().table().held()) << "done: " << done;
    for (u32 i = 0; i < top.core().table().capacity(); ++i)
      EXPECT_TRUE(top.core().table()[i].state == record_state::free || top.core().table()[i].state == record_state::held);
  }
}

// The far side did it, and only its word was lost until now; or it did nothing and says that.
TEST_P(every_stage, ends_true_whoever_removes_the_connection_while_it_is_silent) {
  for (const bool done : {true, false}) {
    for (int by = 0; by < 4; ++by) {
      at_stage it{which};
      auto& top = it.top;
      if (by == 0) (void)top.core().remove(flow(1));
      if (by == 1) (void)top.core().state_gone(flow(1));
      it.silence();
      if (by == 2) (void)top.core().remove(reverse(flow(1)));
      if (by == 3) top.core().request_discard();
      it.far_side_says(done);
      it.rest();
      EXPECT_EQ(top.broken(), "") << "done: " << done << " by " << by;
      EXPECT_EQ(top.references(), 2 * top.core().table().held()) << "done: " << done << " by " << by;
      // The table is whole: it fills, and every index is another's.
      top.world.next_hops.changed_port = 0;
      top.make(11, 18);
      EXPECT_EQ(top.broken(), "") << "done: " << done << " by " << by;
      EXPECT_TRUE(top.core().table().full());
    }
  }
}

TEST_P(every_stage, ends_true_when_its_answer_is_late_and_what_follows_is_silent_too) {
  at_stage it{which};
  auto& top = it.top;
  for (int i = 0; i < 6; ++i) {
    it.silence();
    it.far_side_says(true);
    while (top.next().what == step::kind::idle && top.count(pass_counter::polls) < 200) top.to_next_poll();
    if (top.next().what == step::kind::idle) break;
    top.tag = top.core().commands().tag();
  }
  if (top.core().commands().outstanding()) it.far_side_says(true);
  it.rest();
  EXPECT_EQ(top.broken(), "");
  EXPECT_EQ(top.references(), 2 * top.core().table().held());
}

TEST_P(every_stage, is_switched_off_by_one_discard_and_then_silence) {
  at_stage it{which};
  auto& top = it.top;
  (void)top.core().set(setting::enable, 0, top.now);
  it.far_side_says(true);
  top.posted_of.clear();
  top.run();
  EXPECT_EQ(top.posted_of[discard], which == stage::whole_discard ? 0U : 1U);
  EXPECT_EQ(top.posted_of[create] + top.posted_of[program] + top.posted_of[next_hop_set], 0U);
  EXPECT_EQ(top.core().table().held(), 0U);
  const u64 posted = top.count(pass_counter::cmd_posted);
  for (int i = 0; i < 20; ++i) {
    top.both(flow(1), top.first_id(1), 16);
    top.core().changed();
    top.core().states_gone();
    (void)top.core().remove(flow(1));
    (void)top.core().set(setting::poll_ms, 500, top.now);
    top.run_for(from_ms(700));
  }
  EXPECT_EQ(top.count(pass_counter::cmd_posted), posted);
  EXPECT_EQ(top.next().until, never);
  EXPECT_EQ(top.broken(), "");
}

INSTANTIATE_TEST_SUITE_P(of, every_stage, ::testing::Range(0, static_cast<int>(stage::count_)),
                         [](const auto& of) { return stage_names[of.param]; });

// --- all of it in any order ------------------------------------------------------------------------------------

// What may happen, drawn and shrunk as pairs of this and a number. From `discarded` on: seldom.
enum class happens : u8 {
  frames,        // of both directions
  frame,         // of one
  closing,
  second,        // goes by, the far side answers
  moment,
  silence,       // the next command is answered late: done
  silence_no,    // or refused
  refusal,       // the next command is refused
  given_back,    // reads of entries say so from now on, or not
  kill,
  killed_named,
  live,
  removed,
  host_removed,
  kept_out,
  let_in,
  moved,         // ways out
  judged,        // otherwise by the firewall
  discarded,
  reset,
  gone,
  off,
  on,
  count_
};

[[nodiscard]] const char* name(happens what) {
  constexpr const char* names[] = {"frames",       "frame",  "closing",     "second",   "moment", "silence", "silence_no", "refusal",
                                   "given_back",   "kill",   "killed_named", "live",    "removed", "host_removed", "kept_out", "let_in",
                                   "moved",        "judged", "discarded",   "reset",    "gone",   "off",     "on"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<usize>(happens::count_));
  return names[static_cast<usize>(what)];
}
void showValue(happens what, std::ostream& out) { out << name(what); }

struct anything {
  live_top<> top{8, 3};
  static constexpr u32 flows = 12;
  u32 next_id = 100;
  std::map<u32, u32> ids;  // of flow(n), direction 0; the other has the next
  bool gives_back = false;
  bool is_gone = false;
  u32 next_state = 1'000;

  anything() {
    (void)top.core().set(setting::upkeep_commands, 4, top.now);
    top.world.firewall.lasts = from_s(20);
    for (u32 n = 1; n <= flows; ++n) {
      top.know(n);
      rename(n);
    }
  }
  // A tuple has another identity when its microflow is another: the one before is gone.
  void rename(u32 n) {
    for (u32 d = 0; d < 2; ++d) {
      const u32 word = identity::make(ids[n] + d, 1).word;
      top.far.dead.insert(word);
      top.far.microflows.erase(word);
    }
    ids[n] = next_id += 2;
  }
  [[nodiscard]] firewall_answer<tuple4>& state(u32 n) { return top.world.firewall.known4[n - 1]; }
  [[nodiscard]] answer said(const command& c) {
    answer a = top.far.execute(c);
    if (c.kind == read_entry && gives_back && a.entry == entry_state::valid) {
      a.entry = entry_state::pending;
      a.identical = 10;
    }
    return a;
  }
  void refuse(const command& c) {
    if (c.kind == next_hop_release) top.far.hops.erase(c.target.index);
    top.answer_it(answer_code::refused);
  }
  // Up to then, every command answered.
  void pass(microseconds d) {
    const instant end = top.now + d;
    for (;;) {
      const command c = top.posted();
      if (c.kind != none) {
        top.answer_it(answer_code::done, said(c));
        continue;
      }
      const instant until = top.next().until;
      if (end < until) break;
      top.now = greatest(until, top.now);
    }
    top.now = end;
  }
  // The next command, should one be posted within a second.
  [[nodiscard]] command next_command() {
    for (int i = 0; i < 11; ++i) {
      if (const command c = top.posted(); c.kind != none) return c;
      top.now = top.now + from_ms(100);
    }
    return {};
  }

  void happen(happens what, u32 number) {
    const u32 n = number % flows + 1;
    switch (what) {
      case happens::frames: top.both(flow(n), ids[n], 16); break;
      case happens::frame: (void)top.frame(number % 2 == 0 ? flow(n) : reverse(flow(n)), number % 2 == 0 ? 1 : 2, ids[n] + number % 2); break;
      case happens::closing: (void)top.frame(flow(n), 1, ids[n], true); break;
      case happens::second: pass(from_s(1)); break;
      case happens::moment: pass({number % 20'000}); break;
      case happens::silence:
      case happens::silence_no: {
        const command c = next_command();
        if (c.kind == none) break;
        // Somebody removes one before the silence has lasted too long, or after.
        if (number % 7 == 0)
          for (u32 any = 1; any <= flows; ++any) (void)top.core().remove(flow(any));
        top.now = top.now + from_ms(2'500);
        RC_ASSERT(top.next().what == step::kind::wait);
        if (number % 3 == 0) (void)top.core().remove(flow(n));
        if (number % 5 == 0) (void)top.core().state_gone(reverse(flow(n)));
        if (what == happens::silence)
          top.answer_it(answer_code::done, said(c));
        else
          refuse(c);
        break;
      }
      case happens::refusal:
        if (const command c = next_command(); c.kind != none) refuse(c);
        break;
      case happens::given_back: gives_back = number % 2 == 0; break;
      case happens::kill:
      case happens::killed_named:
        for (const state_id id : state(n).states) top.world.firewall.dead.push_back(id.value);
        state(n).found = false;
        if (what == happens::killed_named) (void)top.core().state_gone(flow(n));
        break;
      case happens::live:
        state(n) = settled_state(flow(n), ++next_state);
        rename(n);
        break;
      case happens::removed: (void)top.core().remove(flow(n)); break;
      case happens::host_removed: (void)top.core().remove_host(family::ipv4, detail::widen(inside(n))); break;
      case happens::kept_out: (void)top.core().keep_out(flow(n)); break;
      case happens::let_in: (void)top.core().let_in(flow(n)); break;
      case happens::moved:
        top.world.next_hops.changed_port = static_cast<u16>(number % 3);
        top.core().changed();
        break;
      case happens::judged:
        state(n).verdict = number % 2 == 0 ? reason::flow_shaped : reason::none;
        top.core().changed();
        break;
      case happens::discarded: top.core().request_discard(); break;
      case happens::reset: reset(); break;
      case happens::gone:
        top.core().far_side_gone(top.now);
        is_gone = true;
        break;
      case happens::off: (void)top.core().set(setting::enable, 0, top.now); break;
      case happens::on: (void)top.core().set(setting::enable, 1, top.now); break;
      case happens::count_: break;
    }
  }
  void reset() {
    top.far.restart();
    for (u32 n = 1; n <= flows; ++n) rename(n);
    top.core().far_side_reset(top.now);
    is_gone = false;
  }
  // Whatever is owed has been done, and nothing is in between.
  void rests() {
    if (is_gone) reset();
    gives_back = false;
    for (int i = 0; i < 5; ++i) pass(from_s(1));
    for (u32 i = 0; i < top.core().table().capacity(); ++i) {
      const record_state is = top.core().table()[i].state;
      RC_ASSERT(is == record_state::free || is == record_state::held);
      if (is == record_state::held) RC_ASSERT(top.world.firewall.alive(top.core().table()[i].states, top.now));
    }
    RC_ASSERT(top.broken() == "");
    RC_ASSERT(top.references() == 2 * top.core().table().held());
  }
};

[[nodiscard]] rc::Gen<std::vector<std::pair<happens, u32>>> histories() {
  const auto often = rc::gen::element(happens::frames, happens::frames, happens::frame, happens::second, happens::moment);
  const auto at_times = rc::gen::map(rc::gen::inRange(0, static_cast<int>(happens::discarded)), [](int k) { return static_cast<happens>(k); });
  const auto seldom = rc::gen::element(happens::discarded, happens::reset, happens::gone, happens::off, happens::on);
  const auto kind = rc::gen::weightedOneOf<happens>({{12, often}, {12, at_times}, {1, seldom}});
  return rc::gen::container<std::vector<std::pair<happens, u32>>>(rc::gen::pair(kind, rc::gen::inRange<u32>(0, 20'000)));
}

RC_GTEST_PROP(whatever, happens_ends_with_both_sides_of_one_mind, ()) {
  const auto drawn = *histories();
  anything all;
  for (const auto& [what, number] : drawn) all.happen(what, number);
  all.rests();
  RC_CLASSIFY(all.top.core().table().held() != 0, "holds some at last");
  RC_CLASSIFY(all.top.count(pass_counter::auto_made) != 0, "made some");
  RC_CLASSIFY(all.top.count(pass_counter::flow_doomed) != 0, "doomed some");
  RC_CLASSIFY(all.top.count(pass_counter::flow_repoint) != 0, "repointed some");
  RC_CLASSIFY(all.top.count(pass_counter::flow_revived) != 0, "revived some");
}

// --- while everything is being forgotten --------------------------------------------------------------------

struct forgetting : ::testing::TestWithParam<bool> {
  live_top<> top{300, 8};

  // The first slice of three hundred records is forgotten.
  void SetUp() override {
    top.make(1, 300);
    ASSERT_EQ(top.core().table().held(), 300U);
    if (GetParam()) {
      top.far.restart();
      top.core().far_side_reset(top.now);
    } else {
      top.core().request_discard();
      ASSERT_TRUE(top.one());
    }
    (void)top.next();
    ASSERT_GT(top.core().table().held(), 0U);
    ASSERT_LT(top.core().table().held(), 300U);
  }
};

// The pass lock is free between two slices: whoever removes a connection then must not have it taken out after it was forgotten.
TEST_P(forgetting, owes_no_take_out_for_what_is_named_between_two_slices) {
  u32 named = 0;
  for (u32 n = 1; n <= 300; ++n)
    named += n % 2 != 0 ? top.core().remove(flow(n)) : top.core().state_gone(flow(n));
  ASSERT_GT(named, 0U);
  top.posted_of.clear();
  top.run();
  EXPECT_TRUE(top.posted_of.empty());
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.broken(), "");
  top.make(1'001, 1'300);
  EXPECT_EQ(top.core().table().held(), 300U);
  EXPECT_EQ(top.broken(), "");
}

TEST_P(forgetting, begins_again_after_a_reset_in_the_middle_of_it) {
  top.core().far_side_gone(top.now);
  EXPECT_EQ(top.next().until, never);
  top.far.restart();
  top.core().far_side_reset(top.now);
  top.posted_of.clear();
  top.run();
  EXPECT_TRUE(top.posted_of.empty());
  EXPECT_EQ(top.core().table().held(), 0U);
  EXPECT_EQ(top.references(), 0U);
  top.make(1'001, 1'300);
  EXPECT_EQ(top.core().table().held(), 300U);
  EXPECT_EQ(top.broken(), "");
}

TEST_P(forgetting, makes_nothing_before_it_is_done) {
  top.know(900);
  top.both(flow(900), 99'000, 16);
  top.on_post = [&](const command&) { EXPECT_EQ(top.core().table().held() - 1, 0U); };
  top.run();
  EXPECT_TRUE(top.holds(900));
  EXPECT_EQ(top.broken(), "");
}

INSTANTIATE_TEST_SUITE_P(after, forgetting, ::testing::Bool(), [](const auto& by) { return by.param ? "a_reset" : "a_discard"; });

// --- wraps ------------------------------------------------------------------------------------------------

// Run counts, waits and whatever else is summed are 64 bits wide: 2^32 runs are eight months of one each five milliseconds.
static_assert(same_as<decltype(pass_counters<>{}.value(pass_counter::fast_runs)), u64>);
static_assert(same_as<decltype(ring_counters<>{}.value(ring_counter::frames)), u64>);
static_assert(same_as<decltype(channel_figures::wait_sum_us), u64> && same_as<decltype(channel_figures::wait_n), u64>);
static_assert(same_as<decltype(instant::us), u64> && same_as<decltype(microseconds::count), u64>);

struct one_place {
  live_top<> top{1, 4};

  // Made and removed; the revision it had.
  u16 use() {
    top.both(flow(1), top.first_id(1));
    top.run_for(from_s(1));
    EXPECT_TRUE(top.holds(1));
    const u16 revision = top.of(1).revision;
    (void)top.core().remove(flow(1));
    top.run();
    EXPECT_EQ(top.core().table().held(), 0U);
    top.world.events.seen.clear();
    top.world.firewall.relaxed.clear();
    return revision;
  }
};

TEST(revision, goes_from_65535_to_1_over_the_uses_of_an_index) {
  one_place place;
  place.top.know(1);
  place.top.world.next_hops.one_hop = true;
  for (u32 n = 1; n < 0xffff; ++n) ASSERT_EQ(place.use(), n);
  EXPECT_EQ(place.use(), 0xffffU);
  EXPECT_EQ(place.use(), 1U) << "never 0, which names no use";
  EXPECT_EQ(place.use(), 2U);
  EXPECT_EQ(place.top.broken(), "");
  EXPECT_TRUE(place.top.far.entries.empty());
}

TEST(poll_number, wraps_and_polls_go_on) {
  fake_world world;
  using state = engine_state<fake_world, small_policies>;
  const auto s = std::make_unique<state>();
  std::vector<unsigned char> memory(1 << 16);
  void* first = memory.data();
  std::size_t room = memory.size();
  std::align(arena::alignment, room - arena::alignment, first, room);
  arena from{first, room};
  ASSERT_TRUE(s->table.init(from, 4, false) && s->due.init(from, 4) && s->held_back.init(from, 4));
  s->world = &world;
  s->poll.number = 0xffff'fffeU;
  u32 last_secret = 0;
  for (u32 n = 0; n < 5; ++n) {
    polling::begin(*s, instant{n * 1'000'000});
    EXPECT_EQ(s->poll.number, 0xffff'ffffU + n);
    EXPECT_TRUE(s->poll.walking);
    EXPECT_NE(s->poll.secret, last_secret) << "each poll draws its own lots";
    last_secret = s->poll.secret;
    polling::end(*s, instant{n * 1'000'000});
  }
  EXPECT_EQ(s->counters.value(pass_counter::polls), 5U);
}

// The record's signed differences of 32 bits failed at 25 days, its unsigned ones at 50.
struct old_age : ::testing::TestWithParam<u64> {
  const microseconds age = from_s(GetParam() * 86'400);
  live_top<> top{8, 8};

  void SetUp() override {
    top.world.firewall.lasts = from_s(86'400 * 400ULL);
    (void)top.core().set(setting::keepalive, 0, top.now);
    top.make(1, 2);
    ASSERT_TRUE(top.holds(1));
    // Nothing happens for long, but for polls that are far apart.
    (void)top.core().set(setting::poll_ms, 60'000, top.now);
    top.run_for(age);
    (void)top.core().set(setting::poll_ms, 1'000, top.now);
    top.run_for(from_s(2));
  }
};

TEST_P(old_age, does_not_keep_a_connection_from_being_probed_revived_and_taken_out) {
  ASSERT_TRUE(top.holds(1));
  (void)top.frame(flow(1), 1, top.first_id(1));
  command c = top.posted();
  ASSERT_EQ(c.kind, read_entry);
  const answer given_back{.entry = entry_state::pending, .entry_revision = top.of(1).revision, .identical = 10};
  top.answer_it(answer_code::done, given_back);
  ASSERT_EQ(top.posted().kind, create);
  top.answer_it();
  EXPECT_EQ(top.count(pass_counter::flow_revived), 1U);
  // It is left alone for ten milliseconds, and no longer.
  (void)top.frame(flow(1), 1, top.first_id(1));
  EXPECT_EQ(top.posted().kind, none);
  top.now = top.now + from_ms(10);
  (void)top.frame(flow(1), 1, top.first_id(1));
  ASSERT_EQ(top.posted().kind, read_entry);
  (void)top.core().set(setting::revive, 0, top.now);
  top.answer_it(answer_code::done, given_back);
  top.run();
  EXPECT_FALSE(top.find(1).is);
  EXPECT_EQ(top.count(pass_counter::hold_backs), 0U) << "it was not fresh";
  // And it is made again.
  top.both(flow(1), 5'000);
  top.run_for(from_s(2));
  EXPECT_TRUE(top.holds(1));
  EXPECT_EQ(top.broken(), "");
}

TEST_P(old_age, does_not_keep_a_connection_from_being_swept_and_repointed) {
  top.world.next_hops.mtu = 1'400;
  top.core().changed();
  top.run();
  EXPECT_EQ(top.count(pass_counter::flow_repoint), 4U);
  top.world.firewall.dead.push_back(2);
  top.run_for(from_s(1));
  EXPECT_FALSE(top.find(2).is);
  EXPECT_TRUE(top.holds(1));
  EXPECT_EQ(top.broken(), "");
}

TEST_P(old_age, does_not_keep_what_it_makes_from_being_held_back) {
  top.know(5);
  top.both(flow(5), top.first_id(5));
  top.run_for(from_s(1));
  ASSERT_TRUE(top.holds(5));
  (void)top.core().set(setting::revive, 0, top.now);
  top.now = top.now + from_ms(10);
  (void)top.frame(flow(5), 1, top.first_id(5));
  ASSERT_EQ(top.posted().kind, read_entry);
  top.answer_it(answer_code::done, {.entry = entry_state::pending, .entry_revision = top.of(5).revision, .identical = 10});
  const instant from = top.now;
  top.run();
  EXPECT_EQ(top.count(pass_counter::hold_backs), 1U);
  EXPECT_EQ(top.core().held_back().held_until(flow(5), top.core().hash_of(flow(5))), from + from_ms(1'000));
}

INSTANTIATE_TEST_SUITE_P(of_days, old_age, ::testing::Values(24, 25, 26, 49, 50, 51, 130),
                         [](const auto& days) { return fmt::format("{}", days.param); });

// 2^32 microseconds are 71 minutes and a half; the tick of a candidate is milliseconds, and crosses its own wrap here.
TEST(age, past_71_minutes_is_shown_right_from_any_base) {
  constexpr u64 wrap_ms = u64{1} << 32;
  for (const u64 base_ms : {u64{5'000}, wrap_ms - 60'000, wrap_ms - 4'000'000, wrap_ms / 2 - 1'000, 7 * wrap_ms - 100}) {
    live_top<> top{8, 8, instant{base_ms * 1'000}};
    (void)top.frame(flow(1), 1, 10);
    const instant punted = top.now;
    for (const u64 minutes : {70U, 71U, 72U, 80U, 150U, 1'500U}) {
      top.run_to(punted + from_s(minutes * 60));
      candidate<tuple4> seen;
      ASSERT_EQ(top.core().candidates_for<tuple4>().find(flow(1), top.core().hash_of(flow(1)), seen), got::one);
      EXPECT_EQ(seen.at.age(tick::at(top.now)), minutes * 60'000) << "from " << base_ms;
    }
    // A make goes by it: the other direction is a day and an hour old.
    top.know(1);
    (void)top.core().set(setting::cand_age, 86'400, top.now);
    (void)top.frame(reverse(flow(1)), 2, 11);
    top.run_for(from_s(1));
    EXPECT_EQ(top.count(reason::cand_aged), 1U) << "from " << base_ms;
    EXPECT_FALSE(top.holds(1));
  }
}

TEST(age, of_a_command_that_was_silent_for_hours_is_counted_whole) {
  live_top<> top;
  top.know(1);
  top.both(flow(1), 10);
  top.to_next_poll();
  const command c = top.posted();
  ASSERT_EQ(c.kind, next_hop_set);
  const instant posted = top.now;
  for (u32 m = 0; m < 90; ++m) {
    top.now = top.now + from_s(60);
    EXPECT_EQ(top.next().what, step::kind::wait);
  }
  top.answer_it(answer_code::done, top.far.execute(c));
  EXPECT_EQ(top.count(pass_counter::wait_last_us), top.now.since(posted).count);
  EXPECT_EQ(top.count(pass_counter::wait_max_us), u64{90} * 60'000'000U);
  EXPECT_EQ(top.count(pass_counter::cmd_unanswered), 1U);
  top.run_for(from_s(2));
  EXPECT_EQ(top.broken(), "");
}

}  // namespace
}  // namespace octep::test
