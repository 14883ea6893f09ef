// What an engine is made of: the world it asks, and the policies it was built with.
//
// Floor 5.
//
// A World is one object: `firewall` and `next_hops` are asked, `associations` is told what the far side spent of the kernel's,
// `device` is read, `guard` is entered around a slot's word, `kick` wakes the worker, `events` is told. Two devices in one
// machine are two worlds.
// Policies are types and constants, whole in one struct. None is inherited: a constant that the base derived from another
// stays stale when the derived struct hides it.
//
// Refuses: a default for any of the world's parts. Buys: what a world does not answer does not compile.
#pragma once

#include <octep/association.hpp>
#include <octep/atomic.hpp>
#include <octep/budget.hpp>
#include <octep/candidates.hpp>
#include <octep/choice.hpp>
#include <octep/device.hpp>
#include <octep/events.hpp>
#include <octep/firewall.hpp>
#include <octep/hash.hpp>
#include <octep/next_hop.hpp>
#include <octep/rank_and_lot.hpp>
#include <octep/refusals.hpp>
#include <octep/tags.hpp>

namespace octep {

// Entered by a pass around every slot word it takes: a holder that is preempted keeps every ring from the slot. The
// receive path enters its own critical section once per batch of frames, outside `punt`.
template <class G>
concept guard_policy = requires(G& g) {
  g.enter();
  g.leave();
};

template <class W>
concept world_policy = firewall_policy<decltype(W::firewall)> && next_hop_source<decltype(W::next_hops)> &&
                       association_policy<decltype(W::associations)> && guard_policy<decltype(W::guard)> &&
                       event_sink<decltype(W::events)> && requires(W& w) {
  { device_facts{w.device} } -> same_as<device_facts>;
  // Asks that `next` be called soon. Called by any ring, inside its critical section, on a 0-to-1 edge; and under the pass
  // lock when somebody set something or asked for a discard. It must not call into the engine, wait, or take a lock that a
  // pass holds.
  w.kick();
};

// What a walk's budget counts. The record's first poll counted every attempt, and eight refusals starved whoever stood
// behind them (system.md 6); what costs is a command.
enum class walk_counts : u8 { commands_posted, attempts };

// What a full table does for a newcomer (system.md, N6). Recorded: nothing, whoever holds a place keeps it.
enum class full_table : u8 { keeps_all, idle_makes_room };

// octep's default design.
struct default_policies {
  // Sixteen places keep a pair beside twelve hostile flows; 128 slots keep what 1,022 connections send, where 64 forget one
  // frame in twelve (docs/choice.md).
  static constexpr limits geometry{.slots = 128, .places = 16};
  using atomics = builtin_atomics;
  using hash = keyed_mix;
  using choice = rank_and_lot;
  using tags = scalar_tags;  // a host takes vector_tags
  using refusals = refusals_by_tuple<geometry.slots, refusals_room, 256>;  // few of IPv6: recorded devices do not forward it
  using make_budget = plain_budget;
  static constexpr u32 rings = 8;  // receive rings (coprocessor.md)
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  // Ours: a walk begins where the last one stopped, and marks are cleared when it ends. Recorded: each begins at slot 0,
  // and marks are cleared when it begins.
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  // Candidates that a walk looks at before the pass lock is given up for a moment: 2,048 strangers would keep it for
  // milliseconds, most of them spent in the firewall (ours, N5).
  static constexpr u32 walk_slice = 256;
  static constexpr full_table room = full_table::idle_makes_room;
  // Whether IPv6 connections can be made at all. A device that forwards none spares the text of it; its IPv6 frames are still
  // candidates, and refused by name.
  static constexpr bool ipv6 = true;
};

}  // namespace octep
