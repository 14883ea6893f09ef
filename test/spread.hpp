// How evenly a hash fills 64 slots: the traffic patterns, the figures, and what a random function would do.
//
// Shared by test/hash_test.cpp, which holds the policies to bounds, and bench/spread_bench.cpp, which prints every figure.
//
// A pattern is a set of flows: runs of neighbours, each run at a base that is drawn anew. What climbs in a run is the
// source port, the source address, or both; `reversed` hashes each flow's other direction instead; the byte order says
// what one step is: `network`, the number that people write climbs by one (its last byte on the wire); `host`, the word
// that is hashed climbs by one (its first byte on the wire).
//
// The figures of a random function need no measuring: how many flows fall into a slot is binomial.
#pragma once

#include <octep/hash.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace octep::spread {

inline constexpr u32 slot_bits = 6;
inline constexpr u32 slots = 1U << slot_bits;
inline constexpr u32 places = 4;

enum class climbing { nothing, ports, hosts, both, prefixes };

struct pattern {
  climbing what = climbing::nothing;
  bool reversed = false;
  bool network_order = true;
  u32 run = 1;     // neighbours in a run
  u32 flows = 64;  // in all: a multiple of `run`
};

inline std::string name_of(const pattern& p) {
  if (p.what == climbing::nothing) return fmt::format("random {}", p.flows);
  const char* const what = p.what == climbing::ports     ? "ports"
                           : p.what == climbing::hosts   ? "hosts"
                           : p.what == climbing::both    ? "both"
                                                         : "prefixes";
  return fmt::format("{} {} {} {}x{}", what, p.reversed ? "reverse" : "forward", p.network_order ? "network" : "host",
                     p.flows / p.run, p.run);
}

// Every pattern of performance.md. A run stands alone, which shows it best, and short ones also fill up to 64 flows, the
// load that lost shares are stated for. `six` adds delegated prefixes that climb.
inline std::vector<pattern> patterns(bool six) {
  struct shape {
    u32 run;
    u32 flows;
  };
  std::vector<pattern> all;
  for (const u32 flows : {4U, 8U, 64U, 256U}) all.push_back({.flows = flows});
  for (const climbing what : {climbing::ports, climbing::hosts, climbing::both, climbing::prefixes}) {
    if (what == climbing::prefixes && !six) continue;
    for (const bool reversed : {false, true}) {
      for (const bool network_order : {true, false}) {
        for (const shape s : {shape{4, 4}, {8, 8}, {64, 64}, {256, 256}, {4, 64}, {8, 64}}) {
          all.push_back({what, reversed, network_order, s.run, s.flows});
        }
      }
    }
  }
  return all;
}

// A word of the wire, `steps` further: in network order its four bytes are a number with the last byte least.
inline u32 climbed(u32 word, u32 steps, bool network_order) {
  return network_order ? __builtin_bswap32(__builtin_bswap32(word) + steps) : word + steps;
}
inline u16 climbed(u16 word, u32 steps, bool network_order) {
  return network_order ? swap_bytes(static_cast<u16>(swap_bytes(word) + steps)) : static_cast<u16>(word + steps);
}

inline void draw(tuple4& t, std::mt19937_64& random) {
  const u64 addresses = random();
  t = tuple4::make(static_cast<u32>(addresses), static_cast<u32>(addresses >> 32), static_cast<u32>(random()),
                   protocol::tcp);
}
inline void draw(tuple6& t, std::mt19937_64& random) {
  u32 words[9];
  for (u32& w : words) w = static_cast<u32>(random());
  t = tuple6::make({words[0], words[1], words[2], words[3]}, {words[4], words[5], words[6], words[7]}, words[8],
                   protocol::tcp);
}

inline void climb_host(tuple4& t, u32 steps, bool network_order) { t.source = climbed(t.source, steps, network_order); }
inline void climb_host(tuple6& t, u32 steps, bool network_order) {
  t.source[3] = climbed(t.source[3], steps, network_order);
}
inline void climb_prefix(tuple4&, u32, bool) {}
inline void climb_prefix(tuple6& t, u32 steps, bool network_order) {
  t.source[1] = climbed(t.source[1], steps, network_order);
}

template <tuple_type Tuple>
void fill(const pattern& p, std::mt19937_64& random, std::vector<Tuple>& out) {
  out.clear();
  Tuple base;
  for (u32 i = 0; i < p.flows; ++i) {
    const u32 step = i % p.run;
    if (step == 0) draw(base, random);
    Tuple t = base;
    if (p.what == climbing::ports || p.what == climbing::both) {
      t.ports = join_ports(climbed(t.source_word(), step, p.network_order), t.destination_word());
    }
    if (p.what == climbing::hosts || p.what == climbing::both) climb_host(t, step, p.network_order);
    if (p.what == climbing::prefixes) climb_prefix(t, step, p.network_order);
    out.push_back(p.reversed ? reverse(t) : t);
  }
}

// One set of flows over the slots.
class load {
 public:
  void clear() { count_.fill(0), flows_ = 0; }
  void add(u32 hash) { ++count_[top_bits(hash, slot_bits)], ++flows_; }

  [[nodiscard]] u32 used() const {
    return slots - static_cast<u32>(std::count(count_.begin(), count_.end(), 0U));
  }
  [[nodiscard]] u32 largest() const { return *std::max_element(count_.begin(), count_.end()); }
  // Flows for which a slot of `room` places has none.
  [[nodiscard]] u32 lost(u32 room) const {
    u32 sum = 0;
    for (const u32 c : count_) sum += c > room ? c - room : 0;
    return sum;
  }
  // 1 on average for a random function, whatever the number of flows.
  [[nodiscard]] double chi_square_per_degree() const {
    u64 squares = 0;
    for (const u32 c : count_) squares += u64{c} * c;
    const double n = flows_;
    return (static_cast<double>(squares) * slots / n - n) / (slots - 1);
  }

 private:
  std::array<u32, slots> count_{};
  u32 flows_ = 0;
};

struct figures {
  double used = 0;         // slots, mean
  double largest = 0;      // flows in the fullest slot, mean
  double chi_square = 0;   // per degree of freedom, mean
  double lost_one = 0;     // share of the flows, mean, one place a slot
  double lost_four = 0;    // share of the flows, mean, four places a slot
  double worst_lost = 0;   // share of the flows, four places, the worst draw
  double worst_key = 0;    // mean chi-square per degree under the worst key (over that key's draws)
};

// `hashes`: the same function under its keys, taken in turn; each draw takes a new base. A function without a key is a
// list of one. `draws` is a multiple of the number of keys.
template <tuple_type Tuple, class Hash>
figures measure(const std::vector<Hash>& hashes, const pattern& p, u32 draws, u64 seed) {
  std::mt19937_64 random{seed};
  std::vector<Tuple> tuples;
  std::vector<double> by_key(hashes.size());
  figures sum;
  load slots_of_draw;
  for (u32 d = 0; d < draws; ++d) {
    fill(p, random, tuples);
    slots_of_draw.clear();
    const usize key = d % hashes.size();
    for (const Tuple& t : tuples) slots_of_draw.add(hashes[key](t));
    const double chi_square = slots_of_draw.chi_square_per_degree();
    const double lost_four = static_cast<double>(slots_of_draw.lost(places)) / p.flows;
    sum.used += slots_of_draw.used();
    sum.largest += slots_of_draw.largest();
    sum.chi_square += chi_square;
    sum.lost_one += static_cast<double>(slots_of_draw.lost(1)) / p.flows;
    sum.lost_four += lost_four;
    sum.worst_lost = std::max(sum.worst_lost, lost_four);
    by_key[key] += chi_square;
  }
  for (double* f : {&sum.used, &sum.largest, &sum.chi_square, &sum.lost_one, &sum.lost_four}) *f /= draws;
  sum.worst_key = *std::max_element(by_key.begin(), by_key.end()) / (draws / static_cast<double>(hashes.size()));
  return sum;
}

// A random function at the same load, exactly. The largest load has no short form and is measured (random_function).
inline figures of_random(u32 flows) {
  const double share = 1.0 / slots;
  double exactly = std::pow(1 - share, flows);  // a slot holds k flows: here k = 0
  double beyond_one = 0;
  double beyond_four = 0;
  for (u32 k = 1; k <= flows; ++k) {
    exactly *= (flows - k + 1.0) / k * share / (1 - share);
    if (k > 1) beyond_one += (k - 1.0) * exactly;
    if (k > places) beyond_four += (k - 1.0 * places) * exactly;
  }
  figures f;
  f.used = slots * (1 - std::pow(1 - share, flows));
  f.chi_square = 1;
  f.lost_one = slots * beyond_one / flows;
  f.lost_four = slots * beyond_four / flows;
  return f;
}

// The worst a policy does over `patterns`, as a ratio to a random function at the same load. Lost shares with four places
// count from 64 flows on: below, a random function loses next to nothing and a ratio means nothing.
struct verdict {
  double chi_square = 0;
  double lost = 0;
  pattern worst_chi_square;
  pattern worst_lost;

  void take(const pattern& p, const figures& f) {
    const figures random = of_random(p.flows);
    if (f.chi_square > chi_square) chi_square = f.chi_square, worst_chi_square = p;
    double ratio = f.lost_one / random.lost_one;
    if (p.flows >= slots) ratio = std::max(ratio, f.lost_four / random.lost_four);
    if (ratio > lost) lost = ratio, worst_lost = p;
  }
};

// --- functions to compare with ------------------------------------------------------------------------------------

// Every call is a new draw: what a random function does with flows that all differ.
class random_function {
 public:
  explicit random_function(u64 seed) : random_{seed} {}
  template <tuple_type Tuple>
  u32 operator()(const Tuple&) const {
    return static_cast<u32>(random_() >> 32);
  }

 private:
  mutable std::mt19937_64 random_;
};

// The 13 or 37 bytes that a network card or a kernel would hash: addresses, ports, protocol.
template <tuple_type Tuple>
auto bytes_of(const Tuple& t) {
  std::array<u8, (Tuple::words - 1) * 4 + 1> bytes{};
  // The ports as they stand on the wire: the source first, so its word is the low half.
  for (u32 i = 0; i + 2 < Tuple::words; ++i) store_le32(bytes.data() + 4 * i, t.word(i));
  store_le32(bytes.data() + 4 * (Tuple::words - 2), rotate_left(t.ports, 16));
  bytes.back() = static_cast<u8>(t.proto);
  return bytes;
}

// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), a table of 256 steps. The seed is where the
// register starts, which is all the key that it can be given.
class crc32c {
 public:
  explicit crc32c(u64 seed = ~u64{0}) : start_{static_cast<u32>(seed)} {}

  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const {
    return of(bytes_of(t));
  }
  template <class Bytes>
  u32 of(const Bytes& bytes) const {
    u32 crc = start_;
    for (const u8 b : bytes) crc = (crc >> 8) ^ table()[(crc ^ b) & 0xff];
    return ~crc;
  }

 private:
  static const std::array<u32, 256>& table() {
    static const std::array<u32, 256> steps = [] {
      std::array<u32, 256> made{};
      for (u32 i = 0; i < 256; ++i) {
        u32 crc = i;
        for (u32 bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ 0x82f6'3b78U : crc >> 1;
        made[i] = crc;
      }
      return made;
    }();
    return steps;
  }

  u32 start_;
};

// CRC-32C, then one multiply: cheap in hardware and even, yet no more keyed than CRC-32C.
struct crc32c_times {
  crc32c inner;
  explicit crc32c_times(u64 seed = ~u64{0}) : inner{seed} {}
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const {
    return inner(t) * recorded_mix::multiplier;
  }
};

// What receive-side scaling computes: for every bit of the input that is set, the 32 bits of the key that begin there.
class toeplitz {
 public:
  explicit toeplitz(u64 seed) {
    std::mt19937_64 random{seed};
    for (u8& b : key_) b = static_cast<u8>(random());
  }
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const {
    u32 hash = 0;
    u64 window = load_be64(key_.data());
    usize next = 8;
    for (const u8 b : bytes_of(t)) {
      for (u32 bit = 0; bit < 8; ++bit) {
        if ((b & (0x80U >> bit)) != 0) hash ^= static_cast<u32>(window >> 32);
        window <<= 1;
      }
      window |= key_[next++];
    }
    return hash;
  }

 private:
  std::array<u8, 48> key_{};
};

// Bob Jenkins' lookup3 for whole words, as kernels use it (public domain; the rotations are its definition).
class jenkins {
 public:
  explicit jenkins(u64 seed) : seed_{static_cast<u32>(seed)} {}
  template <tuple_type Tuple>
  u32 operator()(const Tuple& t) const {
    u32 a = 0xdead'beefU + (Tuple::words << 2) + seed_;
    u32 b = a;
    u32 c = a;
    if constexpr (Tuple::words == 4) {
      a += t.word(0), b += t.word(1), c += t.word(2);
      mix(a, b, c);
      a += t.word(3);
    } else {
      a += t.source[0], b += t.source[1], c += t.source[2];
      mix(a, b, c);
      a += t.source[3], b += t.destination[0], c += t.destination[1];
      mix(a, b, c);
      a += t.destination[2], b += t.destination[3], c += t.ports;
      mix(a, b, c);
      a += static_cast<u32>(t.proto);
    }
    finish(c, b, 14), finish(a, c, 11), finish(b, a, 25), finish(c, b, 16), finish(a, c, 4), finish(b, a, 14), finish(c, b, 24);
    return c;
  }

 private:
  static void mix(u32& a, u32& b, u32& c) {
    step(a, c, b, 4), step(b, a, c, 6), step(c, b, a, 8), step(a, c, b, 16), step(b, a, c, 19), step(c, b, a, 4);
  }
  static void step(u32& x, u32& y, u32 z, u32 by) {
    x -= y;
    x ^= rotate_left(y, by);
    y += z;
  }
  static void finish(u32& x, u32 y, u32 by) {
    x ^= y;
    x -= rotate_left(y, by);
  }

  u32 seed_;
};

// Dead end: the first of keyed_mix's products alone.
class one_wide_multiply {
 public:
  explicit one_wide_multiply(u64 seed) {
    std::mt19937_64 random{seed};
    for (u64& k : key_) k = random();
  }
  u32 operator()(const tuple4& t) const {
    return static_cast<u32>(detail::multiply_wide(detail::join_words(t.source, t.destination) ^ key_[0],
                                                  detail::tail_word(t) ^ key_[1])
                                .folded() >>
                            32);
  }

 private:
  std::array<u64, 2> key_{};
};

// Dead end: fold_mix without its middle step.
struct two_narrow_multiplies {
  u32 operator()(const tuple4& t) const {
    const u64 x = detail::stir(detail::join_words(t.source, t.destination), detail::root_of_2) ^ detail::tail_word(t);
    return static_cast<u32>((x * detail::golden_ratio) >> 32);
  }
};

}  // namespace octep::spread
