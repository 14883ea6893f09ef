// Reasons: why a punted frame could not be a candidate, and why a candidate is not in hardware.
//
// Floor 1.
//
// What it is: one enumeration and one table (name, one sentence, what would have to change). The table feeds counters,
// dumps, `octep`, the kernel's sysctl tree and the docs. Every reason is a counter of the same name.
// What it refuses: one name for two causes. What that buys: a counter that should not move never moves for another reason.
// Values are appended, never renumbered: they cross the C border.
// Concurrency: constants.
#pragma once

#include <octep/base.hpp>

namespace octep {

enum class reason : u8 {
  none,
  // A frame that cannot be a candidate: the order in which one header is asked. Headers come before it (frame.hpp).
  not_ip,
  pppoe,
  tunnel,
  other_icmp,
  other_protocol,
  multicast,
  fragment,
  truncated,
  length_lies,
  superframe,
  no_identity,
  clash,
  // A candidate that is not made into a connection, in the order a make asks (system.md 8).
  flow_no_identity,
  flow_family,
  flow_tunnelled,
  flow_held,
  flow_closing,
  flow_nostate,
  flow_shaped,
  flow_marked,
  flow_logged,
  flow_normalised,
  flow_modulated,
  flow_family_translated,
  flow_unsettled_opening,
  flow_unsettled_closing,
  flow_unsettled_one_way,
  flow_tuple_mismatch,
  flow_self,
  flow_wait_other,
  flow_other_held,
  cand_port_moved,
  cand_aged,
  flow_other_closing,
  flow_nonhop_no_route,
  flow_nonhop_rejected,
  flow_nonhop_unresolved,
  flow_nonhop_not_front,
  flow_nonhop_local,
  flow_nonhop_mtu,
  nhop_full,
  nhop_barred,
  auto_full,
  flow_changed,
  flow_rc_refused,
  flow_unanswered,
  // A candidate that no make was tried for.
  auto_off,
  fast_make_spent,
  until_poll,
  not_asked,
  // A candidate that stays out for a while, or for as long as somebody wants.
  flow_held_back,
  flow_kept_out,
  flow_wait_gap,
  // A connection that was taken out: why.
  flow_ended,
  flow_pending,
  flow_gone,
  flow_revive_off,
  flow_expired,
  flow_reval,
  flow_rerouted,
  flow_port_moved,
  flow_removed,
  flow_made_room,
  flow_audited,
  flow_idle,
  flow_association_gone,
  // A candidate of a tunnel.
  flow_no_association,
  count_
};

inline constexpr usize reason_count = static_cast<usize>(reason::count_);
inline constexpr reason last_reason = static_cast<reason>(reason_count - 1);
inline constexpr reason first_frame_reason = reason::not_ip;
inline constexpr reason last_frame_reason = reason::clash;

// A reason of the parser or the receive path: the frame left no candidate.
[[nodiscard]] constexpr bool is_frame_reason(reason r) noexcept {
  return r >= first_frame_reason && r <= last_frame_reason;
}

// A reason why a connection that was held is not any more.
[[nodiscard]] constexpr bool is_removal_reason(reason r) noexcept { return r >= reason::flow_ended && r <= reason::flow_association_gone; }

struct reason_row {
  reason is;
  const char* name;      // stable: counters, JSON, sysctl
  const char* sentence;  // one true sentence for an operator
  const char* change;    // what would have to change
};

inline constexpr reason_row reason_rows[] = {
    {reason::none, "none", "Nothing stands in the way.", "Nothing."},
    {reason::not_ip, "not_ip", "The frame is neither IPv4 nor IPv6.", "Nothing: only IP can be forwarded in hardware."},
    {reason::pppoe, "pppoe", "The frame is PPPoE: of a session, or of its discovery.", "Terminate PPPoE in front of the appliance."},
    {reason::tunnel, "tunnel", "The frame is GRE, ESP, AH or IP in IP.",
     "Nothing here: what the tunnel carries can be forwarded once it is decapsulated."},
    {reason::other_icmp, "other_icmp", "The frame is ICMP, but no echo request or reply.",
     "Nothing: errors and discovery belong to the host."},
    {reason::other_protocol, "other_protocol", "The IP protocol is none of TCP, UDP and ICMP.",
     "Nothing: the fast path tracks no other protocol."},
    {reason::multicast, "multicast", "The frame goes to a multicast or broadcast address, or comes from one.",
     "Nothing: group traffic has no single next hop."},
    {reason::fragment, "fragment", "The packet is a fragment.", "Lower the sender's packet size below the path's MTU."},
    {reason::truncated, "truncated", "The headers are not whole in the bytes at hand.",
     "Capture with a longer snap length, or hand over the headers in one piece."},
    {reason::length_lies, "length_lies", "A length in the headers contradicts the frame's own length or another header.",
     "Nothing: a malformed frame belongs to the host."},
    {reason::superframe, "superframe", "The packet's length field is 0: the frame was merged before it was seen.",
     "Turn receive and segmentation offload off where the frame is taken."},
    {reason::no_identity, "no_identity", "The fast path named no microflow for the frame.",
     "Nothing: without an identity there is nothing to program."},
    {reason::clash, "clash", "Another ring held the slot's word at that moment, so the frame left no candidate.",
     "Nothing: the next frame tries again."},
    {reason::flow_no_identity, "flow_no_identity", "The candidate carries no identity.", "Another frame of the flow."},
    {reason::flow_family, "flow_family", "The device does not forward IPv6, or the setting ipv6 is 0.",
     "Set ipv6 to 1 on a device that can."},
    {reason::flow_tunnelled, "flow_tunnelled",
     "One of its directions is encrypted or decrypted, and ipsec_flows says that it stays with the host.",
     "A larger ipsec_flows; what 2 lets in is said there."},
    {reason::flow_held, "flow_held", "The connection is already programmed.", "Nothing."},
    {reason::flow_closing, "flow_closing", "The frame at hand carries FIN or RST.", "A new connection."},
    {reason::flow_nostate, "flow_nostate", "The firewall has no state for the tuple.",
     "A rule that passes the connection and keeps state."},
    {reason::flow_shaped, "flow_shaped", "The state sends its packets through a shaper.", "Take the shaper off its rule."},
    {reason::flow_marked, "flow_marked", "The state rewrites TOS, priority or TTL.", "Take the marking off its rule."},
    {reason::flow_logged, "flow_logged", "The rule logs every packet of the state.", "Log only the first packet."},
    {reason::flow_normalised, "flow_normalised", "The state's packets are normalised.", "Take the scrubbing off its rule."},
    {reason::flow_modulated, "flow_modulated", "The firewall modulates the sequence numbers of the state.",
     "Use plain state keeping in its rule."},
    {reason::flow_family_translated, "flow_family_translated", "The state forwards between address families.",
     "Nothing: the fast path does not translate families."},
    {reason::flow_unsettled_opening, "flow_unsettled_opening", "The connection's handshake is not complete.",
     "Both peers established, in every state of the connection."},
    {reason::flow_unsettled_closing, "flow_unsettled_closing", "A state of the connection is on a closing timer.",
     "A new connection."},
    {reason::flow_unsettled_one_way, "flow_unsettled_one_way",
     "Not both peers of the UDP state were heard more than once, and the state is young.",
     "A second frame of each peer, or udp_oneway_ms of age."},
    {reason::flow_tuple_mismatch, "flow_tuple_mismatch",
     "The tuple is neither of the two that the firewall's state implies.", "Nothing: this should not happen."},
    {reason::flow_self, "flow_self", "Both directions of the connection arrive with one tuple.",
     "Nothing: one tuple cannot name two microflows."},
    {reason::flow_wait_other, "flow_wait_other", "The other direction has not been punted.",
     "One frame of the other direction through a front port."},
    {reason::flow_other_held, "flow_other_held", "The other direction belongs to another programmed connection.",
     "The end of that connection."},
    {reason::cand_port_moved, "cand_port_moved", "The port or VLAN of a direction changed between its frames.",
     "Another frame of each direction from one place."},
    {reason::cand_aged, "cand_aged", "The other direction's candidate is older than cand_age.",
     "A newer frame of it, or a larger cand_age."},
    {reason::flow_other_closing, "flow_other_closing", "The other direction's frame carries FIN or RST.",
     "A new connection."},
    {reason::flow_nonhop_no_route, "flow_nonhop_no_route", "No route leads to the destination.", "A route."},
    {reason::flow_nonhop_rejected, "flow_nonhop_rejected", "The route rejects or drops.", "Another route."},
    {reason::flow_nonhop_unresolved, "flow_nonhop_unresolved", "The neighbour's address is not resolved.",
     "An answer from the neighbour."},
    {reason::flow_nonhop_not_front, "flow_nonhop_not_front", "The way out is not a front port of the coprocessor.",
     "A route by a front port."},
    {reason::flow_nonhop_local, "flow_nonhop_local", "The destination is this machine.", "Nothing."},
    {reason::flow_nonhop_mtu, "flow_nonhop_mtu", "The way out has too small an MTU.", "A larger MTU on the way out."},
    {reason::nhop_full, "nhop_full", "The table of next hops is full.", "Fewer neighbours, or a larger table."},
    {reason::nhop_barred, "nhop_barred", "A command about this next hop has not been answered.",
     "The far side's answer, or its reset."},
    {reason::auto_full, "auto_full", "The connection table is full.", "A larger table, or connections that end."},
    {reason::flow_changed, "flow_changed", "The connection changed while it was being made.", "Another attempt."},
    {reason::flow_rc_refused, "flow_rc_refused", "The far side refused a command of the make.", "Another attempt."},
    {reason::flow_unanswered, "flow_unanswered", "The far side has not answered the command.", "The far side's answer."},
    {reason::auto_off, "auto_off", "Making connections is switched off.", "Set enable and auto to 1."},
    {reason::fast_make_spent, "fast_make_spent", "The budget of makes between polls was spent.",
     "The next poll, or larger make_per_run and make_per_sec."},
    {reason::until_poll, "until_poll", "It was refused or taken out since the last poll, and waits for the next.",
     "The end of the next poll's walk."},
    {reason::not_asked, "not_asked", "No pass has looked at its candidate yet.", "The next poll."},
    {reason::flow_held_back, "flow_held_back", "It was given back and taken out soon after it was made, so it stays out for a while.",
     "The end of its hold; a make that lasts hold_fresh_ms starts the holds over."},
    {reason::flow_kept_out, "flow_kept_out", "An operator keeps it out.", "Let it in again."},
    {reason::flow_wait_gap, "flow_wait_gap", "Its make waits until none of its frames can be on their way through the host.",
     "A gap of gap_quiet_us between its frames, or the end of gap_first_ms or gap_again_ms."},
    {reason::flow_ended, "flow_ended", "It was given back for FIN, SYN or RST.", "A new connection."},
    {reason::flow_pending, "flow_pending", "It was given back, and the far side could not be told to go on with it.",
     "The next poll, or the end of its hold."},
    {reason::flow_gone, "flow_gone", "The far side no longer has its entry.", "The next poll."},
    {reason::flow_revive_off, "flow_revive_off", "It was given back, and revive is 0.", "The end of its hold, or revive 1."},
    {reason::flow_expired, "flow_expired", "The firewall's state of it is gone.", "A new state."},
    {reason::flow_reval, "flow_reval", "The firewall's answer about it changed.", "The next poll."},
    {reason::flow_rerouted, "flow_rerouted", "Its way out changed to one that the far side cannot take.",
     "A way out by a front port whose neighbour is resolved."},
    {reason::flow_port_moved, "flow_port_moved", "Its frames came to arrive at another port or VLAN.", "The next poll."},
    {reason::flow_removed, "flow_removed", "An operator removed it.", "The next poll, unless it is kept out."},
    {reason::flow_made_room, "flow_made_room", "It was idle and made room for another in a full table.",
     "Frames of it, and room in the table."},
    {reason::flow_audited, "flow_audited", "A command about it went unanswered, so it was taken out when the far side spoke again.",
     "The next poll."},
    {reason::flow_idle, "flow_idle", "Nothing of it moved, and its state was about to end.", "Frames of it, which the host will see."},
    {reason::flow_association_gone, "flow_association_gone", "The association that protects it went, and none took over.",
     "An association that takes over, or none that has to."},
    {reason::flow_no_association, "flow_no_association",
     "The association that protects a direction of it does not stand in the far side's engine.",
     "Its install, and an index free for it."},
};

static_assert(sizeof(reason_rows) / sizeof(reason_rows[0]) == reason_count);

[[nodiscard]] constexpr const reason_row& row(reason r) noexcept { return reason_rows[static_cast<usize>(r)]; }
[[nodiscard]] constexpr const char* name(reason r) noexcept { return row(r).name; }

namespace detail {
consteval bool reason_rows_in_order() noexcept {
  for (usize i = 0; i < reason_count; ++i)
    if (static_cast<usize>(reason_rows[i].is) != i) return false;
  return true;
}
static_assert(reason_rows_in_order(), "a row stands where its value is");
}  // namespace detail

}  // namespace octep
