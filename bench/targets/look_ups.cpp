// P4: which held connection a tuple belongs to, at the size of the recorded device and at two million.
//
// Everybody holds the same tuples, two a connection, and says (index, direction). Hits and misses are drawn evenly, and at
// two million the stream is long enough that no cache holds what it touches. In batches everybody may look ahead: absl has
// its own prefetch; boost has none to call, so it is given one, in two steps: the group of a tuple's hash, then the element
// that the group names.
#include <memory>
#include <numeric>

#include "bench/dpdk/dpdk.hpp"
#include "bench/ours.hpp"
#include "bench/prefetched.hpp"
#include "bench/streams.hpp"
#include "bench/targets/targets.hpp"

namespace octep::bench {
namespace {

constexpr u32 nobody = our_connections::nobody;

template <class Map>
u32 find_in(const Map& map, const tuple4& t) {
  const auto at = map.find(t);
  return at == map.end() ? nobody : at->second;
}

// A lap over windows of what is asked.
template <class Find>
lap one_by_one(const stream& asked, Find find) {
  return [&asked, find](u64 turn) {
    u64 sum = 0;
    for (const tuple4& t : asked.window(turn)) sum += find(t);
    return sum;
  };
}

template <class FindAll>
lap in_batches(const stream& asked, FindAll find_all) {
  return [&asked, find_all](u64 turn) {
    u64 sum = 0;
    const auto window = asked.window(turn);
    for (usize at = 0; at < window.size(); at += our_connections::batch)
      find_all(window.subspan(at, our_connections::batch), [&sum](u32 name) { sum += name; });
    return sum;
  };
}

struct everybody {
  u32 connections;
  std::shared_ptr<our_connections> ours;
  std::vector<std::pair<std::string, std::function<lap(const stream&)>>> single;
  std::vector<std::pair<std::string, std::function<lap(const stream&)>>> batched;

  explicit everybody(u32 count) : connections{count}, ours{std::make_shared<our_connections>(count)} {
    for (u32 i = 0; i < count; ++i) ours->hold(flow_of(i, 1), reverse(flow_of(i, 1)));
    for_each_map<u32>([&]<class Map>() {
      const auto map = std::make_shared<Map>();
      map->reserve(usize{count} * 2);
      for (u32 i = 0; i < count; ++i) {
        map->try_emplace(flow_of(i, 1), i * 2);
        map->try_emplace(reverse(flow_of(i, 1)), i * 2 + 1);
      }
      const std::string name{Map::called};
      single.emplace_back(name, [map](const stream& asked) {
        return one_by_one(asked, [map](const tuple4& t) { return find_in(*map, t); });
      });
      if constexpr (requires(const Map& m) { prefetched<Map>{m}; }) {
        batched.emplace_back(name + ", prefetched", [map](const stream& asked) {
          return in_batches(asked, [it = prefetched<Map>{*map}, map](auto some, auto&& each) { it.find_all(some, each); });
        });
      }
      batched.emplace_back(name + ", one by one", single.back().second);
    });
    if (dpdk_takes_part) {
      const dpdk_look_up rte = dpdk_hold(count);
      single.emplace_back(rte_hash_called, rte.single);
      batched.emplace_back(fmt::format("{}, in bulk", rte_hash_called), rte.bulk);
    }
  }

  void measure(report& out, const options& o, const char* what, const stream& asked, double target) const {
    const std::string id = fmt::format("P4-{}-{}", connections, what);
    if (!out.wants(id)) return;
    race r{stream::window_length};
    r.enter(role::ours, "octep", one_by_one(asked, [t = ours](const tuple4& a) { return t->find(a); }));
    r.enter(role::shown, "octep, hot table in front",
            one_by_one(asked, [t = ours](const tuple4& a) { return t->find_behind_hot(a); }));
    for (const auto& [name, lap_of] : single) r.enter(role::rival, name, lap_of(asked));
    r.answers_agree().run(5, o.rounds(connections > 100'000 ? 30 : 90));
    out.add(id, fmt::format("look-up, {} held, {}", connections, what), r, "octep", target);
    remark_on(out, r);
  }

  void measure_batched(report& out, const options& o, const char* what, const stream& asked, double target) const {
    const std::string id = fmt::format("P4-{}-batched-{}", connections, what);
    if (!out.wants(id)) return;
    race r{stream::window_length};
    r.enter(role::ours, "octep",
            in_batches(asked, [t = ours](auto some, auto&& each) { t->find_all(some, each); }));
    for (const auto& [name, lap_of] : batched) r.enter(role::rival, name, lap_of(asked));
    r.answers_agree().run(5, o.rounds(connections > 100'000 ? 30 : 90));
    out.add(id, fmt::format("batches of {}, {} held, {}", our_connections::batch, connections, what), r, "octep", target);
    remark_on(out, r);
  }

  static void remark_on(const report& out, const race& r) {
    std::string others;
    for (const auto& c : r.all())
      if (c.as != role::ours) others += fmt::format("{}{} {:.2f}", others.empty() ? "" : ", ", c.name, c.median());
    out.remark(others);
  }
};

void measure_size(report& out, const options& o, u32 connections) {
  if (!out.wants(fmt::format("P4-{}", connections))) return;
  const bool large = connections > 100'000;
  const u32 windows = large ? 64 : 4;
  const everybody all{connections};
  std::vector<tuple4> held = flows_of(connections, 1);
  for (u32 i = 0; i < connections; ++i) held.push_back(reverse(held[i]));
  const stream hits{std::move(held), order::uniform, windows};
  const stream misses{flows_of(2 * connections, 2), order::uniform, windows};
  all.measure(out, o, "hit", hits, large ? 0.7 : connections == 1'022 ? 1.1 : 0);
  all.measure(out, o, "miss", misses, connections == 1'022 ? 1.3 : 0);
  all.measure_batched(out, o, "hit", hits, large ? 0.45 : 0);
  if (large) all.measure_batched(out, o, "miss", misses, 0);
}

}  // namespace

void measure_look_ups(report& out, const options& o) {
  measure_size(out, o, 1'022);
  if (!o.quick) measure_size(out, o, 65'536);
  measure_size(out, o, 2'000'000);
}

}  // namespace octep::bench
