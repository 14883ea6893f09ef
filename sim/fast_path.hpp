// The fast path of a model coprocessor: what it forwards, what it punts, and what commands do to it (coprocessor.md).
//
//   frame ─▶ no flow ─────────────────────────────────────────────▶ punted, no identity
//        └─▶ (port, VLAN, tuple) ─▶ microflow ─┬ not active ──────▶ punted
//                                              ├ entry not usable ▶ punted, and the microflow is condemned
//                                              ├ next hop stale ──▶ punted
//                                              ├ gives it back ───▶ punted, and the entry is pending (give_back_rule.hpp)
//                                              └ else ────────────▶ translated, encrypted if it names an association, forwarded,
//                                                                   stamped
//
// What it is: a microflow, connection and next-hop table behind the calls of a device: a frame arrives, a command is
// executed, time passes. Every way out is counted under the device's name.
// What it refuses: knowing anything of the host's tables. An identity is its own, and a create copies what it is told.
// What that buys: a host that repeats a stale identity, reuses an index or forgets a reclaim is found out here.
// Time is an argument and never goes back.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include <octep/commands.hpp>
#include <octep/identity.hpp>
#include <octep/ticks.hpp>

#include "sim/association_engine.hpp"
#include "sim/device_counters.hpp"
#include "sim/give_back_rule.hpp"
#include "sim/model_constants.hpp"
#include "sim/paced_queue.hpp"
#include "sim/place_index.hpp"
#include "sim/pool.hpp"
#include "sim/random.hpp"
#include "sim/tcp_flags.hpp"
#include "sim/wide_tuple.hpp"

namespace octep::sim {

// A frame as the fast path's own parser saw it.
struct wire_frame {
  ingress where;
  bool is_flow = false;  // frame_facts::why == reason::none
  wide_tuple tuple;      // as it arrives
  tcp_segment tcp;       // of anything but TCP: nothing
  u32 ip_bytes = 0;  // IP length, against the next hop's MTU; 0: not asked
  u8 ttl = 64;
  u32 bytes = 0;  // as the engine that encrypts counts them
};

// What became of a frame.
struct verdict {
  enum class what : u8 { forwarded, punted, dropped };

  what is = what::dropped;
  device_counter why = device_counter::drop_wire_overrun;  // the counter that was moved
  identity who;                   // punted: as the metadata names it; word 0: no flow
  bool has_microflow = false;     // `who` and `connection` are meaningful
  handle connection;              // forwarded: the entry that vouched for it
  wide_tuple leaves;              // forwarded: as it leaves
  next_hop hop;                   // forwarded: where it leaves
  handle association;             // forwarded: what encrypted it, as the engine has it; revision 0: it left in the clear
  u32 number = 0;                 // of that association's sequence numbers, the one it left under
  u32 ring = 0;                   // punted: 0 to punt_rings - 1
  instant done;                   // forwarded: on the wire; punted: at the host
};

// A read-only view of one microflow, for reconciling tests.
struct microflow_view {
  wide_tuple tuple;
  ingress where;
  identity who;
  bool active = false;            // a create or program named it
  bool condemned = false;         // on the terminal timer
  u8 direction = 0;
  u8 ring = 0;                    // where its punted frames go
  instant last_frame;             // the last frame, whatever became of it
  // What is above is all that a punted frame asks, in one line of a processor's memory.
  handle connection;              // active: the entry it points at, and the revision it names
  handle next_hop;
  rewrite to;
  handle association;             // as its command named it
  instant stamp;                  // the last forwarded frame; 0 for none

  // As read_microflow tells it: a clock of milliseconds, so frames of one millisecond move it once. 0: none was forwarded.
  [[nodiscard]] u32 stamp_word() const noexcept { return stamp.us == 0 ? 0 : static_cast<u32>(stamp.us / 1'000 + 1); }
};

struct entry_view {
  entry_state state = entry_state::reclaimed;
  u16 revision = 0;
  u8 identical = 0;
  connection_block block;
};

struct fast_path_options {
  u64 seed = 1;
  u32 microflows = microflow_capacity;  // ids 1 to this
  u32 connections = 1'022;              // device_facts::connections
  u32 next_hops = 254;                  // device_facts::next_hops
  u32 associations = 254;               // device_facts::associations
  u64 wire_frame_ns = 0;                // 0: no queueing
  u64 kn_frame_ns = 0;                  // hand-over to the host; 0: no queueing
  u32 queue_room = 0;                   // 0: no bound
  give_back_rule gives_back{};          // nothing is given back by its frames
};

class fast_path {
 public:
  explicit fast_path(const fast_path_options& options = {});

  // --- inputs -------------------------------------------------------------------------------------------
  verdict arrive(const wire_frame& frame, instant now);
  // The same into a blank verdict, without a copy of one.
  void arrive(verdict& v, const wire_frame& frame, instant now);
  // A frame that the host forwards or sends joins the wire's queue; when it will be on the wire, or nothing: overrun.
  std::optional<instant> host_sends(instant now);
  // Executes at once. Latency and faults are the command port's.
  answer execute(const command& what, instant now);
  // Microflows whose time is over go, queues move. Every other call does this by itself.
  void advance(instant now) {
    // Asked several times a frame, and nearly always there is nothing to do.
    if (!deadlines_.empty() && deadlines_.top().at <= now) bury_the_silent(now);
    move_queues(now);
  }
  // It restarted and knows no microflow, entry or next hop. Counters go on, and what is in queues leaves as it would have.
  void restart(instant now);

  // The entry goes to pending, as by the give-back rule (tests, scenarios). False: it was not valid.
  bool give_back(u32 index, u8 identical);

  // An association is installed with the kernel's sequence number, which the glue reads as it encodes the command. Without: 0.
  void read_numbers_by(std::function<u64(u32 kernel)> by) { number_of_ = std::move(by); }
  // A frame of a tunnel was decrypted, and goes on as `arrive` has it. False: the engine does not have that association.
  bool decrypt(handle by, u32 bytes, instant now) { return engine_.decrypt(by, bytes, now); }

  // A frame of the host's own. Nothing: the engine does not have that association.
  std::optional<u32> encrypt(handle by, u32 bytes, instant now) { return engine_.encrypt(by, bytes, now); }

  // --- looking ------------------------------------------------------------------------------------------
  [[nodiscard]] const association_engine& ipsec() const noexcept { return engine_; }
  [[nodiscard]] const device_counters& counters() const noexcept { return counters_; }
  // The conservation law, what is in queues counted.
  [[nodiscard]] bool conserved(std::string* why = nullptr) const;
  // Identities, look-up and free list agree; no identity names two living microflows.
  [[nodiscard]] bool consistent(std::string* why = nullptr) const;

  [[nodiscard]] const microflow_view* find(ingress where, const wide_tuple& tuple) const;
  [[nodiscard]] const microflow_view* find(identity who) const;
  [[nodiscard]] std::vector<microflow_view> microflows() const;         // all that live, by id
  [[nodiscard]] std::vector<microflow_view> active_microflows() const;  // by id
  [[nodiscard]] usize microflow_count() const noexcept { return by_key_.size(); }
  [[nodiscard]] const entry_view& entry(u32 index) const { return entries_.at(index); }
  [[nodiscard]] u32 connections() const noexcept { return static_cast<u32>(entries_.size()); }
  // The hop that is set at this index and revision.
  [[nodiscard]] const next_hop* hop(handle which) const;

 private:
  struct alignas(64) microflow_record {
    microflow_view view;
    microseconds patience;     // silence that ends it while nobody programmed it
    instant terminal_at = never;
    instant queued_for = never;  // its one entry in deadlines_ that counts; an earlier one replaces it
  };
  // What stays of an id when its microflow is gone. A record apart: ids rest as long as they can, so that a table of records by id
  // would grow to all of them, however few live at a time.
  struct id_record {
    u32 place = place_index::nowhere;  // where its microflow lives
    u8 revision = 0;                   // of the last microflow with this id
  };
  struct hop_record {
    bool set = false;
    u16 revision = 0;
    next_hop hop;
  };
  struct deadline {
    instant at;
    u32 id;
    [[nodiscard]] bool operator>(const deadline& b) const noexcept { return b.at == at ? id > b.id : b.at < at; }
  };

  [[nodiscard]] u32 place_of(ingress where, const wide_tuple& tuple) const;
  [[nodiscard]] microflow_record* look_up_or_create(ingress where, const wide_tuple& tuple, instant now);
  [[nodiscard]] microflow_record* named(identity who);
  void bury(microflow_record& m);
  void bury_all();
  void watch(microflow_record& m);
  [[nodiscard]] instant due(const microflow_record& m) const noexcept;
  [[nodiscard]] instant look_at_or_after(instant t) const noexcept;
  [[nodiscard]] bool in_range(identity who) const noexcept;
  [[nodiscard]] answer_code create(const command& what);
  [[nodiscard]] answer_code program(const command& what);
  void point(microflow_record& m, handle connection, u8 direction, const microflow& told);
  [[nodiscard]] answer_code deactivate(identity who);
  void read_microflow(identity who, answer& a);
  [[nodiscard]] answer_code reclaim(handle connection);
  [[nodiscard]] answer_code release(handle next_hop);
  void read_association(u32 index, instant now, answer& a);
  [[nodiscard]] device_counter usable(const microflow_record& m) const;
  [[nodiscard]] device_counter track(const microflow_record& m, const wire_frame& frame);
  void bury_the_silent(instant now);
  void punt(verdict& v, device_counter why, u32 ring, instant now);
  void forward(verdict& v, microflow_record& m, const wire_frame& frame, instant now);
  void move_queues(instant now) {
    counters_.add(device_counter::tx_wire, wire_queue_.departed(now));
    counters_.add(device_counter::tx_kn, kn_queue_.departed(now));
  }

  fast_path_options options_;
  generator random_;
  u64 look_phase_us_;  // phase of the once-a-second look
  device_counters counters_;
  paced_queue wire_queue_;
  paced_queue kn_queue_;

  place_index by_key_;
  pool<microflow_record> records_;
  std::vector<id_record> ids_;      // [id - 1]; grows to options_.microflows
  std::deque<u32> free_;            // first in, first out: an id rests as long as it can
  std::priority_queue<deadline, std::vector<deadline>, std::greater<>> deadlines_;
  std::vector<entry_view> entries_;
  std::vector<identical_frames> tracked_;  // beside entries_; blank from each create on
  std::vector<hop_record> hops_;
  association_engine engine_;
  std::function<u64(u32 kernel)> number_of_;
};

}  // namespace octep::sim
