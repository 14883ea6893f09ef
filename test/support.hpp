// What the tests of the tables share: memory for an arena, and tuples of both families to choose from.
#pragma once

#include <octep/arena.hpp>
#include <octep/base.hpp>
#include <octep/tuple.hpp>

#include <rapidcheck.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace octep::test {

// Exactly `bytes` of aligned memory, so that AddressSanitizer sees a table that needs more than it says, filled with a
// pattern, so that a table that reads before it writes does not get zeros by luck.
class block {
 public:
  explicit block(usize bytes)
      : memory_{static_cast<std::byte*>(::operator new(bytes, align)), deleter{}}, bytes_{bytes} {
    std::memset(memory_.get(), 0xa5, bytes);
  }
  [[nodiscard]] arena cut() noexcept { return {memory_.get(), bytes_}; }
  [[nodiscard]] std::byte* data() noexcept { return memory_.get(); }

 private:
  static constexpr std::align_val_t align{arena::alignment};
  struct deleter {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, align); }
  };
  std::unique_ptr<std::byte, deleter> memory_;
  usize bytes_;
};

// A few different tuples by number; the two families have the same low words, so that only the family tells them apart.
template <tuple_type Tuple>
[[nodiscard]] inline Tuple numbered(u32 number) {
  typename Tuple::address from{};
  typename Tuple::address to{};
  if constexpr (is_same<Tuple, tuple4>) {
    from = 10 + number / 4;
    to = 99;
  } else {
    from[0] = 10 + number / 4;
    to[0] = 99;
  }
  return Tuple::make(from, to, join_ports(port_word(static_cast<u16>(1000 + number % 4)), port_word(443)),
                     protocol::tcp);
}

[[nodiscard]] inline rc::Gen<protocol> any_protocol(family which) {
  return rc::gen::element(protocol::tcp, protocol::udp, which == family::ipv4 ? protocol::icmp : protocol::icmp6);
}

// Each of the two addresses and each port word from a handful, so that coincidences happen, or from all.
[[nodiscard]] inline rc::Gen<u16> any_word() {
  return rc::gen::oneOf(rc::gen::element<u16>(0, 1, port_word(8), port_word(128), 0xffff), rc::gen::arbitrary<u16>());
}

template <tuple_type Tuple>
[[nodiscard]] rc::Gen<typename Tuple::address> any_address() {
  const auto word = rc::gen::oneOf(rc::gen::element<u32>(0, 1, 2, 0xffff'ffff), rc::gen::arbitrary<u32>());
  if constexpr (is_same<Tuple, tuple4>) {
    return word;
  } else {
    return rc::gen::map(rc::gen::tuple(word, word, word, word), [](const auto& w) {
      return address6{std::get<0>(w), std::get<1>(w), std::get<2>(w), std::get<3>(w)};
    });
  }
}

template <tuple_type Tuple>
[[nodiscard]] rc::Gen<Tuple> any_tuple() {
  return rc::gen::map(
      rc::gen::tuple(any_address<Tuple>(), any_address<Tuple>(), any_word(), any_word(), any_protocol(Tuple::which)),
      [](const auto& p) {
        return Tuple::make(std::get<0>(p), std::get<1>(p), join_ports(std::get<2>(p), std::get<3>(p)), std::get<4>(p));
      });
}

}  // namespace octep::test
