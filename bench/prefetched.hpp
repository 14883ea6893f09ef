// Batches for the maps that can look ahead. A hash is computed once a tuple.
#pragma once

#include <span>
#include <type_traits>
#include <utility>

#include "bench/rivals.hpp"

namespace octep::bench {

template <class Map>
class prefetched;

inline constexpr usize longest_batch = 32;

#ifdef OCTEP_BENCH_ABSL
template <class Value>
class prefetched<absl_map<Value>> {
 public:
  explicit prefetched(const absl_map<Value>& map) : map_{map} {}

  template <class Each>
  void find_all(std::span<const tuple4> asked, Each&& each) const {
    usize hashes[longest_batch];
    for (usize i = 0; i < asked.size(); ++i) {
      hashes[i] = map_.hash_function()(asked[i]);
      map_.prefetch(asked[i]);
    }
    for (usize i = 0; i < asked.size(); ++i) {
      const auto at = const_cast<absl_map<Value>&>(map_).find(asked[i], hashes[i]);
      each(at == map_.end() ? ~Value{} : at->second);
    }
  }

 private:
  const absl_map<Value>& map_;
};
#endif

#ifdef OCTEP_BENCH_BOOST
// boost 1.81 keeps its arrays to itself and has no prefetch. A rival is not to lose for that: the language lets an explicit
// instantiation name private members, and these two hand them out.
namespace detail {
template <class Tag, auto Member>
struct opened {
  friend constexpr auto member_of(Tag) noexcept { return Member; }
};
struct boost_table {
  friend constexpr auto member_of(boost_table) noexcept;
};
struct boost_arrays {
  friend constexpr auto member_of(boost_arrays) noexcept;
};
using opened_map = boost::unordered_flat_map<tuple4, u32, hash_by_high_bits, same_words>;
template struct opened<boost_table, &opened_map::table_>;
using opened_table = std::remove_reference_t<decltype(std::declval<opened_map&>().*member_of(boost_table{}))>;
template struct opened<boost_arrays, &opened_table::arrays>;
}  // namespace detail

template <>
class prefetched<boost_map<u32>> {
 public:
  explicit prefetched(const boost_map<u32>& map) : map_{map} {}

  // Three steps, each of which finds what it reads in the cache: ask for the groups; ask for the elements that the groups
  // name; look up.
  template <class Each>
  void find_all(std::span<const tuple4> asked, Each&& each) const {
    const auto& table = static_cast<const detail::opened_map&>(map_).*member_of(detail::boost_table{});
    const auto& arrays = table.*member_of(detail::boost_arrays{});
    usize hashes[longest_batch];
    for (usize i = 0; i < asked.size(); ++i) {
      hashes[i] = map_.hash_function()(asked[i]);
      __builtin_prefetch(arrays.groups + (hashes[i] >> arrays.groups_size_index));
    }
    for (usize i = 0; i < asked.size(); ++i) {
      const usize at = hashes[i] >> arrays.groups_size_index;
      const auto alike = static_cast<u32>(arrays.groups[at].match(hashes[i]));
      if (alike != 0) __builtin_prefetch(arrays.elements + at * arrays.N + static_cast<u32>(__builtin_ctz(alike)));
    }
    for (usize i = 0; i < asked.size(); ++i) {
      const auto at = map_.find(asked[i]);
      each(at == map_.end() ? ~u32{0} : at->second);
    }
  }

 private:
  const boost_map<u32>& map_;
};
#endif

}  // namespace octep::bench
