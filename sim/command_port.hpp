// The command port as the glue sees it: a command goes in with a tag, its answer is there some time later, or never.
//
//   submit ──latency──▶ executed by the fast path ──▶ answer lies ready ──▶ seen at the glue's next look
//
// What it is: latency and faults in front of fast_path::execute, as events of one queue. Answers are looked for every
// cmd_step_us, and once a millisecond past the limit (system.md 12), so an answer is delivered at a look, not between.
// What it refuses: knowing whether a second command is allowed. A second one while one is outstanding is executed like the
// first and counted in `overlaps()`, which a correct host keeps at 0.
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include <octep/commands.hpp>

#include "sim/event_queue.hpp"
#include "sim/fast_path.hpp"
#include "sim/random.hpp"

namespace octep::sim {

// What happens to one command, instead of the usual.
struct command_fault {
  enum class kind : u8 {
    refuse,     // not executed, answered with an error
    late,       // executed after the usual latency, its answer lies ready `delay` after it was submitted
    lost,       // executed, never answered
    ignored,    // neither
    duplicate,  // executed once, answered twice: the second answer `delay` after the first
    wrong_tag,  // executed, answered under a tag nobody used
  };
  kind is = kind::refuse;
  microseconds delay;
};

class command_port {
 public:
  struct options {
    u64 seed = 1;
    u32 step_us = 20;       // setting cmd_step_us
    u32 limit_ms = 2'000;   // setting cmd_limit_ms
    std::optional<microseconds> fixed_latency{};  // instead of the distribution
  };
  using deliver = std::function<void(u64 tag, const answer& what, instant now)>;

  command_port(event_queue& events, fast_path& far_side, options how, deliver to)
      : events_{&events}, far_side_{&far_side}, how_{how}, random_{how.seed, 2}, deliver_{std::move(to)} {}

  void submit(u64 tag, const command& what, instant now);

  // --- faults -------------------------------------------------------------------------------------------
  // The next command, once; queued in order.
  void next_fault(command_fault f) { faults_.push_back(f); }
  // Chosen for each command that no queued fault meets; an empty answer is no fault.
  using chooser = std::function<std::optional<command_fault>(const command&, instant)>;
  void choose_faults(chooser by) { chooser_ = std::move(by); }
  // From now on nothing is executed or answered; what was submitted meanwhile is kept, and done in order when it speaks again.
  void fall_silent() noexcept { silent_ = true; }
  void speak_again(instant now);
  // It restarted: commands that were not executed and answers that were not seen are gone.
  void restart() noexcept;

  [[nodiscard]] options& how() noexcept { return how_; }

  // --- looking ------------------------------------------------------------------------------------------
  [[nodiscard]] u64 submitted() const noexcept { return submitted_; }
  [[nodiscard]] u64 executed() const noexcept { return executed_; }
  [[nodiscard]] u64 overlaps() const noexcept { return overlaps_; }
  [[nodiscard]] bool silent() const noexcept { return silent_; }
  // One draw of the latency distribution, for tests of its shape.
  [[nodiscard]] microseconds draw_latency();

 private:
  struct pending {
    u64 tag;
    command what;
    instant submitted;
    std::optional<command_fault> fault;
  };

  void start(pending p, instant now);
  void execute(const pending& p, instant now);
  void answer_at(u64 tag, const answer& what, instant submitted, instant ready, bool ends_it);
  [[nodiscard]] instant look_at_or_after(instant submitted, instant ready) const noexcept;
  [[nodiscard]] std::optional<command_fault> fault_for(const command& what, instant now);

  event_queue* events_;
  fast_path* far_side_;
  options how_;
  generator random_;
  deliver deliver_;
  chooser chooser_;
  std::deque<command_fault> faults_;
  std::deque<pending> unheard_;  // would have been executed while silent
  bool silent_ = false;
  instant last_execution_;  // one at a time, in order
  u64 life_ = 0;  // events of an earlier life do nothing
  u64 unanswered_ = 0;
  u64 submitted_ = 0;
  u64 executed_ = 0;
  u64 overlaps_ = 0;
};

}  // namespace octep::sim
