// Events: what passes did, as one typed stream.
//
// Floor 4.
//
// What it is: one struct that every pass hands to the world's sink, in order. `why`, histograms, probes and traces are
// readers of it. The receive path sends none: it writes only its ring's counters.
// What it refuses: text, allocation, waiting. What that buys: a sink that does nothing costs nothing.
// Concurrency: called under the pass lock, from the one worker.
#pragma once

#include <octep/base.hpp>
#include <octep/commands.hpp>
#include <octep/reasons.hpp>
#include <octep/ticks.hpp>
#include <octep/tuple.hpp>

namespace octep {

// Appended, never renumbered: the values cross the C border.
enum class event_kind : u8 {
  poll_begins,
  poll_ends,
  run_begins,
  run_ends,
  make_begins,
  made,
  refused,
  take_out_begins,
  taken_out,
  command_posted,
  command_answered,
  command_unanswered,
  discard_begins,
  discarded,
  attached,     // one direction under the identity that its frame brought
  given_back,   // the far side had stopped using the entry: its read said so
  revived,
  repointed,    // one direction leaves by another next hop
  held_back,    // until `until`: taken out too soon after its make
  hold_ends,
  idle,         // nothing moved over two readings of its stamps
  touched,      // something did, and the firewall's states were restamped
  far_side_reset,
  far_side_gone,
  association_installed,
  association_deleted,
  count_
};

// Who asked for an operation: the poll's walk, a run between polls, or the end of a wait.
enum class asker : u8 { poll, run, wait };

struct event {
  event_kind kind = event_kind::poll_begins;
  asker by = asker::poll;
  reason why = reason::none;        // refused, take_out_begins, taken_out
  command_kind what = command_kind::none;
  answer_code code = answer_code::done;
  family which = family::ipv4;      // which of the tuples below is meaningful
  bool names_tuple = false;
  u8 direction = 0;                 // of the tuple in the connection; make: of the frame at hand
  instant at;
  u64 tag = 0;                      // commands
  instant until;                    // held_back, hold_ends: when its wait is over
  handle connection;                // of the association in events of those
  u32 count = 0;                    // refused, make_begins: frames the candidate has counted
  tuple4 v4;
  tuple6 v6;
  // Since when what the event tells was on its way, `never` where nobody knows. made: the first punted frame that is known of, to
  // a millisecond; given_back: when its entry was read for a punted frame.
  instant first_seen = never;
};

[[nodiscard]] constexpr const char* name(event_kind k) noexcept {
  constexpr const char* names[] = {"poll_begins",      "poll_ends",        "run_begins",         "run_ends",
                                   "make_begins",      "made",             "refused",            "take_out_begins",
                                   "taken_out",        "command_posted",   "command_answered",   "command_unanswered",
                                   "discard_begins",   "discarded",        "attached",           "given_back",
                                   "revived",          "repointed",        "held_back",          "hold_ends",
                                   "idle",             "touched",          "far_side_reset",     "far_side_gone",
                                   "association_installed", "association_deleted"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<usize>(event_kind::count_));
  return names[static_cast<usize>(k)];
}

template <class E>
concept event_sink = requires(E& sink, const event& e) { sink(e); };

}  // namespace octep
