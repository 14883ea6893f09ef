#include <octep/channel.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <vector>

namespace octep {
namespace {

constexpr microseconds limit = from_ms(2);
constexpr answer done{};
constexpr answer no{answer_code::refused, entry_state::reclaimed, 0, 0};

command reclaim(u32 index) {
  command c;
  c.kind = command_kind::reclaim;
  c.target = {index, 1};
  return c;
}

TEST(Channel, LendsOneCommandAtATime) {
  channel c;
  EXPECT_FALSE(c.outstanding());
  EXPECT_EQ(c.post(reclaim(5), {10}), 1U);
  EXPECT_TRUE(c.outstanding());
  EXPECT_EQ(c.current().target.index, 5U);
  EXPECT_EQ(c.post(reclaim(6), {11}), 0U) << "the buffer is the far side's";
  EXPECT_EQ(c.current().target.index, 5U);
  EXPECT_EQ(c.posted_at(), instant{10});
  EXPECT_EQ(c.answered(1, done, {12}), heard::ok);
  EXPECT_FALSE(c.outstanding());
  EXPECT_EQ(c.current().target.index, 5U) << "whoever hears the answer still sees what was asked";
  EXPECT_EQ(c.post(reclaim(6), {13}), 2U);
}

TEST(Channel, MeasuresTheWait) {
  channel c;
  for (const u64 wait : {25U, 3'000U, 40U}) {
    const u64 tag = c.post(reclaim(0), {1'000'000});
    EXPECT_EQ(c.answered(tag, done, {1'000'000 + wait}), heard::ok);
    EXPECT_EQ(c.figures().wait_last_us, wait);
  }
  EXPECT_EQ(c.figures().wait_max_us, 3'000U);
  EXPECT_EQ(c.figures().wait_sum_us, 3'065U);
  EXPECT_EQ(c.figures().wait_n, 3U);
  EXPECT_EQ(c.figures().cmd_refused, 0U);
}

TEST(Channel, ARefusalIsAnAnswer) {
  channel c;
  const u64 tag = c.post(reclaim(0), {0});
  EXPECT_EQ(c.answered(tag, no, {5}), heard::ok);
  EXPECT_EQ(c.figures().cmd_refused, 1U);
  EXPECT_EQ(c.figures().cmd_unanswered, 0U);
  EXPECT_EQ(c.figures().wait_n, 1U);
  EXPECT_FALSE(c.outstanding());
}

TEST(Channel, IsOverdueOnceAndStaysOutUntilTheAnswerThatComesLate) {
  channel c;
  const u64 tag = c.post(reclaim(0), {100});
  EXPECT_EQ(c.overdue_at(limit), instant{2'100});
  EXPECT_FALSE(c.overdue({2'099}, limit));
  EXPECT_FALSE(c.late());
  EXPECT_TRUE(c.overdue({2'100}, limit));
  EXPECT_FALSE(c.overdue({2'101}, limit));
  EXPECT_EQ(c.overdue_at(limit), never);
  EXPECT_EQ(c.figures().cmd_unanswered, 1U);
  EXPECT_TRUE(c.outstanding());
  EXPECT_TRUE(c.late());
  EXPECT_EQ(c.post(reclaim(1), {2'200}), 0U);
  EXPECT_EQ(c.answered(tag, done, {9'100}), heard::ok);
  EXPECT_TRUE(c.late()) << "still told of the command that was just answered";
  EXPECT_FALSE(c.outstanding());
  EXPECT_EQ(c.figures().wait_max_us, 9'000U);
  EXPECT_NE(c.post(reclaim(1), {9'200}), 0U);
  EXPECT_FALSE(c.late());
}

TEST(Channel, AnAnswerToAnythingElseIsCountedAndChangesNothing) {
  channel c;
  EXPECT_EQ(c.answered(0, done, {1}), heard::unknown_tag) << "nothing was ever posted";
  const u64 first = c.post(reclaim(0), {0});
  EXPECT_EQ(c.answered(first + 1, no, {5}), heard::unknown_tag);
  EXPECT_EQ(c.answered(0, no, {5}), heard::unknown_tag);
  EXPECT_TRUE(c.outstanding());
  EXPECT_EQ(c.answered(first, done, {6}), heard::ok);
  EXPECT_EQ(c.answered(first, no, {7}), heard::unknown_tag) << "a duplicate";
  const u64 second = c.post(reclaim(1), {8});
  EXPECT_EQ(c.answered(first, no, {9}), heard::unknown_tag) << "a duplicate while another is out";
  EXPECT_TRUE(c.outstanding());
  EXPECT_EQ(c.answered(second, done, {10}), heard::ok);
  EXPECT_EQ(c.figures().cmd_unknown_tag, 5U);
  EXPECT_EQ(c.figures().cmd_refused, 0U);
  EXPECT_EQ(c.figures().wait_n, 2U);
}

TEST(Channel, WhatWasVoidedIsNeverAnswered) {
  channel c;
  const u64 tag = c.post(reclaim(0), {0});
  c.void_outstanding();
  EXPECT_FALSE(c.outstanding());
  EXPECT_FALSE(c.overdue({1'000'000}, limit));
  EXPECT_EQ(c.overdue_at(limit), never);
  EXPECT_EQ(c.answered(tag, done, {5}), heard::unknown_tag);
  EXPECT_EQ(c.figures().wait_n, 0U);
  const u64 next = c.post(reclaim(1), {6});
  EXPECT_NE(next, tag);
  EXPECT_EQ(c.answered(tag, done, {7}), heard::unknown_tag)
      << "the restarted far side's new command is not answered by it";
  EXPECT_TRUE(c.outstanding());
}

TEST(Channel, AClockThatStoodStillOrWentBackIsAWaitOfNothing) {
  channel c;
  const u64 tag = c.post(reclaim(0), {1'000});
  EXPECT_FALSE(c.overdue({0}, limit));
  EXPECT_EQ(c.answered(tag, done, {0}), heard::ok);
  EXPECT_EQ(c.figures().wait_sum_us, 0U);
}

// --- any sequence against a model ----------------------------------------------------------------------------

enum class does { post, answer_current, answer_other, look, give_up };
struct step {
  does what;
  u32 wait_us;
  bool refuse;
  u32 other;
};

RC_GTEST_PROP(Channel, IsOneCommandAndItsTagUnderAnySequence, ()) {
  const auto steps = *rc::gen::container<std::vector<step>>(rc::gen::build<step>(
      rc::gen::set(&step::what,
                   rc::gen::element(does::post, does::answer_current, does::answer_other, does::look, does::give_up)),
      rc::gen::set(&step::wait_us, rc::gen::element<u32>(0, 1, 25, 1'999, 2'000, 2'001, 10'000)),
      rc::gen::set(&step::refuse, rc::gen::arbitrary<bool>()),
      rc::gen::set(&step::other, rc::gen::inRange<u32>(0, 5))));

  // The model: at most one command that is out, and six sums.
  struct out {
    u64 tag;
    u64 at_us;
    u32 index;
    bool late;
  };
  std::optional<out> is_out;
  u64 last_tag = 0;
  u64 answered = 0, waited = 0, longest = 0, refused = 0, unanswered = 0, unknown = 0;

  channel c;
  u64 now = 1'000;
  u32 index = 0;
  for (const step& s : steps) {
    now += s.wait_us;
    switch (s.what) {
      case does::post: {
        const u64 tag = c.post(reclaim(++index), {now});
        RC_ASSERT((tag == 0) == is_out.has_value());
        if (tag == 0) break;
        RC_ASSERT(tag > last_tag);
        last_tag = tag;
        is_out = out{tag, now, index, false};
        break;
      }
      case does::answer_current: {
        const heard h = c.answered(last_tag, s.refuse ? no : done, {now});
        RC_ASSERT((h == heard::ok) == is_out.has_value());
        if (h != heard::ok) {
          ++unknown;
          break;
        }
        RC_ASSERT(c.late() == is_out->late);
        RC_ASSERT(c.current().target.index == is_out->index);
        ++answered;
        waited += now - is_out->at_us;
        longest = std::max(longest, now - is_out->at_us);
        refused += s.refuse ? 1 : 0;
        is_out.reset();
        break;
      }
      case does::answer_other: {
        // Any tag but the last one: 0, earlier ones, ones that are still to come.
        const u64 tag = s.other < 3 ? last_tag - std::min<u64>(last_tag, s.other + 1) : last_tag + s.other;
        if (tag == last_tag) break;
        RC_ASSERT(c.answered(tag, s.refuse ? no : done, {now}) == heard::unknown_tag);
        ++unknown;
        break;
      }
      case does::look: {
        const bool due = is_out.has_value() && !is_out->late && now - is_out->at_us >= limit.count;
        RC_ASSERT((c.overdue_at(limit) <= instant{now}) == due);
        RC_ASSERT(c.overdue({now}, limit) == due);
        if (due) is_out->late = true;
        unanswered += due ? 1 : 0;
        break;
      }
      case does::give_up:
        c.void_outstanding();
        is_out.reset();
        break;
    }
    RC_ASSERT(c.outstanding() == is_out.has_value());
    if (is_out) RC_ASSERT(c.tag() == is_out->tag);
    const channel_figures& f = c.figures();
    RC_ASSERT(f.wait_n == answered);
    RC_ASSERT(f.wait_sum_us == waited);
    RC_ASSERT(f.wait_max_us == longest);
    RC_ASSERT(f.cmd_refused == refused);
    RC_ASSERT(f.cmd_unanswered == unanswered);
    RC_ASSERT(f.cmd_unknown_tag == unknown);
  }
}

}  // namespace
}  // namespace octep
