// Counters: what happened how often, in core memory.
//
// Floor 2.
//
// What it is: one block a ring for the receive path, one block for the passes, and the tables that name each counter.
// Every reason is a counter too, beside the named ones: of frames in the rings' blocks, of candidates in the passes'.
// What it refuses: a read-modify-write instruction, and two names for one cause. So `cand_aged`, `auto_full`,
// `nhop_full`, `fast_make_spent` and their like are no rows of the tables below: they are reasons, moved by
// `add(reason)`.
// What that buys: a count in the receive path is a plain load and a plain store in a line that no other ring writes.
// Concurrency: each block has ONE writer (a ring; whoever holds the pass lock); anybody reads at any time. A sum over
// rings is made of numbers that were each true while it was read, and a reader never sees one go down.
//
// Counts are 64 bits: at 100,000,000 frames a second one wraps after 5,800 years.
#pragma once

#include <octep/atomic.hpp>
#include <octep/base.hpp>
#include <octep/reasons.hpp>

namespace octep {

struct counter_text {
  const char* name;      // stable: sysctl, JSON, dumps
  const char* unit;
  const char* moved_by;  // one sentence
};

// Appended, never renumbered: the values cross the C border.
enum class ring_counter : u8 {
  frames,
  bytes,
  hot_frames,
  cand_pushed,
  cand_lost,
  cand_evicted,
  cand_evicted_read,
  cand_due,
  fast_kicks,
  count_
};

// Appended, never renumbered: the values cross the C border.
enum class pass_counter : u8 {
  polls,
  walk_seen,
  flow_attempts,
  slots_busy,
  auto_made,
  fast_runs,
  fast_scans,
  fast_made,
  fast_make_tries,
  fast_make_refused,
  flow_reclaimed,
  flow_doomed,
  flow_aborted,
  nhop_shared,
  nhop_set,
  nhop_released,
  cmd_posted,
  cmd_refused,
  cmd_unanswered,
  cmd_late,
  cmd_unknown_tag,
  wait_last_us,
  wait_max_us,
  wait_sum_us,
  wait_n,
  discards,
  cand_kept,
  flow_forgot,
  flow_attached,
  flow_revived,
  revive_refused,
  flow_repoint,
  probe_reads,
  probe_valid,
  probe_pending,
  probe_waits,
  hold_backs,
  hold_forgot,
  gap_found,
  gap_expired,
  sweep_asked,
  sweep_dead,
  ka_reads,
  ka_touched,
  ka_idle,
  room_idle,
  dirty_asked,
  notices,
  notices_lost,
  removed_by_hand,
  far_side_resets,
  assoc_installed,
  assoc_deleted,
  assoc_refused,
  assoc_reads,
  assoc_margins,
  stat_rebase,
  count_
};

inline constexpr usize ring_counter_count = static_cast<usize>(ring_counter::count_);
inline constexpr usize pass_counter_count = static_cast<usize>(pass_counter::count_);

template <class Counter>
struct counter_row {
  Counter is;
  counter_text text;
};

inline constexpr counter_row<ring_counter> ring_counter_rows[] = {
    {ring_counter::frames, {"frames", "frames", "A punted frame, whatever becomes of it."}},
    {ring_counter::bytes, {"bytes", "bytes", "A punted frame, by its length on the wire without metadata."}},
    {ring_counter::hot_frames,
     {"hot_frames", "frames", "A punted frame whose hot bucket says that its tuple is perhaps held."}},
    {ring_counter::cand_pushed, {"cand_pushed", "frames", "A frame written into the candidate table."}},
    {ring_counter::cand_lost,
     {"cand_lost", "candidates", "A write over a candidate that no pass had read, its own tuple's too."}},
    {ring_counter::cand_evicted,
     {"cand_evicted", "candidates", "A write over another tuple's candidate that no pass had read."}},
    {ring_counter::cand_evicted_read,
     {"cand_evicted_read", "candidates", "A write over another tuple's candidate that a make could still have used."}},
    {ring_counter::cand_due,
     {"cand_due", "candidates", "A candidate whose count reached 1 << fast_make_log2, or doubled since."}},
    {ring_counter::fast_kicks, {"fast_kicks", "kicks", "The request for a run going from not asked to asked."}},
};

inline constexpr counter_row<pass_counter> pass_counter_rows[] = {
    {pass_counter::polls, {"polls", "polls", "A poll that begins."}},
    {pass_counter::walk_seen, {"walk_seen", "candidates", "A walk that takes an unread candidate."}},
    {pass_counter::flow_attempts, {"flow_attempts", "attempts", "An attempt of a walk that posted a command."}},
    {pass_counter::slots_busy, {"slots_busy", "slots", "A pass that skips a slot because a ring holds its word."}},
    {pass_counter::auto_made, {"auto_made", "connections", "A connection made, by a poll or a run."}},
    {pass_counter::fast_runs, {"fast_runs", "runs", "A run that begins."}},
    {pass_counter::fast_scans,
     {"fast_scans", "look-ups", "A run that looks up a candidate nobody asked about, and finds no connection."}},
    {pass_counter::fast_made, {"fast_made", "connections", "A connection made by a run."}},
    {pass_counter::fast_make_tries, {"fast_make_tries", "attempts", "A run that tries to make a due candidate."}},
    {pass_counter::fast_make_refused,
     {"fast_make_refused", "attempts", "A run's make that is refused, for any reason."}},
    {pass_counter::flow_reclaimed, {"flow_reclaimed", "connections", "A connection taken out, its record freed."}},
    {pass_counter::flow_doomed,
     {"flow_doomed", "connections", "A connection whose command was not answered: the audit will take it out."}},
    {pass_counter::flow_aborted,
     {"flow_aborted", "connections", "A make given up after its first command because the connection changed."}},
    {pass_counter::nhop_shared, {"nhop_shared", "next hops", "A make that found its next hop already programmed."}},
    {pass_counter::nhop_set, {"nhop_set", "next hops", "A next hop programmed."}},
    {pass_counter::nhop_released, {"nhop_released", "next hops", "A next hop released after its last reference went."}},
    {pass_counter::cmd_posted, {"cmd_posted", "commands", "A command posted."}},
    {pass_counter::cmd_refused, {"cmd_refused", "commands", "A command answered with an error."}},
    {pass_counter::cmd_unanswered, {"cmd_unanswered", "commands", "A command that has waited cmd_limit_ms, once."}},
    {pass_counter::cmd_late,
     {"cmd_late", "commands", "An answer that came after its command had counted as unanswered."}},
    {pass_counter::cmd_unknown_tag,
     {"cmd_unknown_tag", "answers", "An answer to a tag that is not outstanding; it changes nothing."}},
    {pass_counter::wait_last_us, {"wait_last_us", "us", "An answer: how long its command waited, this time."}},
    {pass_counter::wait_max_us, {"wait_max_us", "us", "An answer whose command waited longer than any before."}},
    {pass_counter::wait_sum_us, {"wait_sum_us", "us", "An answer, by how long its command waited."}},
    {pass_counter::wait_n, {"wait_n", "answers", "An answer whose wait was measured."}},
    {pass_counter::discards, {"discards", "discards", "A discard that the far side answered as done."}},
    {pass_counter::cand_kept, {"cand_kept", "slots", "A slot that a discard left alone because a ring held its word."}},
    {pass_counter::flow_forgot, {"flow_forgot", "connections", "A connection that a discard or a reset made the engine forget."}},
    {pass_counter::flow_attached, {"flow_attached", "directions", "A direction programmed under the identity that its frame brought."}},
    {pass_counter::flow_revived, {"flow_revived", "connections", "A connection told to go on after it was given back."}},
    {pass_counter::revive_refused, {"revive_refused", "connections", "A revive that the far side refused."}},
    {pass_counter::flow_repoint, {"flow_repoint", "directions", "A direction programmed to leave by another next hop."}},
    {pass_counter::probe_reads, {"probe_reads", "reads", "A read of an entry whose connection's frames are punted."}},
    {pass_counter::probe_valid, {"probe_valid", "reads", "Such a read that found the entry valid: nothing is done."}},
    {pass_counter::probe_pending, {"probe_pending", "reads", "Such a read that found the connection given back."}},
    {pass_counter::probe_waits, {"probe_waits", "frames", "A punted frame met while its entry is not to be read again yet."}},
    {pass_counter::hold_backs, {"hold_backs", "connections", "A connection held back: given back and taken out soon after its make."}},
    {pass_counter::hold_forgot, {"hold_forgot", "connections", "A hold forgotten because there was no room for another."}},
    {pass_counter::gap_found, {"gap_found", "makes", "A make that waited for its gap and found it."}},
    {pass_counter::gap_expired, {"gap_expired", "makes", "A make that went ahead without its gap."}},
    {pass_counter::sweep_asked, {"sweep_asked", "connections", "A poll that asks whether a connection's states live."}},
    {pass_counter::sweep_dead, {"sweep_dead", "connections", "A connection found with a state that is gone."}},
    {pass_counter::ka_reads, {"ka_reads", "reads", "A read of a microflow's stamp."}},
    {pass_counter::ka_touched, {"ka_touched", "connections", "A connection that moved: its states were restamped."}},
    {pass_counter::ka_idle, {"ka_idle", "connections", "A connection found idle: nothing moved over two readings."}},
    {pass_counter::room_idle, {"room_idle", "connections", "An idle connection that made room for another."}},
    {pass_counter::dirty_asked, {"dirty_asked", "connections", "A connection asked about again after rules or routes changed."}},
    {pass_counter::notices, {"notices", "notices", "A notice that a pass took."}},
    {pass_counter::notices_lost, {"notices_lost", "notices", "Notices that found no room: everything is asked about again."}},
    {pass_counter::removed_by_hand, {"removed_by_hand", "connections", "A connection that an operator had removed."}},
    {pass_counter::far_side_resets, {"far_side_resets", "resets", "The far side restarted and knows nothing."}},
    {pass_counter::assoc_installed, {"assoc_installed", "associations", "An association that the far side was given."}},
    {pass_counter::assoc_deleted, {"assoc_deleted", "associations", "An association that the far side was told to forget."}},
    {pass_counter::assoc_refused, {"assoc_refused", "commands", "A command about an association that was refused."}},
    {pass_counter::assoc_reads, {"assoc_reads", "reads", "A read of an association's counters that was answered."}},
    {pass_counter::assoc_margins,
     {"assoc_margins", "associations", "An association whose sequence counter was put forward for its first microflow."}},
    {pass_counter::stat_rebase,
     {"stat_rebase", "reads", "A read of an association's counters that no line could have carried: a new baseline."}},
};

static_assert(sizeof(ring_counter_rows) / sizeof(ring_counter_rows[0]) == ring_counter_count);
static_assert(sizeof(pass_counter_rows) / sizeof(pass_counter_rows[0]) == pass_counter_count);

[[nodiscard]] constexpr const counter_text& text(ring_counter c) noexcept {
  return ring_counter_rows[static_cast<usize>(c)].text;
}
[[nodiscard]] constexpr const counter_text& text(pass_counter c) noexcept {
  return pass_counter_rows[static_cast<usize>(c)].text;
}
[[nodiscard]] constexpr const char* name(ring_counter c) noexcept { return text(c).name; }
[[nodiscard]] constexpr const char* name(pass_counter c) noexcept { return text(c).name; }

// A reason as a counter. `none` is nobody's. The record calls a clash `cand_clash`.
[[nodiscard]] constexpr counter_text text(reason r) noexcept {
  const char* const counted_as = r == reason::clash ? "cand_clash" : row(r).name;
  return {counted_as, is_frame_reason(r) ? "frames" : is_removal_reason(r) ? "connections" : "candidates", row(r).sentence};
}

// Counters that are sums of their causes (system.md 15).
inline constexpr counter_text flow_unsettled_text{"flow_unsettled", "candidates",
                                                  "The sum of flow_unsettled_opening, _closing and _one_way."};
inline constexpr counter_text flow_nonhop_text{
    "flow_nonhop", "candidates",
    "The sum of flow_nonhop_no_route, _rejected, _unresolved, _not_front, _local and _mtu."};

namespace detail {
consteval bool counter_rows_in_order() noexcept {
  for (usize i = 0; i < ring_counter_count; ++i)
    if (static_cast<usize>(ring_counter_rows[i].is) != i) return false;
  for (usize i = 0; i < pass_counter_count; ++i)
    if (static_cast<usize>(pass_counter_rows[i].is) != i) return false;
  return true;
}
static_assert(counter_rows_in_order(), "a row stands where its value is");

// Both accesses are relaxed: the one writer reads back only what it wrote, and a reader wants a figure, not an order.
template <class Cell>
void count(Cell& cell, u64 by) noexcept {
  cell.store_relaxed(cell.load_relaxed() + by);
}
}  // namespace detail

// One ring's block. Aligned and padded to cache lines, so that two rings never write to one.
template <atomics_policy A = builtin_atomics>
class alignas(64) ring_counters {
 public:
  // For a block in memory that nothing constructed: before any ring writes.
  void clear() noexcept {
    for (auto& cell : cells_) cell.store_relaxed(0);  // relaxed: start only
  }

  // Receive path, the block's own ring.
  void add(ring_counter c, u64 by = 1) noexcept { detail::count(cells_[static_cast<usize>(c)], by); }
  // A reason that is not a frame's moves nothing.
  void add(reason r) noexcept {
    if (is_frame_reason(r)) detail::count(cells_[place(r)], 1);
  }

  // Any thread. Relaxed: a figure, nothing follows from it.
  [[nodiscard]] u64 value(ring_counter c) const noexcept { return cells_[static_cast<usize>(c)].load_relaxed(); }
  [[nodiscard]] u64 value(reason r) const noexcept { return is_frame_reason(r) ? cells_[place(r)].load_relaxed() : 0; }

 private:
  static constexpr usize reasons =
      static_cast<usize>(last_frame_reason) - static_cast<usize>(first_frame_reason) + 1;

  [[nodiscard]] static constexpr usize place(reason r) noexcept {
    return ring_counter_count + static_cast<usize>(r) - static_cast<usize>(first_frame_reason);
  }

  array<typename A::template cell<u64>, ring_counter_count + reasons> cells_;
};

// The passes' block. Every writer holds the pass lock.
template <atomics_policy A = builtin_atomics>
class pass_counters {
 public:
  void clear() noexcept {
    for (auto& cell : cells_) cell.store_relaxed(0);  // relaxed: start only
  }

  void add(pass_counter c, u64 by = 1) noexcept { detail::count(cell(c), by); }
  void add(reason r) noexcept { detail::count(cells_[place(r)], 1); }
  void set(pass_counter c, u64 to) noexcept { cell(c).store_relaxed(to); }  // relaxed: as `count`
  // Raises to `to`, never lowers.
  void greatest(pass_counter c, u64 to) noexcept {
    if (value(c) < to) set(c, to);
  }

  // Any thread. Relaxed: a figure, nothing follows from it.
  [[nodiscard]] u64 value(pass_counter c) const noexcept { return cells_[static_cast<usize>(c)].load_relaxed(); }
  [[nodiscard]] u64 value(reason r) const noexcept { return cells_[place(r)].load_relaxed(); }

 private:
  [[nodiscard]] auto& cell(pass_counter c) noexcept { return cells_[static_cast<usize>(c)]; }
  // A place for every reason, frames' too: thirteen idle words cost less than a hole to fall into.
  [[nodiscard]] static constexpr usize place(reason r) noexcept { return pass_counter_count + static_cast<usize>(r); }

  array<typename A::template cell<u64>, pass_counter_count + reason_count> cells_;
};

// Over all rings. `What` is a ring_counter or a frame's reason.
template <class Rings, class What>
[[nodiscard]] u64 sum(const span<Rings>& rings, What what) noexcept {
  u64 total = 0;
  for (const auto& ring : rings) total += ring.value(what);
  return total;
}

// A block is anything whose `value(reason)` answers.
template <class Block>
[[nodiscard]] u64 flow_unsettled(const Block& passes) noexcept {
  return passes.value(reason::flow_unsettled_opening) + passes.value(reason::flow_unsettled_closing) +
         passes.value(reason::flow_unsettled_one_way);
}
template <class Block>
[[nodiscard]] u64 flow_nonhop(const Block& passes) noexcept {
  return passes.value(reason::flow_nonhop_no_route) + passes.value(reason::flow_nonhop_rejected) +
         passes.value(reason::flow_nonhop_unresolved) + passes.value(reason::flow_nonhop_not_front) +
         passes.value(reason::flow_nonhop_local) + passes.value(reason::flow_nonhop_mtu);
}

// Every counter there is, once, in the order of the tables: frames' side, frames' reasons, passes' side, candidates'
// reasons, sums. `each(const counter_text&, u64)`. Any thread; each value is read when its turn comes.
template <class Rings, atomics_policy A, class Each>
void for_each_counter(const span<Rings>& rings, const pass_counters<A>& passes, Each&& each) noexcept {
  for (const auto& r : ring_counter_rows) each(r.text, sum(rings, r.is));
  for (const auto& r : reason_rows)
    if (is_frame_reason(r.is)) each(text(r.is), sum(rings, r.is));
  for (const auto& r : pass_counter_rows) each(r.text, passes.value(r.is));
  for (const auto& r : reason_rows)
    if (r.is != reason::none && !is_frame_reason(r.is)) each(text(r.is), passes.value(r.is));
  each(flow_unsettled_text, flow_unsettled(passes));
  each(flow_nonhop_text, flow_nonhop(passes));
}

}  // namespace octep
