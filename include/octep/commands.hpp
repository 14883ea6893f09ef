// Commands: what the engine asks the far side to do, and what it answers.
//
// Floor 3.
//
//   kind                carries                               answered
//   next_hop_set        next-hop index, revision, hop         done or refused
//   next_hop_release    next-hop index, revision              done or refused
//   create              connection block, NAT, 2 microflows   done (a dead identity is skipped in silence) or refused
//   deactivate          one identity                          done (a stale identity too) or refused
//   reclaim             connection index, revision            done or refused
//   read_entry          connection index                      the entry, or refused
//   discard             nothing: the far side's table empties done or refused
//   program             connection, direction, 1 microflow    done (a dead identity is skipped in silence) or refused
//   read_microflow      one identity                          its stamp, and whether it lives; or refused
//   association_add     association index, revision, kernel's number   done or refused
//   association_delete  association index, revision           done or refused
//   association_read    association index                     what its index's counters read, or refused
//
// A create whose microflows name no identity changes the entry alone: that is a revive. A command is a value. The engine
// lends one at a time; the glue encodes it into the device's own form, the keys of an association too.
//
// Refuses: a device's encoding. Buys: one engine for every device, and a model that needs no bytes.
// Concurrency: the one command belongs to the engine until it is answered, and to nobody else.
#pragma once

#include <octep/association.hpp>
#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/next_hop.hpp>
#include <octep/tuple.hpp>

namespace octep {

// What one direction's frames are rewritten to. Addresses in the first word for IPv4. A field equal to the frame's own
// means no translation of it.
struct rewrite {
  address6 source{};
  address6 destination{};
  u32 ports = 0;  // as in a tuple; for an echo the first word is the translated id

  [[nodiscard]] constexpr bool operator==(const rewrite&) const noexcept = default;
};

struct microflow {
  identity who;  // as it was punted
  ingress where;
  handle next_hop;
  rewrite to;
  handle association{};  // that encrypts its frames, as a far side names it: index + 1; revision 0: they leave in the clear

  [[nodiscard]] constexpr bool operator==(const microflow&) const noexcept = default;
};

struct connection_block {
  handle connection;
  family which = family::ipv4;
  protocol proto = protocol::tcp;
  bool track_tcp = false;
  bool translates = false;  // some microflow's rewrite differs from its tuple

  [[nodiscard]] constexpr bool operator==(const connection_block&) const noexcept = default;
};

// Appended, never renumbered: the values cross the C border.
enum class command_kind : u8 {
  none,
  next_hop_set,
  next_hop_release,
  create,
  deactivate,
  reclaim,
  read_entry,
  discard,
  program,
  read_microflow,
  association_add,
  association_delete,
  association_read,
  count_
};

struct command {
  command_kind kind = command_kind::none;
  handle target;                  // next hop, connection or association
  next_hop hop;                   // next_hop_set
  connection_block block;         // create
  u8 direction = 0;               // program
  bool encrypts = false;          // association_add
  u32 kernel = 0;                 // association_add, association_delete: the kernel's number of it
  array<microflow, 2> microflows;  // create: direction 0 and 1; deactivate, program, read_microflow: [0]
};

enum class answer_code : u8 { done, refused };

enum class entry_state : u8 { reclaimed, valid, pending };

struct answer {
  answer_code code = answer_code::done;
  // read_entry only.
  entry_state entry = entry_state::reclaimed;
  u16 entry_revision = 0;
  u8 identical = 0;  // frames in a row, of the give-back rule
  // read_microflow only. The stamp is the far side's own clock: it moves whenever a frame of the microflow is forwarded, and
  // means nothing else.
  bool lives = false;  // the identity still names that microflow
  u32 stamp = 0;
  // association_read only: of the index, whoever used it (system.md 13).
  association_traffic traffic{};
};

[[nodiscard]] constexpr const char* name(command_kind k) noexcept {
  constexpr const char* names[] = {"none",       "next_hop_set", "next_hop_release", "create",
                                   "deactivate", "reclaim",      "read_entry",       "discard",
                                   "program",    "read_microflow", "association_add", "association_delete", "association_read"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<usize>(command_kind::count_));
  return names[static_cast<usize>(k)];
}

}  // namespace octep
