// Kept out: tuples that an operator wants with the host until told otherwise (system.md 8, "kept out by the operator").
//
// Floor 2.
//
// What it is: a short list of tuples of both families; a connection one of whose two tuples is on it is not made.
// What it refuses: growing, and patterns. A make asks twice, so a search through the list must stay a few nanoseconds: it is
// empty on nearly every machine.
// What that buys: an operator who looks for a fault can keep one connection where a capture sees it.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/base.hpp>
#include <octep/tuple.hpp>

namespace octep {

class kept_out_tuples {
 public:
  static constexpr u32 room = 32;  // of each family; ours

  // True: it is on the list now, whether or not it was. False: no room.
  template <tuple_type Tuple>
  [[nodiscard]] bool add(const Tuple& t) noexcept {
    auto& l = of<Tuple>();
    if (l.position(t) != l.used) return true;
    if (l.used == room) return false;
    l.tuples[l.used++] = t;
    return true;
  }
  // False: it was not on it.
  template <tuple_type Tuple>
  [[nodiscard]] bool remove(const Tuple& t) noexcept {
    auto& l = of<Tuple>();
    const u32 i = l.position(t);
    if (i == l.used) return false;
    l.tuples[i] = l.tuples[--l.used];
    return true;
  }
  template <tuple_type Tuple>
  [[nodiscard]] bool has(const Tuple& t) const noexcept {
    const auto& l = of<Tuple>();
    return l.position(t) != l.used;
  }
  template <tuple_type Tuple, class Each>
  void for_each(Each&& each) const noexcept {
    const auto& l = of<Tuple>();
    for (u32 i = 0; i < l.used; ++i) each(l.tuples[i]);
  }

 private:
  template <tuple_type Tuple>
  struct list {
    array<Tuple, room> tuples{};
    u32 used = 0;

    [[nodiscard]] u32 position(const Tuple& t) const noexcept {
      u32 i = 0;
      while (i < used && !(tuples[i] == t)) ++i;
      return i;
    }
  };
  template <tuple_type Tuple>
  [[nodiscard]] const list<Tuple>& of() const noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return v4_;
    else
      return v6_;
  }
  template <tuple_type Tuple>
  [[nodiscard]] list<Tuple>& of() noexcept {
    if constexpr (is_same<Tuple, tuple4>)
      return v4_;
    else
      return v6_;
  }

  list<tuple4> v4_;
  list<tuple6> v6_;
};

}  // namespace octep
