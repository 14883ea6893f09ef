// A stateful firewall as pf keeps it: the model that answers the engine's question "which connection is this tuple's?".
//
//                 side 0 (the opener's)                    side 1 (the responder's)
//   opener ──▶ wire key ─[destination NAT]─▶ stack key == stack key ─[source NAT]─▶ wire key ──▶ responder
//
// What it is: two states for a forwarded connection, one per side of the appliance, each with a wire key, a stack key, two
// peers, a timer class and a stamp. Keys stand the opener's way round; an echo's words never change places. Source NAT
// allocates a port (or an echo's id), destination NAT is a rule. Implements firewall_policy.
// A strict state drops a TCP segment outside its window; a relaxed one asks nothing and learns nothing, so that after traffic it
// did not see its windows are old. Segments without numbers pass every state.
// What it refuses: a pointer in an answer, a clock, rule syntax. Rules are predicates that tests and tools write.
// Time is an argument and never goes back. A state is dead at its expiry, whether or not `expire` has been called.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <octep/firewall.hpp>

#include "sim/model_constants.hpp"
#include "sim/place_index.hpp"
#include "sim/pool.hpp"
#include "sim/random.hpp"
#include "sim/tcp_flags.hpp"
#include "sim/wide_tuple.hpp"

namespace octep::sim {

// Rules see the tuple of a connection's first frame and where it arrived: destination NAT and the rest see it as it arrived,
// source NAT as destination NAT left it.
using rule_predicate = std::function<bool(const wide_tuple&, ingress where)>;

struct source_nat_rule {
  rule_predicate applies;
  address6 to{};            // one address; the first word for IPv4
  bool static_port = false; // keep the source word; a connection that would collide is dropped
  u16 port_least = nat_port_least;  // port numbers, and numbers of echo ids
  u16 port_most = nat_port_most;
};

struct destination_nat_rule {
  rule_predicate applies;
  address6 to{};
  std::optional<u16> port;  // a port number; nothing: kept. An echo's type never changes
};

struct firewall_options {
  u64 seed = 1;
  // TCP without its SYN creates states too (replay needs it). Off, such a frame is dropped.
  bool picks_up = true;
  // Off, every state is a relaxed one: where it may not have seen all that a peer sent, as in a replay, it has nothing to judge by.
  bool judges_numbers = true;
  rule_predicate passes;  // empty: everything passes
  std::vector<source_nat_rule> source_nat;            // the first that applies
  std::vector<destination_nat_rule> destination_nat;  // the first that applies
  std::function<eligibility(const wide_tuple&, ingress where)> verdict;             // empty: everything may leave the host
  std::function<array<own_route, 2>(const wide_tuple&, ingress where)> own_routes;  // empty: none
};

enum class firewall_timer : u8 { tcp_opening, tcp_established, tcp_closing, tcp_closed, udp_single, udp_multiple, icmp };

// What a state knows of the numbers that one peer sends. Compared around the wrap, as TCP does.
struct peer_window {
  bool known = false;
  u32 end = 0;       // the highest that it sent
  u32 may_send = 0;  // the highest that the other peer made room for
  u32 room = 0;      // the widest window that it told, in bytes
};

// One state, as a dump shows it. What a frame without numbers asks of it stands first and together.
struct firewall_state {
  state_id id;
  u8 side = 0;       // 0: the opener's side of the appliance, 1: the responder's
  peer_state peers[2] = {peer_state::silent, peer_state::silent};  // opener, responder
  bool syn_seen[2] = {false, false};
  bool fin_seen[2] = {false, false};
  firewall_timer timer = firewall_timer::tcp_opening;
  bool relaxed = false;
  bool picked_up = false;  // a TCP state without the connection's SYN
  wide_tuple wire;   // the opener's way round, as on the wire of its side
  instant expires;
  instant last;

  wide_tuple stack;  // the opener's way round, as between the two translations
  instant created;
  peer_window windows[2];  // of the numbers that opener and responder send
  eligibility verdict = reason::none;
  array<own_route, 2> route{};
  wide_tuple first;    // what rules saw when it began, and see again at a reload
  ingress first_from;
};

// `state_mismatch`: outside the window of a strict state.
enum class firewall_drop : u8 { blocked, no_syn, nat_full, collides, other_side_gone, state_mismatch, count_ };
[[nodiscard]] const char* name(firewall_drop d) noexcept;

struct firewall_pass {
  bool passed = false;
  firewall_drop why = firewall_drop::blocked;  // not passed
  bool created = false;                        // this frame began a connection
  u8 direction = 0;                            // 0: from the opener
  wide_tuple leaves;                           // passed: as it leaves
};

class firewall {
 public:
  explicit firewall(firewall_options options = {});

  // --- what frames do -----------------------------------------------------------------------------------
  // A frame that the host forwards: creates or refreshes states, says how it leaves. `tuple` as it arrives.
  firewall_pass on_host_frame(const wide_tuple& tuple, const tcp_segment& tcp, ingress where, instant now);
  // Removes what is over. Only memory depends on it.
  void expire(instant now) {
    // Asked several times a frame, and nearly always there is nothing to do.
    if (!deadlines_.empty() && deadlines_.begin()->first <= now.us) remove_the_dead(now);
  }

  // --- what people do -----------------------------------------------------------------------------------
  bool kill(state_id id);  // false: no such state
  void flush();            // a rule reload that keeps nothing
  // Rules for connections from now on; living states keep what they were made with.
  [[nodiscard]] firewall_options& rules() noexcept { return options_; }
  // A rule reload that keeps the states: verdicts and own routes are what the rules say now. A state that would be blocked
  // now lives on, as in pf.
  void reload();
  // Strict again, with windows learnt from the next segments. Without that, a relaxed state stays relaxed.
  void relearn(const array<state_id, 2>& ids, instant now);

  // --- firewall_policy ----------------------------------------------------------------------------------
  [[nodiscard]] firewall_answer<tuple4> find(const tuple4& t, instant now) { return answer_for<tuple4>(t, now); }
  [[nodiscard]] firewall_answer<tuple6> find(const tuple6& t, instant now) { return answer_for<tuple6>(t, now); }
  [[nodiscard]] bool alive(const array<state_id, 2>& ids, instant now) const;
  [[nodiscard]] microseconds remaining(const array<state_id, 2>& ids, instant now) const;
  void restamp(const array<state_id, 2>& ids, instant now);
  void relax(const array<state_id, 2>& ids, instant now);

  // --- looking ------------------------------------------------------------------------------------------
  [[nodiscard]] const firewall_state* state(state_id id) const;
  [[nodiscard]] std::vector<firewall_state> states() const;  // by id
  [[nodiscard]] usize size() const noexcept { return by_id_.size(); }
  [[nodiscard]] u64 dropped(firewall_drop d) const noexcept { return dropped_[static_cast<usize>(d)]; }
  [[nodiscard]] u64 picked_up() const noexcept { return picked_up_; }
  // Moves with every kill, flush and reload: a notice is due when it has.
  [[nodiscard]] u64 changes() const noexcept { return changes_; }
  // The indexes and the states agree; no two states arrive by one tuple.
  [[nodiscard]] bool consistent(std::string* why = nullptr) const;

 private:
  struct alignas(64) record {
    u32 place = 0;  // its own
    u32 other = place_index::nowhere;  // the other side's of this connection: they share a stack key
    instant queued_for = never;        // its entry in deadlines_; never: none
    firewall_state shown;  // its id is 0: nobody lives here
  };
  struct connection {
    record* side[2] = {nullptr, nullptr};
    u8 direction = 0;
  };
  using outcome = std::optional<firewall_drop>;  // nothing: passed

  template <tuple_type Tuple>
  [[nodiscard]] firewall_answer<Tuple> answer_for(const Tuple& t, instant now);
  [[nodiscard]] connection look_up(const wide_tuple& arriving, instant now);
  [[nodiscard]] record* living(u32 place, instant now);
  [[nodiscard]] u32 arriving_by(const wide_tuple& tuple) const;
  [[nodiscard]] u32 stacked_as(u32 side, const wide_tuple& stack) const;
  [[nodiscard]] u32 place_of(state_id id) const;
  [[nodiscard]] wide_tuple destination_translated(wide_tuple t, ingress where) const;
  [[nodiscard]] outcome translate_source(wide_tuple& t, ingress where, instant now);
  [[nodiscard]] outcome begin(connection& c, const wide_tuple& first, tcp_flags flags, ingress where, instant now);
  void ask_rules(firewall_state& s) const;
  record& add(const firewall_state& s, instant now);
  void remove(record& r);
  void remove_the_dead(instant now);
  void track(record& r, u8 direction, tcp_flags flags, instant now);
  void watch(record& r);
  void unwatch(record& r);

  firewall_options options_;
  generator random_;
  u64 next_id_ = 1;
  pool<record> records_;
  place_index by_id_;
  // By the tuple that frames of the state ARRIVE with on its side: the opener's on side 0, the responder's on side 1.
  place_index by_arrival_;
  // By stack key, to find the state of the other side.
  place_index by_stack_[2];
  // One each, with its place; may be earlier than it need be, never later. A queue would keep those that an earlier one replaced:
  // of a connection that was closed for as long as an established one may be silent, which is a day.
  std::set<std::pair<u64, u32>> deadlines_;
  u64 dropped_[static_cast<usize>(firewall_drop::count_)]{};
  u64 picked_up_ = 0;
  u64 changes_ = 0;
};

extern template firewall_answer<tuple4> firewall::answer_for(const tuple4&, instant);
extern template firewall_answer<tuple6> firewall::answer_for(const tuple6&, instant);

static_assert(firewall_policy<firewall>);

}  // namespace octep::sim
