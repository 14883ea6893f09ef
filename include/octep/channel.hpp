// The command channel: one command at a time, a tag each, and what is known of the one that is out.
//
// Floor 4.
//
//   quiet ──post──▶ out ──overdue──▶ out, late
//     ▲              │                  │
//     └──answered────┴───answered───────┤
//     └──void_outstanding───────────────┘
//
// What it is: the buffer that the far side may read until it answers, and the figures of the waits.
// What it refuses: a second command while one is out, late or not (the buffer still belongs to the far side), and an
// answer to any other tag, which is counted and changes nothing. Tags never repeat, so an answer that was given up is
// never taken for another's.
// What that buys: "not answered" is never read as "no" (system.md 12).
// Concurrency: everything under the pass lock; the glue reads the current command between `post` and its answer.
#pragma once

#include <octep/base.hpp>
#include <octep/commands.hpp>
#include <octep/ticks.hpp>

namespace octep {

// Waits are from post to answer, late answers included; a command that was given up has none.
struct channel_figures {
  u64 wait_last_us = 0;
  u64 wait_max_us = 0;
  u64 wait_sum_us = 0;
  u64 wait_n = 0;
  u64 cmd_refused = 0;
  u64 cmd_unanswered = 0;   // passed their limit, whether or not an answer came later
  u64 cmd_unknown_tag = 0;  // answers to nothing that is out: duplicates, given up, never posted
};

enum class heard : u8 { ok, unknown_tag };

class channel {
 public:
  // The command's tag, from 1. 0: one is out already, and nothing was posted.
  [[nodiscard]] u64 post(const command& what, instant now) noexcept {
    if (outstanding_) return 0;
    current_ = what;
    posted_at_ = now;
    outstanding_ = true;
    late_ = false;
    return ++tag_;
  }

  [[nodiscard]] bool outstanding() const noexcept { return outstanding_; }
  // The last command that was posted, its tag and when; they stay readable after its answer, until the next post.
  [[nodiscard]] const command& current() const noexcept { return current_; }
  [[nodiscard]] u64 tag() const noexcept { return tag_; }
  [[nodiscard]] instant posted_at() const noexcept { return posted_at_; }
  // Whether that command passed its limit before it was answered.
  [[nodiscard]] bool late() const noexcept { return late_; }

  // ok: the one that was out is answered, with whatever code, late or not. unknown_tag: nothing changed.
  [[nodiscard]] heard answered(u64 tag, const answer& a, instant now) noexcept {
    if (!outstanding_ || tag != tag_) {
      ++figures_.cmd_unknown_tag;
      return heard::unknown_tag;
    }
    outstanding_ = false;
    const u64 wait_us = now.since(posted_at_).count;
    figures_.wait_last_us = wait_us;
    figures_.wait_max_us = greatest(figures_.wait_max_us, wait_us);
    figures_.wait_sum_us += wait_us;
    ++figures_.wait_n;
    if (a.code == answer_code::refused) ++figures_.cmd_refused;
    return heard::ok;
  }

  // True once a command: when the one that is out has waited `limit` or longer. It stays out.
  [[nodiscard]] bool overdue(instant now, microseconds limit) noexcept {
    if (!outstanding_ || late_ || now.since(posted_at_) < limit) return false;
    late_ = true;
    ++figures_.cmd_unanswered;
    return true;
  }
  // When `overdue` will next be true; `never` if nothing is out or it is late already.
  [[nodiscard]] instant overdue_at(microseconds limit) const noexcept {
    return outstanding_ && !late_ ? posted_at_ + limit : never;
  }

  // The far side was reset or is gone: no answer to what is out will be taken. Harmless when nothing is out.
  void void_outstanding() noexcept { outstanding_ = false; }

  [[nodiscard]] const channel_figures& figures() const noexcept { return figures_; }

 private:
  command current_;
  u64 tag_ = 0;
  instant posted_at_;
  bool outstanding_ = false;
  bool late_ = false;
  channel_figures figures_;
};

}  // namespace octep
