// The general maps that octep is held against, each as its own author would want it used.
//
// - The same keyed hash as octep's. Maps that index by low bits (absl, robin_map, std) take its 32 bits as they are;
//   boost, which indexes by high bits and tells apart by the low byte, gets them in both halves and is told that they are
//   mixed already. So nobody pays for a second mix.
// - Two tuples are compared as two 64-bit words.
// - Room for what will come is reserved before.
// - Where octep is shared, a map stands behind a spinlock: an exchange in, a plain store out. pthread's takes part as well.
//
// What is not installed does not take part: `rivals_missing` names it.
#pragma once

#include <octep/hash.hpp>

#include <pthread.h>

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#define OCTEP_BENCH_ABSL 1
#endif
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#define OCTEP_BENCH_BOOST 1
#endif
#if __has_include(<tsl/robin_map.h>)
#include <tsl/robin_map.h>
#define OCTEP_BENCH_ROBIN 1
#endif

namespace octep::bench {

inline constexpr u64 hash_key = 1;

struct hash_by_low_bits {
  keyed_mix mix{hash_key};
  usize operator()(const tuple4& t) const noexcept { return mix(t); }
};

struct hash_by_high_bits {
  using is_avalanching = void;
  keyed_mix mix{hash_key};
  usize operator()(const tuple4& t) const noexcept {
    const usize h = mix(t);
    return h << 32 | h;
  }
};

struct same_words {
  bool operator()(const tuple4& a, const tuple4& b) const noexcept {
    static_assert(sizeof(tuple4) == 16);
    u64 x[2];
    u64 y[2];
    std::memcpy(x, &a, sizeof x);
    std::memcpy(y, &b, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
  }
};

// --- maps -------------------------------------------------------------------------------------------------

template <class Value>
struct std_map : std::unordered_map<tuple4, Value, hash_by_low_bits, same_words> {
  static constexpr std::string_view called = "std::unordered_map";
};

#ifdef OCTEP_BENCH_ABSL
template <class Value>
struct absl_map : absl::flat_hash_map<tuple4, Value, hash_by_low_bits, same_words> {
  static constexpr std::string_view called = "absl::flat_hash_map";
};
#endif

#ifdef OCTEP_BENCH_BOOST
template <class Value>
struct boost_map : boost::unordered_flat_map<tuple4, Value, hash_by_high_bits, same_words> {
  static constexpr std::string_view called = "boost::unordered_flat_map";
};
#endif

#ifdef OCTEP_BENCH_ROBIN
template <class Value>
struct robin_map : tsl::robin_map<tuple4, Value, hash_by_low_bits, same_words> {
  static constexpr std::string_view called = "tsl::robin_map";
};
#endif

template <class Map>
[[nodiscard]] auto& value_at(Map&, const typename Map::iterator& at) {
  if constexpr (requires { at.value(); }) {  // robin_map's iterators show a constant pair
    return const_cast<typename Map::mapped_type&>(at.value());
  } else {
    return at->second;
  }
}

// visit.template operator()<Map>() for each kind of map that is installed.
template <class Value, class Visit>
void for_each_map(Visit&& visit) {
#ifdef OCTEP_BENCH_ABSL
  visit.template operator()<absl_map<Value>>();
#endif
#ifdef OCTEP_BENCH_BOOST
  visit.template operator()<boost_map<Value>>();
#endif
#ifdef OCTEP_BENCH_ROBIN
  visit.template operator()<robin_map<Value>>();
#endif
  visit.template operator()<std_map<Value>>();
}

[[nodiscard]] inline std::vector<std::string> rivals_missing() {
  std::vector<std::string> names;
#ifndef OCTEP_BENCH_ABSL
  names.emplace_back("absl::flat_hash_map");
#endif
#ifndef OCTEP_BENCH_BOOST
  names.emplace_back("boost::unordered_flat_map");
#endif
#ifndef OCTEP_BENCH_ROBIN
  names.emplace_back("tsl::robin_map");
#endif
  return names;
}

// --- locks ------------------------------------------------------------------------------------------------

class exchange_lock {
 public:
  static constexpr std::string_view called = "";
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire))
      while (taken_.load(std::memory_order_relaxed)) {
      }
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class pthread_lock {
 public:
  static constexpr std::string_view called = " + pthread_spin";
  pthread_lock() { pthread_spin_init(&lock_, PTHREAD_PROCESS_PRIVATE); }
  pthread_lock(const pthread_lock&) = delete;
  pthread_lock& operator=(const pthread_lock&) = delete;
  ~pthread_lock() { pthread_spin_destroy(&lock_); }
  void lock() noexcept { pthread_spin_lock(&lock_); }
  void unlock() noexcept { pthread_spin_unlock(&lock_); }

 private:
  pthread_spinlock_t lock_{};
};

}  // namespace octep::bench
