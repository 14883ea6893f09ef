// Hash policies: from a tuple to 32 bits whose TOP bits index the candidate table and the hot table.
//
// Floor 2.
//
// What it is: a contract and three policies.
//   recorded_mix   the record's, one 32-bit multiply: cheapest, and ten times worse than random where a host climbs
//                  together with its port (docs/hash.md)
//   fold_mix       no key, no wide multiply: spreads like a random function, foreseen by anyone who reads this file
//   keyed_mix      the default: a 64 x 64 -> 128 multiply and a narrow one under a key chosen at start; nobody outside can
//                  pick ports that fill a slot on purpose
//
// The contract (test/hash_test.cpp, test/spread.hpp and bench/spread_bench.cpp hold every policy against it):
//   - neighbours spread: ports, hosts, both climbing, forward and reverse, in either byte order, fill slots as a random
//     function does. recorded_mix is here because the record needs it, and does not;
//   - the two directions of a connection are not tied: they share one of 64 slots once in 64;
//   - the value is the same on every architecture: it is made of a tuple's words, which are little-endian loads;
//   - it is pure; golden values pin it.
//
// Refuses: bytes in memory, a length, the low bits (a multiply never carries downwards: the recorded fault,
// sim/recorded_hash_fault.hpp), and a key that only shifts the result (CRC32C under another seed collides as before).
// Buys: a few cycles a frame, no table, no vector register, one text for a kernel and a test.
// Concurrency: values; a policy is copied at start and never written again.
#pragma once

#include <octep/tuple.hpp>

namespace octep {

// A hash policy: callable on both kinds of tuple, without state that changes.
template <class H>
concept hash_policy = requires(const H& h, const tuple4& four, const tuple6& six) {
  { h(four) } -> same_as<u32>;
  { h(six) } -> same_as<u32>;
  requires noexcept(h(four)) && noexcept(h(six));
};

// The index of `hash` in a table of 2^bits; bits from 0 (one entry, index 0) to 32.
[[nodiscard]] constexpr u32 top_bits(u32 hash, u32 bits) noexcept {
  return static_cast<u32>((u64{hash} << bits) >> 32);
}

namespace detail {

// Odd 64-bit numbers with no structure: 2^64 divided by the golden ratio, and the first digits of the square roots of 2,
// 3 and 5 (fraction, in hexadecimal, last bit set). Nothing rests on their values but the golden values of the tests.
inline constexpr u64 golden_ratio = 0x9e37'79b9'7f4a'7c15;
inline constexpr u64 root_of_2 = 0x6a09'e667'f3bc'c909;
inline constexpr u64 root_of_3 = 0xbb67'ae85'84ca'a73b;
inline constexpr u64 root_of_5 = 0x3c6e'f372'fe94'f82b;

[[nodiscard]] constexpr u64 join_words(u32 low, u32 high) noexcept { return (u64{high} << 32) | low; }

// Ports and protocol as one word: with the addresses they are the whole tuple, each bit once.
[[nodiscard]] constexpr u64 tail_word(const tuple_tail& t) noexcept {
  return join_words(t.ports, static_cast<u32>(t.proto));
}

// One bijective step: the multiply carries upwards, the shift brings the top half back down.
[[nodiscard]] constexpr u64 stir(u64 x, u64 odd) noexcept {
  x *= odd;
  return x ^ (x >> 32);
}

struct wide_product {
  u64 low;
  u64 high;

  [[nodiscard]] constexpr u64 folded() const noexcept { return low ^ high; }
};

// One instruction on x86-64, two on aarch64; a 128-bit product calls no library (a division would).
[[nodiscard]] constexpr wide_product multiply_wide(u64 a, u64 b) noexcept {
  const __uint128_t p = __uint128_t{a} * b;
  return {static_cast<u64>(p), static_cast<u64>(p >> 64)};
}

}  // namespace detail

// The recorded mix (system.md 3). `product` is the whole product: the fault reads other bits of the same one.
struct recorded_mix {
  static constexpr u32 multiplier = 0x9e37'79b1;  // system.md 3

  [[nodiscard]] static constexpr u32 product(const tuple4& t) noexcept {
    u32 h = t.source ^ rotate_left(t.destination, 13);
    h ^= t.ports;
    h ^= static_cast<u32>(t.proto);
    return h * multiplier;
  }

  // The same shape over 64-bit words. Each address goes through two bijective steps first, so that two of its words that
  // climb together cannot cancel (ours: the record hashes no IPv6).
  [[nodiscard]] static constexpr u64 product(const tuple6& t) noexcept {
    const u64 destination = fold(t.destination);
    u64 h = fold(t.source) ^ ((destination << 13) | (destination >> 51));
    h ^= t.ports;
    h ^= static_cast<u32>(t.proto);
    return h * detail::golden_ratio;
  }

  [[nodiscard]] constexpr u32 operator()(const tuple4& t) const noexcept { return product(t); }
  [[nodiscard]] constexpr u32 operator()(const tuple6& t) const noexcept {
    return static_cast<u32>(product(t) >> 32);
  }

 private:
  [[nodiscard]] static constexpr u64 fold(const address6& a) noexcept {
    const u64 prefix = detail::stir(detail::join_words(a[0], a[1]), detail::root_of_2);
    return detail::stir(prefix ^ detail::join_words(a[2], a[3]), detail::root_of_3);
  }
};

// Strong without a key: each 64-bit word of the tuple is stirred in. Three narrow multiplies for IPv4, six for IPv6.
struct fold_mix {
  [[nodiscard]] constexpr u32 operator()(const tuple4& t) const noexcept {
    return finish(detail::stir(detail::join_words(t.source, t.destination), detail::root_of_2), t);
  }
  [[nodiscard]] constexpr u32 operator()(const tuple6& t) const noexcept {
    u64 x = detail::stir(detail::join_words(t.source[0], t.source[1]), detail::root_of_2);
    x = detail::stir(x ^ detail::join_words(t.source[2], t.source[3]), detail::root_of_5);
    x = detail::stir(x ^ detail::join_words(t.destination[0], t.destination[1]), detail::golden_ratio);
    x = detail::stir(x ^ detail::join_words(t.destination[2], t.destination[3]), detail::root_of_2);
    return finish(x, t);
  }

 private:
  [[nodiscard]] static constexpr u32 finish(u64 x, const detail::tuple_tail& tail) noexcept {
    x = detail::stir(x ^ detail::tail_word(tail), detail::root_of_3);
    return static_cast<u32>((x * detail::golden_ratio) >> 32);
  }
};

// The default. The first product multiplies the keyed addresses by the keyed ports and keeps all 128 bits, the second
// multiplies its two halves under a second pair of keys and keeps the top of the low word: a wide second product spreads
// no better and costs more (docs/hash.md). An outsider without the key cannot tell which tuples collide, and those that
// collide under one key do not under another. Not a message authentication code: it keeps strangers from aiming, not from
// guessing after they watched every slot for days.
class keyed_mix {
 public:
  // The key of a default-constructed policy, for tests, replays and tables of figures: "octep" in ASCII. A receive path
  // that strangers reach is given 64 unpredictable bits instead.
  static constexpr u64 fixed_seed = 0x6f'6374'6570;

  constexpr keyed_mix() noexcept : keyed_mix{fixed_seed} {}

  constexpr explicit keyed_mix(u64 seed) noexcept {
    for (u64& key : key_) {
      seed += detail::golden_ratio;
      key = detail::stir(detail::stir(detail::stir(seed, detail::root_of_2), detail::root_of_3), detail::root_of_5);
    }
  }

  [[nodiscard]] constexpr u32 operator()(const tuple4& t) const noexcept {
    return finish(detail::join_words(t.source, t.destination), t);
  }

  // Each address is first folded to 64 bits by a product of its own, under keys of its own.
  [[nodiscard]] constexpr u32 operator()(const tuple6& t) const noexcept {
    const u64 source = fold(t.source, key_[4], key_[5]);
    const u64 destination = fold(t.destination, key_[6], key_[7]);
    return finish(source ^ destination, t);
  }

 private:
  [[nodiscard]] static constexpr u64 fold(const address6& a, u64 k, u64 l) noexcept {
    return detail::multiply_wide(detail::join_words(a[0], a[1]) ^ k, detail::join_words(a[2], a[3]) ^ l).folded();
  }
  [[nodiscard]] constexpr u32 finish(u64 addresses, const detail::tuple_tail& tail) const noexcept {
    const detail::wide_product first = detail::multiply_wide(addresses ^ key_[0], detail::tail_word(tail) ^ key_[1]);
    return static_cast<u32>(((first.low ^ key_[2]) * (first.high ^ key_[3])) >> 32);
  }

  u64 key_[8]{};
};

static_assert(hash_policy<recorded_mix> && hash_policy<fold_mix> && hash_policy<keyed_mix>);

}  // namespace octep
