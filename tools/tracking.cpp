#include "tools/tracking.hpp"

#include "sim/model_constants.hpp"

#include <algorithm>

namespace octep::tools {
namespace {

// One of the two ways round, the same for both.
sim::wide_tuple canonical(const sim::wide_tuple& t) {
  const sim::wide_tuple r = reverse(t);
  for (usize i = 0; i < 4; ++i)
    if (t.source[i] != r.source[i]) return t.source[i] < r.source[i] ? t : r;
  return t.ports <= r.ports ? t : r;
}

bool over(const connection& c) { return c.reset || (c.fin[0] && c.fin[1]); }

// How long silence may last: the timers of the firewall model.
microseconds patience(const connection& c) {
  if (is_echo(c.from_opener.proto)) return sim::icmp_timer;
  if (c.from_opener.proto == protocol::udp) return sim::udp_multiple_timer;
  if (over(c)) return sim::tcp_closed_timer;
  if (c.fin[0] || c.fin[1]) return sim::tcp_closing_timer;
  return c.heard[0] && c.heard[1] ? sim::tcp_established_timer : sim::tcp_opening_timer;
}

}  // namespace

tracking::seen tracking::see(const sim::wide_tuple& tuple, sim::tcp_flags flags, instant now) {
  expire(now);
  auto found = by_tuple_.find(canonical(tuple));
  if (found != by_tuple_.end() && flags.opens() && over(slots_[found->second].of)) {
    end(found->second);
    found = by_tuple_.end();
  }
  const bool begins = found == by_tuple_.end();
  const u32 index = begins ? begin(tuple, flags, now) : found->second;

  connection& c = slots_[index].of;
  const u8 direction = tuple == c.from_opener ? 0 : 1;
  c.last_frame = now;
  c.heard[direction] = true;
  c.fin[direction] = c.fin[direction] || flags.fin();
  c.reset = c.reset || flags.rst();
  // Only earlier deadlines are moved here; `expire` moves on what has been heard since.
  if (const instant until = now + patience(c); until < slots_[index].looked_at_by) keep_until(index, until);
  return {&c, direction, begins};
}

void tracking::also_arrives_as(const connection& of, const sim::wide_tuple& tuple) {
  const auto found = by_tuple_.find(canonical(of.from_opener));
  if (found == by_tuple_.end()) return;
  slot& s = slots_[found->second];
  if (s.alias == tuple) return;
  if (s.alias) by_alias_.erase(*s.alias);
  // A translation that another connection had before goes over to this one.
  if (const auto earlier = by_alias_.find(tuple); earlier != by_alias_.end()) slots_[earlier->second].alias.reset();
  s.alias = tuple;
  by_alias_[tuple] = found->second;
}

connection* tracking::find(const sim::wide_tuple& tuple) {
  if (const auto found = by_tuple_.find(canonical(tuple)); found != by_tuple_.end()) return &slots_[found->second].of;
  const auto found = by_alias_.find(tuple);
  return found == by_alias_.end() ? nullptr : &slots_[found->second].of;
}

void tracking::expire(instant now) {
  while (!deadlines_.empty() && deadlines_.begin()->first < now.us) {
    const u32 index = deadlines_.begin()->second;
    const connection& c = slots_[index].of;
    const instant until = c.last_frame + patience(c);
    if (until < now)
      end(index);
    else
      keep_until(index, until);
  }
}

void tracking::finish() {
  std::vector<std::pair<u64, u32>> left;
  for (const auto& [tuple, index] : by_tuple_) left.emplace_back(slots_[index].number, index);
  std::sort(left.begin(), left.end());
  for (const auto& [number, index] : left) end(index);
}

u32 tracking::begin(const sim::wide_tuple& tuple, sim::tcp_flags flags, instant now) {
  u32 index = static_cast<u32>(slots_.size());
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    slots_[index] = {};
  }
  slot& s = slots_[index];
  s.number = begun_++;
  // A SYN+ACK answers an opener that the capture does not show.
  const bool answers = flags.syn() && flags.ack();
  s.of.from_opener = tuple.proto == protocol::tcp && answers ? reverse(tuple) : tuple;
  s.of.picked_up = tuple.proto == protocol::tcp && !flags.opens();
  s.of.first_frame = now;
  s.looked_at_by = never;
  by_tuple_[canonical(tuple)] = index;
  s.of.last_frame = now;
  return index;
}

void tracking::end(u32 index) {
  slot& s = slots_[index];
  goes_(s.of);
  by_tuple_.erase(canonical(s.of.from_opener));
  if (s.alias) by_alias_.erase(*s.alias);
  deadlines_.erase({s.looked_at_by.us, index});
  free_.push_back(index);
}

void tracking::keep_until(u32 index, instant until) {
  slot& s = slots_[index];
  deadlines_.erase({s.looked_at_by.us, index});
  s.looked_at_by = until;
  deadlines_.insert({until.us, index});
}

}  // namespace octep::tools
