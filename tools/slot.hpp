// `octep slot`: where tuples fall in the candidate table and the hot table, and which ports fall there too.
//
// The hash, its seed and the sizes are the ones of `octep replay`, with the same defaults, so a slot that is named here is the
// slot that a replay uses.
// Concurrency: functions of their arguments.
#pragma once

#include <octep/engine/policies.hpp>

#include "sim/any_hash.hpp"
#include "tools/command.hpp"
#include "tools/tuple_text.hpp"

#include <string>
#include <variant>
#include <vector>

namespace octep::tools {

struct slot_options {
  std::vector<any_tuple> tuples;
  sim::hash_kind hash = sim::hash_kind::keyed;
  u64 seed = 1;             // of the keyed hash
  u32 slots = default_policies::geometry.slots;  // a power of two
  u32 connections = 1'022;  // that can be held: the hot table's size follows
  u32 find = 0;             // how many ports to list that share a tuple's slot
  u32 self = 0;             // how many ports to list whose own two directions share a slot
  bool json = false;
};

// Where one direction of a connection falls.
struct landing {
  any_tuple tuple;
  u32 hash = 0;
  u32 slot = 0;
  u32 hot_bucket = 0;
};

struct placement {
  landing arriving;
  landing reversed;              // the other direction, when nothing is translated
  std::vector<u16> sharing;      // other source ports (an echo: identifiers) that fall into arriving.slot, ascending
  std::vector<u16> both_in_one;  // source ports with which both directions fall into one slot, whichever

  [[nodiscard]] bool shares_slot() const { return arriving.slot == reversed.slot; }
};

[[nodiscard]] placement place(const any_tuple& tuple, const slot_options& options);

// The options, or what to say instead: help, or one line about what is wrong.
[[nodiscard]] std::variant<slot_options, outcome> parse_slot_options(const arguments& given);

[[nodiscard]] outcome slot_command(const arguments& given);

}  // namespace octep::tools
