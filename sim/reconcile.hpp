// Reconcile: the engine's tables held against the far side's.
//
// What it is: one pass that anyone can run between two inputs. What it finds is one sentence.
//   - every programmed microflow has a record, at its revision, in that direction, with that tuple;
//   - a held record names two different directions and two programmed next hops;
//   - next-hop references add up;
//   - the hot table counts exactly the tuples of records.
// What it does not ask yet: whether the firewall's state still lives. Sweeping is upkeep.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <octep/engine/engine.hpp>

#include "sim/fast_path.hpp"

namespace octep::sim {

namespace detail {
inline bool fails(std::string* why, std::string text) {
  if (why != nullptr) *why = std::move(text);
  return false;
}

template <class Engine>
[[nodiscard]] wide_tuple tuple_of(const Engine& core, u32 index, u32 direction) {
  return core.table()[index].which == family::ipv4 ? wide_tuple{core.table().template tuples_of<tuple4>(index)[direction]}
                                                   : wide_tuple{core.table().template tuples_of<tuple6>(index)[direction]};
}
}  // namespace detail

template <class Engine>
[[nodiscard]] bool reconcile(const Engine& core, const fast_path& device, std::string* why) {
  const connections& table = core.table();
  for (const microflow_view& m : device.active_microflows()) {
    if (m.connection.index >= table.capacity()) return detail::fails(why, "a microflow names an index beyond the table");
    const record& r = table[m.connection.index];
    const std::string at = " (connection " + std::to_string(m.connection.index) + ")";
    if (r.state == record_state::free || r.revision != m.connection.revision)
      return detail::fails(why, "a programmed microflow has no record" + at);
    if (!r.directions[m.direction].programmed || !(r.directions[m.direction].who == m.who))
      return detail::fails(why, "a programmed microflow is not the record's" + at);
    if (!(detail::tuple_of(core, m.connection.index, m.direction) == m.tuple) || !(r.directions[m.direction].where == m.where))
      return detail::fails(why, "a programmed microflow carries another connection's tuple" + at);
  }

  std::map<u32, u32> references;
  std::map<u32, u32> hot;
  for (u32 i = 0; i < table.capacity(); ++i) {
    const record& r = table[i];
    if (r.state == record_state::free) continue;
    const std::string at = " (connection " + std::to_string(i) + ")";
    for (u32 d = 0; d < 2; ++d) {
      ++hot[core.hot().bucket_of(table.hash_of(i, d))];
      if (r.directions[d].has_next_hop) {
        const next_hop_entry& hop = core.hops()[r.directions[d].next_hop.index];
        if (hop.state == next_hop_state::free || hop.revision != r.directions[d].next_hop.revision) {
          // A refused set is void at once; its make gives the reference up before anything else is posted.
          return detail::fails(why, "a record refers to a next hop that is gone" + at);
        }
        ++references[r.directions[d].next_hop.index];
      }
    }
    if (r.state != record_state::held) continue;
    if (!r.directions[0].programmed || !r.directions[1].programmed)
      return detail::fails(why, "a held record has one direction only" + at);
    if (device.entry(i).state == entry_state::valid && device.entry(i).revision != r.revision)
      return detail::fails(why, "the far side has the entry at another revision" + at);
    for (const direction_record& way : r.directions)
      if (device.hop(way.next_hop) == nullptr) return detail::fails(why, "a held record's next hop is not programmed" + at);
  }
  for (u32 i = 0; i < core.hops().capacity(); ++i)
    if (core.hops()[i].references != references[i])
      return detail::fails(why, "the references of next hop " + std::to_string(i) + " do not add up");
  for (u32 bucket = 0; bucket >> core.hot().bits() == 0; ++bucket) {
    const auto there = hot.find(bucket);
    const u32 expected = there == hot.end() ? 0 : std::min(there->second, 255U);
    if (core.hot().count(bucket) != expected)
      return detail::fails(why, "hot bucket " + std::to_string(bucket) + " counts " +
                                    std::to_string(core.hot().count(bucket)) + ", not " + std::to_string(expected));
  }
  return true;
}

}  // namespace octep::sim
