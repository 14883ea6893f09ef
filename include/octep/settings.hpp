// Settings: 32-bit values behind an enumeration and one table.
//
// Floor 1.
//
// What it is: name, unit, range, default and what happens at the falling edge, once; sysctl, command line and docs are
// made from it. `settings` holds the values and refuses what is out of range.
// What it refuses: text. The setter returns a code and the row; whoever has a language makes the message.
// What it buys: a range stands in one place, and the docs cannot drift.
// Concurrency: written under the pass lock. The receive path reads `fast_make_log2` and `enable` through the engine's own
// relaxed cells, not here.
#pragma once

#include <octep/base.hpp>

namespace octep {

// Appended, never renumbered: the values cross the C border. The settings of give-back, upkeep, hold-back and associations
// join here with the behaviour they switch.
enum class setting : u8 {
  enable,
  auto_make,
  fast,
  fast_make,
  fast_make_log2,
  cand_age,
  ipv6,
  poll_ms,
  run_gap_ms,
  run_attempts,
  poll_commands,
  make_per_run,
  make_per_sec,
  cmd_step_us,
  cmd_limit_ms,
  udp_oneway_ms,
  count_
};

inline constexpr usize setting_count = static_cast<usize>(setting::count_);

struct setting_row {
  setting is;
  const char* name;
  const char* unit;  // "" for a switch or a plain number
  u32 least;
  u32 most;
  u32 initial;
  const char* meaning;
  const char* falling_edge;  // what a smaller value, or 0, does to what is there
};

// Defaults: system.md 15. Ranges are ours: the smallest that leaves the machine working, the largest that was tried.
inline constexpr setting_row setting_rows[] = {
    {setting::enable, "enable", "", 0, 1, 1, "The engine works at all.",
     "One discard empties the far side's flow table, then not one command is posted."},
    {setting::auto_make, "auto", "", 0, 1, 1, "Connections are made.",
     "Nothing is made; what is held stays."},
    {setting::fast, "fast", "", 0, 1, 1, "Runs happen between polls.",
     "No run begins; one that is under way ends at its next boundary."},
    {setting::fast_make, "fast_make", "", 0, 1, 1, "Runs make connections.",
     "Only the poll makes connections; due candidates wait for it."},
    {setting::fast_make_log2, "fast_make_log2", "log2 frames", 0, 20, 4,
     "A candidate is due at this power of two of frames, and at each doubling after.",
     "Candidates become due sooner, from their next frame on."},
    {setting::cand_age, "cand_age", "s", 0, 86'400, 0,
     "A make declines another direction whose candidate is older; 0 for no limit.",
     "From the next make on; 0 lifts the limit."},
    {setting::ipv6, "ipv6", "", 0, 1, 0, "IPv6 connections are made, on a device that forwards them.",
     "No further IPv6 connection is made; what is held stays."},
    {setting::poll_ms, "poll_ms", "ms", 10, 60'000, 1'000, "Time between two polls.",
     "The next poll is due this long after the last one began."},
    {setting::run_gap_ms, "run_gap_ms", "ms", 0, 1'000, 5, "Least time between two runs.", "From the next run on."},
    {setting::run_attempts, "run_attempts", "", 1, 1'024, 8, "Attempts of a run on held connections.",
     "At once, a run under way too."},
    {setting::poll_commands, "poll_commands", "", 1, 1'024, 8, "Attempts of a poll's walk that posted a command.",
     "At once, a walk under way too."},
    {setting::make_per_run, "make_per_run", "", 0, 1'024, 4, "Makes tried in one run.",
     "At once, a run under way too."},
    {setting::make_per_sec, "make_per_sec", "", 0, 100'000, 64, "Makes tried by runs between two polls.",
     "From the next poll on."},
    {setting::cmd_step_us, "cmd_step_us", "us", 1, 1'000, 20, "How often the glue looks for an answer.",
     "From the next command on."},
    {setting::cmd_limit_ms, "cmd_limit_ms", "ms", 1, 60'000, 2'000, "A command is unanswered after this long.",
     "From the next command on."},
    {setting::udp_oneway_ms, "udp_oneway_ms", "ms", 0, 600'000, 3'000,
     "A UDP state this old is settled although only one peer was heard more than once.",
     "Younger one-way states count as settled."},
};

static_assert(sizeof(setting_rows) / sizeof(setting_rows[0]) == setting_count);

[[nodiscard]] constexpr const setting_row& row(setting s) noexcept { return setting_rows[static_cast<usize>(s)]; }

enum class set_result : u8 { ok, below, above };

class settings {
 public:
  constexpr settings() noexcept {
    for (const setting_row& r : setting_rows) value_[static_cast<usize>(r.is)] = r.initial;
  }
  [[nodiscard]] constexpr u32 operator[](setting s) const noexcept { return value_[static_cast<usize>(s)]; }
  [[nodiscard]] constexpr bool on(setting s) const noexcept { return (*this)[s] != 0; }

  // Out of range changes nothing; `row(s)` has the range for the message.
  [[nodiscard]] constexpr set_result set(setting s, u32 to) noexcept {
    const setting_row& r = row(s);
    if (to < r.least) return set_result::below;
    if (to > r.most) return set_result::above;
    value_[static_cast<usize>(s)] = to;
    return set_result::ok;
  }

 private:
  u32 value_[setting_count]{};
};

namespace detail {
consteval bool setting_rows_hold() noexcept {
  for (usize i = 0; i < setting_count; ++i) {
    const setting_row& r = setting_rows[i];
    if (static_cast<usize>(r.is) != i || r.initial < r.least || r.initial > r.most) return false;
  }
  return true;
}
static_assert(setting_rows_hold(), "a row stands where its value is, and its default is in range");
}  // namespace detail

}  // namespace octep
