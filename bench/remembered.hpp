// What a rival keeps of a punted frame: octep's own fields and rules for count, closing mark and due, in one record.
//
// It is what one would put into a map after reading system.md 4: 20 bytes, one word for the count and the three marks.
#pragma once

#include <octep/candidates.hpp>

namespace octep::bench {

// The setting fast_make_log2 as it begins.
inline constexpr u32 due_log2 = 4;

// What every frame has alike: one identity, one port, in the clear.
[[nodiscard]] inline arrival first_frame() noexcept {
  arrival frame;
  frame.who = identity::make(7, 1);
  frame.where = {1, 0};
  return frame;
}

// What a frame's writer says, as one number: every part of it is used.
[[nodiscard, gnu::always_inline]] inline u64 sum_of(const write_outcome& o) noexcept {
  return u64{o.clash} + u64{o.lost} + u64{o.evicted} + u64{o.evicted_read} + u64{o.due};
}

[[nodiscard, gnu::always_inline]] inline u64 sum_of(u32 bits) noexcept { return bits; }

struct remembered {
  u32 who = 0;
  u32 where = 0;
  u32 association = 0;
  u32 at = 0;
  u32 state = 0;  // frames | unread | due | closing

  static constexpr u32 most_frames = (u32{1} << 28) - 1;
  static constexpr u32 unread_bit = u32{1} << 29;
  static constexpr u32 due_bit = u32{1} << 30;
  static constexpr u32 closing_bit = u32{1} << 31;

  [[nodiscard]] bool unread() const noexcept { return (state & unread_bit) != 0; }

  // A frame of `proto`; `same`: of the tuple that the record holds already.
  [[gnu::always_inline]] write_outcome take(protocol proto, const arrival& frame, u32 log2, bool same) noexcept {
    write_outcome outcome;
    const bool was_unread = unread();
    const u32 kept = same ? was_unread ? state : state & most_frames : 0;
    const u32 frames = least((kept & most_frames) + 1, most_frames);
    const bool due = (frames & (frames - 1)) == 0 && (frames >> log2) != 0 && !frame.closing && !is_echo(proto);
    state = (kept & ~most_frames) | frames | unread_bit | (frame.closing ? closing_bit : 0) | (due ? due_bit : 0);
    who = frame.who.word;
    where = frame.where.word();
    association = frame.association.word;
    at = frame.at.ms;
    outcome.lost = was_unread;
    outcome.due = due;
    return outcome;
  }
};
static_assert(sizeof(remembered) == 20);

}  // namespace octep::bench
