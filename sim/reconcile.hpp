// Reconcile: the engine's tables held against the far side's.
//
// What it is: one pass that anyone can run between two inputs. What it finds is the first broken law, in one sentence.
//   - every programmed microflow has a record, at its revision: it is that direction's identity, and carries its tuple, its
//     port, its next hop and its translation, nobody else's;
//   - the reverse: both directions of a held record are programmed as it says, unless the far side has dropped them;
//   - no orphan: an entry that is valid or pending has a record at its revision;
//   - a record is found by both its tuples, as the direction that each is;
//   - next-hop references add up, and what a held record refers to is set on the far side;
//   - the hot table counts exactly the tuples of records.
// What it forgives: what a command that is out is about to change, whichever of the two the far side has by now; and identities
// that died with their microflow, whoever else has their id since.
// What it does not ask: whether the firewall's state still lives. That is bounded by time, and needs a history.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <octep/engine/engine.hpp>

#include "sim/fast_path.hpp"

namespace octep::sim {

template <class Engine>
class reconciling {
 public:
  reconciling(const Engine& core, const fast_path& device)
      : core_{core}, table_{core.table()}, device_{device}, out_{core.commands().outstanding()} {}

  // Empty: every law holds.
  [[nodiscard]] std::string first_broken() const {
    std::string why = microflows();
    for (u32 i = 0; why.empty() && i < device_.connections(); ++i) why = entry(i);
    for (u32 i = 0; why.empty() && i < table_.capacity(); ++i)
      if (table_[i].state != record_state::free) why = of_record(i);
    if (why.empty()) why = references();
    if (why.empty()) why = hot_counts();
    return why;
  }

 private:
  [[nodiscard]] bool is_record(handle h) const {
    return h.index < table_.capacity() && table_[h.index].state != record_state::free &&
           table_[h.index].revision == h.revision;
  }
  [[nodiscard]] wide_tuple tuple_of(u32 index, u32 direction) const {
    return table_[index].which == family::ipv4 ? wide_tuple{table_.template tuples_of<tuple4>(index)[direction]}
                                               : wide_tuple{table_.template tuples_of<tuple6>(index)[direction]};
  }
  // The far side is being told, or was told just now, of this direction.
  [[nodiscard]] bool under_way(u32 index, u32 direction) const {
    const command& c = core_.commands().current();
    return out_ && c.kind == command_kind::program && c.target.index == index && c.direction == direction;
  }

  [[nodiscard]] std::string microflows() const {
    for (const microflow_view& m : device_.active_microflows()) {
      const u32 i = m.connection.index;
      if (!is_record(m.connection)) return fmt::format("a programmed microflow has no record (connection {})", i);
      const record& r = table_[i];
      const direction_record& way = r.directions[m.direction];
      if (!way.programmed || !(way.who == m.who))
        return fmt::format("a programmed microflow is not the record's (connection {})", i);
      if (!(tuple_of(i, m.direction) == m.tuple) || !(way.where == m.where))
        return fmt::format("a programmed microflow carries another connection's tuple (connection {})", i);
      // It leaves as the other direction's frames arrive, read backwards.
      const wide_tuple leaves = reverse(tuple_of(i, 1U - m.direction));
      if (!(m.to.source == leaves.source) || !(m.to.destination == leaves.destination) || m.to.ports != leaves.ports)
        return fmt::format("a programmed microflow translates to another connection's tuple (connection {})", i);
      const handle named = way.encrypted_by.none() ? handle{} : associations::named_as(associations::handle_of(way.encrypted_by));
      if (r.state == record_state::held && !(m.association == named) && !under_way(i, m.direction))
        return fmt::format("a programmed microflow is encrypted by another association than the record's (connection {})", i);
      if (m.association.revision != 0 && !device_.ipsec().has({m.association.index - 1, m.association.revision}))
        return fmt::format("a programmed microflow names an association that is gone (connection {})", i);
      if (r.state == record_state::held && !(m.next_hop == way.next_hop) && !under_way(i, m.direction))
        return fmt::format("a programmed microflow leaves by another next hop than the record's (connection {})", i);
    }
    return {};
  }

  [[nodiscard]] std::string entry(u32 index) const {
    const entry_view& e = device_.entry(index);
    if (e.state == entry_state::reclaimed || is_record({index, e.revision})) return {};
    return fmt::format("the far side has a {} entry that no record names (connection {}, revision {})",
                       e.state == entry_state::valid ? "valid" : "pending", index, e.revision);
  }

  [[nodiscard]] std::string of_record(u32 index) const {
    const record& r = table_[index];
    for (u32 d = 0; d < 2; ++d) {
      if (!found_by(index, d)) return fmt::format("a record is not found by its tuple of direction {} (connection {})", d, index);
      const direction_record& way = r.directions[d];
      if (way.has_next_hop) {
        const next_hop_entry& hop = core_.hops()[way.next_hop.index];
        if (hop.state == next_hop_state::free || hop.revision != way.next_hop.revision)
          return fmt::format("a record refers to a next hop that is gone (connection {})", index);
      }
      if (r.state != record_state::held) continue;
      if (way.programmed == way.stays || !way.has_next_hop)
        return fmt::format("a held record has one direction only (connection {})", index);
      if (const next_hop* const hop = device_.hop(way.next_hop); hop == nullptr || !(*hop == core_.hops()[way.next_hop.index].hop))
        return fmt::format("a held record's next hop is not programmed (connection {})", index);
      if (under_way(index, d) || way.stays) continue;
      const microflow_view* const m = device_.find(way.who);
      const bool there = m != nullptr && m->tuple == tuple_of(index, d) && m->where == way.where;
      if (there && !(m->active && m->connection == table_.handle_of(index) && m->direction == d))
        return fmt::format("a held record's microflow lives and is not programmed (connection {}, direction {})", index, d);
    }
    return {};
  }

  [[nodiscard]] bool found_by(u32 index, u32 direction) const {
    const auto finds = [&](const auto& tuple) {
      const u32 hash = core_.hash_of(tuple);
      const found f = table_.find(tuple, hash);
      return hash == table_.hash_of(index, direction) && f.is && f.index == index && f.direction == direction;
    };
    return table_[index].which == family::ipv4 ? finds(table_.template tuples_of<tuple4>(index)[direction])
                                               : finds(table_.template tuples_of<tuple6>(index)[direction]);
  }

  [[nodiscard]] std::string references() const {
    std::vector<u32> expected(core_.hops().capacity());
    for (u32 i = 0; i < table_.capacity(); ++i)
      if (table_[i].state != record_state::free)
        for (const direction_record& way : table_[i].directions)
          if (way.has_next_hop) ++expected[way.next_hop.index];
    for (u32 i = 0; i < core_.hops().capacity(); ++i) {
      const u32 counted = core_.hops()[i].references;
      if (counted != expected[i] && !(counted == expected[i] + 1 && is_moving_to(i)))
        return fmt::format("the references of next hop {} are {}, not {}", i, counted, expected[i]);
    }
    return {};
  }
  // A direction that is being moved to another next hop holds both until the far side has answered.
  [[nodiscard]] bool is_moving_to(u32 hop) const {
    const command& c = core_.commands().current();
    if (!out_) return false;
    if (c.kind == command_kind::next_hop_set) return c.target.index == hop;
    return c.kind == command_kind::program && c.microflows[0].next_hop.index == hop;
  }

  [[nodiscard]] std::string hot_counts() const {
    std::map<u32, u32> expected;
    for (u32 i = 0; i < table_.capacity(); ++i)
      if (table_[i].state != record_state::free)
        for (u32 d = 0; d < 2; ++d)
          if (!table_[i].directions[d].stays) ++expected[core_.hot().bucket_of(table_.hash_of(i, d))];
    for (u32 bucket = 0; bucket >> core_.hot().bits() == 0; ++bucket) {
      const auto there = expected.find(bucket);
      const u32 tuples = there == expected.end() ? 0 : std::min(there->second, 255U);
      if (core_.hot().count(bucket) != tuples)
        return fmt::format("hot bucket {} counts {}, not {}", bucket, core_.hot().count(bucket), tuples);
    }
    return {};
  }

  const Engine& core_;
  const connections& table_;
  const fast_path& device_;
  const bool out_;
};

template <class Engine>
[[nodiscard]] bool reconcile(const Engine& core, const fast_path& device, std::string* why) {
  const std::string broken = reconciling<Engine>{core, device}.first_broken();
  if (!broken.empty() && why != nullptr) *why = broken;
  return broken.empty();
}

}  // namespace octep::sim
