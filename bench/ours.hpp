// Everything that the races call of octep's tables, in one place: when an interface moves, this file moves and no race does.
#pragma once

#include <octep/candidates.hpp>
#include <octep/connections.hpp>
#include <octep/engine/policies.hpp>
#include <octep/hot_table.hpp>
#include <octep/host/vector_tags.hpp>

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "bench/remembered.hpp"
#include "bench/rivals.hpp"

namespace octep::bench {

using design = default_policies;
inline constexpr u32 slots = design::geometry.slots;
inline constexpr u32 places = design::geometry.places;

// As a host has it: tags in a vector register.
template <tuple_type Tuple>
using our_candidates = candidates<Tuple, design::geometry, design::choice, vector_tags, design::atomics>;

// The candidate table of the default design, asked as the receive path and a pass ask it. Hash included.
class our_table {
 public:
  // What became of it, by `write_outcome::bits`: as `punt` asks.
  [[gnu::always_inline]] u32 write(const tuple4& t, const arrival& frame) noexcept {
    return table_.write_for_bits(t, mix_(t), frame, due_log2);
  }

  // A pass over everything. What it took of candidates, each of them once.
  [[gnu::always_inline]] u64 walk() noexcept {
    const auto anything = [](const auto&) noexcept { return true; };
    u64 taken = 0;
    u32 place = 0;
    for (u32 slot = 0; slot < slots; ++slot)
      for (u32 from = 0; table_.take(slot, from, anything, out_, place) == got::one; from = place + 1) ++taken;
    return taken;
  }

 private:
  our_candidates<tuple4> table_;
  design::hash mix_{hash_key};
  candidate<tuple4> out_;
};

// The connection table, and the hot table in front of it, over memory of their own.
class our_connections {
 public:
  explicit our_connections(u32 capacity)
      : memory_(connections::bytes_for(capacity, false) + arena::alignment),
        buckets_(hot_table<>::buckets_for(capacity)) {
    void* first = memory_.data();
    usize room = memory_.size();
    std::align(arena::alignment, 1, first, room);
    arena from{first, room};
    if (!table_.init(from, capacity, false)) std::abort();
    hot_.init({buckets_.data(), buckets_.size()});
  }

  void hold(const tuple4& opener, const tuple4& responder) {
    const u32 hashes[2] = {mix_(opener), mix_(responder)};
    if (table_.allocate<tuple4>({opener, responder}, hashes[0], hashes[1]) == connections::none) std::abort();
    for (const u32 h : hashes) hot_.add(h);
  }

  // index x 2 + direction, or `nobody`.
  static constexpr u32 nobody = ~u32{0};
  [[nodiscard, gnu::always_inline]] u32 find(const tuple4& t) const noexcept { return name_of(table_.find(t, mix_(t))); }
  [[nodiscard, gnu::always_inline]] u32 find_behind_hot(const tuple4& t) const noexcept {
    const u32 hash = mix_(t);
    return hot_.perhaps(hash) ? name_of(table_.find(t, hash)) : nobody;
  }

  static constexpr usize batch = 32;
  // each(u32 name) for every tuple, in order.
  template <class Each>
  [[gnu::always_inline]] void find_all(std::span<const tuple4> asked, Each&& each) const noexcept {
    u32 hashes[batch];
    found said[batch];
    for (usize i = 0; i < asked.size(); ++i) hashes[i] = mix_(asked[i]);
    table_.find_batch(asked.data(), hashes, asked.size(), said);
    for (usize i = 0; i < asked.size(); ++i) each(name_of(said[i]));
  }

 private:
  [[nodiscard]] static u32 name_of(const found& f) noexcept { return f.is ? f.index * 2 + f.direction : nobody; }

  std::vector<unsigned char> memory_;
  std::vector<hot_table<>::cell> buckets_;
  connections table_;
  hot_table<> hot_;
  design::hash mix_{hash_key};
};

}  // namespace octep::bench
