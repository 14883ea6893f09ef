#include "sim/firewall.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace octep::sim {

namespace {

microseconds length_of(firewall_timer t) {
  switch (t) {
    case firewall_timer::tcp_opening: return tcp_opening_timer;
    case firewall_timer::tcp_established: return tcp_established_timer;
    case firewall_timer::tcp_closing: return tcp_closing_timer;
    case firewall_timer::tcp_closed: return tcp_closed_timer;
    case firewall_timer::udp_single: return udp_single_timer;
    case firewall_timer::udp_multiple: return udp_multiple_timer;
    case firewall_timer::icmp: return icmp_timer;
  }
  return {};
}

timer_class class_of(firewall_timer t) {
  switch (t) {
    case firewall_timer::tcp_established:
    case firewall_timer::udp_multiple:
    case firewall_timer::icmp: return timer_class::settled;
    case firewall_timer::tcp_closing:
    case firewall_timer::tcp_closed: return timer_class::closing;
    default: return timer_class::opening;
  }
}

// A closing state says more than an opening one: it will never settle.
timer_class less_settled(timer_class a, timer_class b) {
  if (a == timer_class::closing || b == timer_class::closing) return timer_class::closing;
  return a == timer_class::opening ? a : b;
}

peer_state lesser(peer_state a, peer_state b) { return std::min(a, b); }

// How frames of the state arrive on its own side of the appliance.
wide_tuple arrival(const firewall_state& s) { return s.side == 0 ? s.wire : reverse(s.wire); }
bool arrives_by(const firewall_state& s, const wide_tuple& t) { return s.side == 0 ? s.wire == t : is_reverse(s.wire, t); }

u64 scatter(state_id id) { return sim::scatter(0, id.value); }

wide_tuple with_source_word(wide_tuple t, u16 word) {
  t.ports = join_ports(word, t.destination_word());
  return t;
}

u32 further(u32 a, u32 b) { return ahead(a, b) > 0 ? a : b; }

// Inside: not past the room that the other peer made, not more than one such window behind what was sent, and acknowledging
// nothing that is far from what the other peer was seen to send. Of a peer that was not seen yet nothing is known to be wrong.
bool inside(const peer_window& mine, const peer_window& other, const tcp_segment& s) {
  if (!mine.known || !other.known) return true;
  if (ahead(end_of(s), mine.may_send) > 0 || ahead(s.sequence, mine.end) < -i64{other.room}) return false;
  if (!s.flags.ack() || s.flags.rst()) return true;
  const i64 skew = ahead(s.acknowledgement, other.end);
  return -i64{mine.room} - acknowledgement_skew <= skew && skew <= i64{acknowledgement_skew};
}

void learn(peer_window& mine, peer_window& other, const tcp_segment& s) {
  const u32 end = end_of(s);
  if (!mine.known) {
    mine.known = true;
    mine.end = end;
    mine.may_send = end + other.room;
  }
  mine.end = further(end, mine.end);
  mine.room = std::max(mine.room, s.window);
  if (other.known && s.flags.ack()) other.may_send = further(s.acknowledgement + s.window, other.may_send);
}

}  // namespace

const char* name(firewall_drop d) noexcept {
  constexpr const char* names[] = {"blocked", "no_syn", "nat_full", "collides", "other_side_gone", "state_mismatch"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<usize>(firewall_drop::count_));
  return names[static_cast<usize>(d)];
}

firewall::firewall(firewall_options options) : options_{std::move(options)}, random_{options_.seed, 3} {}

// --- frames -----------------------------------------------------------------------------------------------

firewall_pass firewall::on_host_frame(const wide_tuple& tuple, const tcp_segment& tcp, ingress where, instant now) {
  expire(now);
  const tcp_flags flags = tcp.flags;
  firewall_pass pass;
  connection c = look_up(tuple, now);

  // A client may use its port again as soon as the connection before has ended on both sides.
  const auto over = [](const record* r) { return r == nullptr || r->shown.timer == firewall_timer::tcp_closed; };
  if (flags.opens() && tuple.proto == protocol::tcp && over(c.side[0]) && over(c.side[1])) {
    for (record* r : c.side)
      if (r != nullptr) remove(*r);
    c = {};
  }

  pass.created = c.side[0] == nullptr && c.side[1] == nullptr;
  const bool numbered = options_.judges_numbers && tuple.proto == protocol::tcp && tcp.has_numbers;
  const auto drops = [&](const record* r) {
    if (r == nullptr || r->shown.relaxed) return false;
    return !inside(r->shown.windows[c.direction], r->shown.windows[1 - c.direction], tcp);
  };
  outcome refused;
  if (numbered && std::any_of(std::begin(c.side), std::end(c.side), drops)) {
    refused = firewall_drop::state_mismatch;
  } else if (c.direction == 1 && c.side[0] == nullptr) {
    refused = firewall_drop::other_side_gone;
  } else if (c.side[0] == nullptr || c.side[1] == nullptr) {
    refused = begin(c, tuple, flags, where, now);
  }
  if (refused) {
    pass.created = false;
    pass.why = *refused;
    ++dropped_[static_cast<usize>(*refused)];
    return pass;
  }

  for (record* r : c.side) {
    firewall_state& s = r->shown;
    if (numbered && !s.relaxed) learn(s.windows[c.direction], s.windows[1 - c.direction], tcp);
    track(*r, c.direction, flags, now);
  }
  pass.passed = true;
  pass.direction = c.direction;
  pass.leaves = c.direction == 0 ? c.side[1]->shown.wire : reverse(c.side[0]->shown.wire);
  return pass;
}

// The states that a frame of the opener needs and does not find: both, or the responder's side's.
firewall::outcome firewall::begin(connection& c, const wide_tuple& first, tcp_flags flags, ingress where, instant now) {
  const bool tcp = first.proto == protocol::tcp;
  if (options_.passes && !options_.passes(first, where)) return firewall_drop::blocked;
  if (tcp && !flags.opens() && !options_.picks_up) return firewall_drop::no_syn;

  firewall_state s;
  s.picked_up = tcp && !flags.opens();
  s.first = first;
  s.first_from = where;
  ask_rules(s);
  s.stack = c.side[0] != nullptr ? c.side[0]->shown.stack : destination_translated(first, where);

  if (c.side[0] == nullptr && living(stacked_as(0, s.stack), now) != nullptr) return firewall_drop::collides;
  c.side[1] = living(stacked_as(1, s.stack), now);
  wide_tuple leaves = s.stack;
  if (c.side[1] == nullptr) {
    if (const outcome refused = translate_source(leaves, where, now)) return refused;
    if (reverse(leaves) == first) return firewall_drop::collides;
  }

  if (c.side[0] == nullptr) {
    if (s.picked_up && c.side[1] == nullptr) ++picked_up_;
    s.side = 0;
    s.wire = first;
    c.side[0] = &add(s, now);
  }
  if (c.side[1] == nullptr) {
    s.side = 1;
    s.wire = leaves;
    c.side[1] = &add(s, now);
  }
  return std::nullopt;
}

void firewall::ask_rules(firewall_state& s) const {
  s.verdict = options_.verdict ? options_.verdict(s.first, s.first_from) : reason::none;
  s.route = options_.own_routes ? options_.own_routes(s.first, s.first_from) : array<own_route, 2>{};
}

wide_tuple firewall::destination_translated(wide_tuple t, ingress where) const {
  for (const destination_nat_rule& r : options_.destination_nat) {
    if (r.applies && !r.applies(t, where)) continue;
    t.destination = r.to;
    if (r.port && !is_echo(t.proto)) t.ports = join_ports(t.source_word(), port_word(*r.port));
    break;
  }
  return t;
}

firewall::outcome firewall::translate_source(wide_tuple& t, ingress where, instant now) {
  const auto taken = [&](const wide_tuple& leaves) { return living(arriving_by(reverse(leaves)), now) != nullptr; };
  for (const source_nat_rule& r : options_.source_nat) {
    if (r.applies && !r.applies(t, where)) continue;
    t.source = r.to;
    if (r.static_port) break;
    const u32 range = u32{r.port_most} - r.port_least + 1;
    const u32 start = static_cast<u32>(random_.below(range));
    for (u32 i = 0; i < range; ++i) {
      const auto number = static_cast<u16>(r.port_least + (start + i) % range);
      const wide_tuple tried = with_source_word(t, port_word(number));
      if (taken(tried)) continue;
      t = tried;
      return std::nullopt;
    }
    return firewall_drop::nat_full;
  }
  if (taken(t)) return firewall_drop::collides;
  return std::nullopt;
}

void firewall::track(record& r, u8 direction, tcp_flags flags, instant now) {
  firewall_state& s = r.shown;
  peer_state& mine = s.peers[direction];
  peer_state& other = s.peers[1 - direction];
  s.last = now;
  if (s.wire.proto == protocol::tcp) {
    mine = std::max(mine, peer_state::heard);
    s.syn_seen[direction] |= flags.syn();
    s.fin_seen[direction] |= flags.fin();
    if (s.picked_up) {
      // Nobody knows whose SYN was acknowledged: a frame of each side has to do.
      if (other != peer_state::silent) mine = other = peer_state::established;
    } else if (flags.ack() && s.syn_seen[1 - direction]) {
      other = peer_state::established;
    }
    const bool both = mine == peer_state::established && other == peer_state::established;
    if (flags.rst() || (s.fin_seen[0] && s.fin_seen[1])) s.timer = firewall_timer::tcp_closed;
    if (s.timer != firewall_timer::tcp_closed)
      s.timer = s.fin_seen[0] || s.fin_seen[1] ? firewall_timer::tcp_closing
                : both                         ? firewall_timer::tcp_established
                                               : firewall_timer::tcp_opening;
  } else {
    mine = mine == peer_state::silent ? peer_state::heard : peer_state::established;
    const bool both = mine == peer_state::established && other == peer_state::established;
    s.timer = is_echo(s.wire.proto) ? firewall_timer::icmp
              : both                ? firewall_timer::udp_multiple
                                    : firewall_timer::udp_single;
  }
  s.expires = now + length_of(s.timer);
  watch(r);
}

// --- states and their ends --------------------------------------------------------------------------------

firewall::record& firewall::add(const firewall_state& s, instant now) {
  const u32 place = records_.take();
  record& r = records_[place];
  r = {place, stacked_as(1U - s.side, s.stack), never, s};
  r.shown.id = {next_id_++};
  r.shown.created = r.shown.last = now;
  if (r.other != place_index::nowhere) records_[r.other].other = place;
  by_id_.insert(scatter(r.shown.id), place);
  by_arrival_.insert(scatter(arrival(s)), place);
  by_stack_[s.side].insert(scatter(s.stack), place);
  return r;
}

void firewall::remove(record& r) {
  const firewall_state& s = r.shown;
  by_id_.erase(scatter(s.id), r.place);
  by_arrival_.erase(scatter(arrival(s)), r.place);
  by_stack_[s.side].erase(scatter(s.stack), r.place);
  if (r.other != place_index::nowhere) records_[r.other].other = place_index::nowhere;
  unwatch(r);
  records_.give_back(r.place);
  r.shown.id = {};
}

// Sees to it that `expire` meets the state no later than its end.
void firewall::watch(record& r) {
  if (!(r.shown.expires < r.queued_for)) return;
  unwatch(r);
  r.queued_for = r.shown.expires;
  deadlines_.emplace(r.queued_for.us, r.place);
}

void firewall::unwatch(record& r) {
  if (r.queued_for != never) deadlines_.erase({r.queued_for.us, r.place});
  r.queued_for = never;
}

void firewall::remove_the_dead(instant now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now.us) {
    record& r = records_[deadlines_.begin()->second];
    unwatch(r);
    if (r.shown.expires <= now) {
      remove(r);
    } else {
      watch(r);
    }
  }
}

bool firewall::kill(state_id id) {
  const u32 place = place_of(id);
  if (place == place_index::nowhere) return false;
  ++changes_;
  remove(records_[place]);
  return true;
}

void firewall::reload() {
  ++changes_;
  for (u32 place = 0; place < records_.size(); ++place)
    if (records_[place].shown.id.value != 0) ask_rules(records_[place].shown);
}

void firewall::flush() {
  ++changes_;
  records_.clear();
  by_id_.clear();
  by_arrival_.clear();
  by_stack_[0].clear();
  by_stack_[1].clear();
  deadlines_.clear();
}

// --- the question -----------------------------------------------------------------------------------------

u32 firewall::arriving_by(const wide_tuple& tuple) const {
  return by_arrival_.find(scatter(tuple), [&](u32 place) { return arrives_by(records_[place].shown, tuple); });
}

u32 firewall::stacked_as(u32 side, const wide_tuple& stack) const {
  return by_stack_[side].find(scatter(stack), [&](u32 place) { return records_[place].shown.stack == stack; });
}

u32 firewall::place_of(state_id id) const {
  return by_id_.find(scatter(id), [&](u32 place) { return records_[place].shown.id == id; });
}

firewall::record* firewall::living(u32 place, instant now) {
  if (place == place_index::nowhere) return nullptr;
  record& r = records_[place];
  return now < r.shown.expires ? &r : nullptr;
}

firewall::connection firewall::look_up(const wide_tuple& arriving, instant now) {
  connection c;
  record* const r = living(arriving_by(arriving), now);
  if (r == nullptr) return c;
  c.direction = r->shown.side;
  c.side[r->shown.side] = r;
  c.side[1 - r->shown.side] = living(r->other, now);
  return c;
}

template <tuple_type Tuple>
firewall_answer<Tuple> firewall::answer_for(const Tuple& t, instant now) {
  firewall_answer<Tuple> a;
  const connection c = look_up(t, now);
  const firewall_state* const sides[2] = {c.side[0] == nullptr ? nullptr : &c.side[0]->shown,
                                          c.side[1] == nullptr ? nullptr : &c.side[1]->shown};
  const firewall_state* const any = sides[0] != nullptr ? sides[0] : sides[1];
  if (any == nullptr) return a;

  // Where a side's state is gone, so is its translation: the stack key stands in.
  const wide_tuple arrives = sides[0] != nullptr ? sides[0]->wire : any->stack;
  const wide_tuple leaves = sides[1] != nullptr ? sides[1]->wire : any->stack;
  a.found = true;
  a.proto = any->wire.proto;
  a.opener = {narrow<Tuple>(arrives.source), arrives.source_word()};
  a.responder_seen = {narrow<Tuple>(arrives.destination), arrives.destination_word()};
  a.opener_translated = {narrow<Tuple>(leaves.source), leaves.source_word()};
  a.responder = {narrow<Tuple>(leaves.destination), leaves.destination_word()};
  a.route = any->route;
  a.timer = class_of(any->timer);
  a.opener_peer = any->peers[0];
  a.responder_peer = any->peers[1];
  a.age = now.since(any->created);
  a.remaining = any->expires.since(now);
  a.verdict = any->verdict;
  a.states[0] = any->id;
  const firewall_state* const second = sides[0] != nullptr ? sides[1] : nullptr;
  if (second == nullptr) return a;

  a.states[1] = second->id;
  a.timer = less_settled(a.timer, class_of(second->timer));
  a.opener_peer = lesser(a.opener_peer, second->peers[0]);
  a.responder_peer = lesser(a.responder_peer, second->peers[1]);
  a.age = least(a.age, now.since(second->created));
  a.remaining = least(a.remaining, second->expires.since(now));
  if (a.verdict == reason::none) a.verdict = second->verdict;
  return a;
}

template firewall_answer<tuple4> firewall::answer_for(const tuple4&, instant);
template firewall_answer<tuple6> firewall::answer_for(const tuple6&, instant);

bool firewall::alive(const array<state_id, 2>& ids, instant now) const {
  return std::all_of(ids.begin(), ids.end(), [&](state_id id) {
    if (id.value == 0) return true;
    const firewall_state* const s = state(id);
    return s != nullptr && now < s->expires;
  });
}

microseconds firewall::remaining(const array<state_id, 2>& ids, instant now) const {
  if (!alive(ids, now)) return {};
  instant first = never;
  for (const state_id id : ids)
    if (id.value != 0) first = least(first, state(id)->expires);
  return first.since(now);
}

void firewall::restamp(const array<state_id, 2>& ids, instant now) {
  for (const state_id id : ids) {
    record* const r = living(place_of(id), now);
    if (r == nullptr) continue;
    r->shown.last = now;
    r->shown.expires = now + length_of(r->shown.timer);
    watch(*r);
  }
}

void firewall::relax(const array<state_id, 2>& ids, instant now) {
  for (const state_id id : ids) {
    if (record* const r = living(place_of(id), now)) r->shown.relaxed = true;
  }
}

void firewall::relearn(const array<state_id, 2>& ids, instant now) {
  for (const state_id id : ids) {
    record* const r = living(place_of(id), now);
    if (r == nullptr) continue;
    r->shown.relaxed = false;
    for (peer_window& w : r->shown.windows) w = {};
  }
}

// --- looking ----------------------------------------------------------------------------------------------

const firewall_state* firewall::state(state_id id) const {
  const u32 place = place_of(id);
  return place == place_index::nowhere ? nullptr : &records_[place].shown;
}

std::vector<firewall_state> firewall::states() const {
  std::vector<firewall_state> all;
  for (u32 place = 0; place < records_.size(); ++place)
    if (records_[place].shown.id.value != 0) all.push_back(records_[place].shown);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id.value < b.id.value; });
  return all;
}

bool firewall::consistent(std::string* why) const {
  const auto fails = [why](std::string sentence) {
    if (why != nullptr) *why = std::move(sentence);
    return false;
  };
  usize living = 0;
  for (u32 place = 0; place < records_.size(); ++place) {
    const record& r = records_[place];
    const firewall_state& s = r.shown;
    if (s.id.value == 0) continue;
    ++living;
    if (r.place != place || place_of(s.id) != place) return fails(fmt::format("state {} is not found by its id", s.id.value));
    if (arriving_by(arrival(s)) != place) return fails(fmt::format("state {} is not found by its arrival", s.id.value));
    if (stacked_as(s.side, s.stack) != place) return fails(fmt::format("state {} is not found by its stack key", s.id.value));
    if (r.other != stacked_as(1U - s.side, s.stack))
      return fails(fmt::format("state {} is not joined to the other side's", s.id.value));
  }
  if (by_id_.size() != living || by_arrival_.size() != living || by_stack_[0].size() + by_stack_[1].size() != living)
    return fails("an index keeps a state that is gone");
  return true;
}

}  // namespace octep::sim
