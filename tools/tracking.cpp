#include "tools/tracking.hpp"

#include "sim/model_constants.hpp"

#include <algorithm>
#include <vector>

namespace octep::tools {
namespace {

constexpr u32 nowhere = sim::place_index::nowhere;

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
  u32 index = place_of(tuple);
  if (index != nowhere && flags.opens() && over(slots_[index].of)) {
    end(index);
    index = nowhere;
  }
  const bool begins = index == nowhere;
  if (begins) index = begin(tuple, flags, now);

  connection& c = slots_[index].of;
  const u8 direction = tuple == c.from_opener ? 0 : 1;
  const bool first_of_direction = !c.heard[direction];
  c.last_frame = now;
  c.heard[direction] = true;
  c.fin[direction] = c.fin[direction] || flags.fin();
  c.reset = c.reset || flags.rst();
  // Only earlier deadlines are moved here; `expire` moves on what has been heard since.
  if (const instant until = now + patience(c); until < slots_[index].looked_at_by) keep_until(index, until);
  return {&c, direction, begins, first_of_direction};
}

void tracking::also_arrives_as(const connection& of, const sim::wide_tuple& tuple) {
  const u32 index = place_of(of.from_opener);
  if (index == nowhere) return;
  slot& s = slots_[index];
  if (s.alias == tuple) return;
  if (s.alias) by_alias_.erase(scatter(*s.alias), index);
  // A translation that another connection had before goes over to this one.
  if (const u32 earlier = place_by_alias(tuple); earlier != nowhere) {
    by_alias_.erase(scatter(tuple), earlier);
    slots_[earlier].alias.reset();
  }
  s.alias = tuple;
  by_alias_.insert(scatter(tuple), index);
}

connection* tracking::find(const sim::wide_tuple& tuple) {
  u32 index = place_of(tuple);
  if (index == nowhere) index = place_by_alias(tuple);
  return index == nowhere ? nullptr : &slots_[index].of;
}

u32 tracking::place_of(const sim::wide_tuple& tuple) const {
  return by_tuple_.find(scatter_either_way(tuple), [&](u32 index) {
    const sim::wide_tuple& opener = slots_[index].of.from_opener;
    return opener == tuple || is_reverse(opener, tuple);
  });
}

u32 tracking::place_by_alias(const sim::wide_tuple& tuple) const {
  return by_alias_.find(scatter(tuple), [&](u32 index) { return slots_[index].alias == tuple; });
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
  for (u32 index = 0; index < slots_.size(); ++index)
    if (slots_[index].lives) left.emplace_back(slots_[index].number, index);
  std::sort(left.begin(), left.end());
  for (const auto& [number, index] : left) end(index);
}

u32 tracking::begin(const sim::wide_tuple& tuple, sim::tcp_flags flags, instant now) {
  const u32 index = slots_.take();
  slot& s = slots_[index];
  s = {};
  s.lives = true;
  s.number = begun_++;
  // A SYN+ACK answers an opener that the capture does not show.
  const bool answers = flags.syn() && flags.ack();
  s.of.from_opener = tuple.proto == protocol::tcp && answers ? reverse(tuple) : tuple;
  // A reset alone may answer anything, and be late.
  s.of.picked_up = tuple.proto == protocol::tcp && !flags.syn() && !flags.rst();
  s.of.first_frame = now;
  s.looked_at_by = never;
  by_tuple_.insert(scatter_either_way(tuple), index);
  s.of.last_frame = now;
  return index;
}

void tracking::end(u32 index) {
  slot& s = slots_[index];
  goes_(s.of);
  by_tuple_.erase(scatter_either_way(s.of.from_opener), index);
  if (s.alias) by_alias_.erase(scatter(*s.alias), index);
  deadlines_.erase({s.looked_at_by.us, index});
  s.lives = false;
  slots_.give_back(index);
}

void tracking::keep_until(u32 index, instant until) {
  slot& s = slots_[index];
  deadlines_.erase({s.looked_at_by.us, index});
  s.looked_at_by = until;
  deadlines_.insert({until.us, index});
}

}  // namespace octep::tools
