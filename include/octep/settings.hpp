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

// Appended, never renumbered: the values cross the C border.
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
  revive,
  keepalive,
  probe_gap_ms,
  revive_min_ms,
  revive_max_ms,
  revive_peace_ms,
  hold_fresh_ms,
  hold_min_ms,
  hold_max_ms,
  gap_quiet_us,
  gap_first_ms,
  gap_again_ms,
  sweep_lookups,
  upkeep_commands,
  dirty_lookups,
  room_reads,
  ipsec_flows,
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
    {setting::revive, "revive", "", 0, 1, 1, "A connection that was given back is told to go on.",
     "From the next give-back on it is taken out instead."},
    {setting::keepalive, "keepalive", "", 0, 1, 1, "What moves in hardware keeps the firewall's states alive.",
     "No stamp is read to keep a state alive: states end by their own timers, and the sweep takes out what they leave."},
    {setting::probe_gap_ms, "probe_gap_ms", "ms", 0, 1'000, 5, "Least time between two reads of a connection's entry.",
     "From the next read on."},
    {setting::revive_min_ms, "revive_min_ms", "ms", 0, 60'000, 10, "A revived connection is left alone this long.",
     "From the next revive on; 0 never waits."},
    {setting::revive_max_ms, "revive_max_ms", "ms", 0, 60'000, 500, "The doubling of that wait ends here.",
     "From the next revive on."},
    {setting::revive_peace_ms, "revive_peace_ms", "ms", 0, 600'000, 1'000,
     "After this long without a give-back the wait starts over.", "From the next revive on."},
    {setting::hold_fresh_ms, "hold_fresh_ms", "ms", 0, 600'000, 10'000,
     "A connection that is given back and taken out this soon after its make is held back.",
     "From the next take-out on; 0 holds nothing back."},
    {setting::hold_min_ms, "hold_min_ms", "ms", 0, 600'000, 1'000, "The first hold.",
     "From the next hold on; 0 holds nothing back."},
    {setting::hold_max_ms, "hold_max_ms", "ms", 0, 3'600'000, 60'000, "The doubling of holds ends here.",
     "From the next hold on."},
    {setting::gap_quiet_us, "gap_quiet_us", "us", 0, 1'000'000, 0,
     "A make waits until both directions were quiet this long: what the host's path takes at most; 0 waits for nothing.",
     "From the next make on; with 0 what waits goes ahead when it is looked at next."},
    {setting::gap_first_ms, "gap_first_ms", "ms", 0, 1'000, 2, "A first make waits for its gap no longer than this.",
     "From the next make on."},
    {setting::gap_again_ms, "gap_again_ms", "ms", 0, 10'000, 50, "A remake waits for its gap no longer than this.",
     "From the next make on."},
    {setting::sweep_lookups, "sweep_lookups", "", 1, 1'000'000, 256, "Connections whose states a poll asks for.",
     "From the next poll on; the bound on what outlives its state grows."},
    {setting::upkeep_commands, "upkeep_commands", "", 2, 100'000, 64,
     "Commands between two polls that keep connections true. Reads of stamps wait for more; ways out that moved do not.", "From the next poll on."},
    {setting::dirty_lookups, "dirty_lookups", "", 1, 1'000'000, 64,
     "Connections asked about again in one pass, after rules or routes changed.", "From the next pass on."},
    {setting::room_reads, "room_reads", "", 0, 100'000, 16, "Connections whose stamps a poll of a full table reads to find who is idle.",
     "From the next poll on; 0 finds nobody."},
    {setting::ipsec_flows, "ipsec_flows", "", 0, 2, 0,
     "Tunnelled connections in hardware: 0 none; 1 only directions that do not come out of a tunnel; 2 all, and then a clear-text "
     "frame with the tuple of such a direction is let in from the tunnel's port.",
     "Whatever is more than that is taken out."},
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
