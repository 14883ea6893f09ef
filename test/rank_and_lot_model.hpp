// What rank and lot answers, sentence by sentence of the table in rank_and_lot.hpp and of candidate-policies.md (C16).
//
// An independent model: it includes nothing of octep, counts places with signed numbers and goes round with a modulo.
#pragma once

#include <array>
#include <cstddef>

namespace octep::test {

struct ranked_place {
  bool written = false;
  bool unread = false;
  bool refused = false;
  bool kept = false;
  bool again = false;  // asked of clock places only
  int ticket = 0;

  [[nodiscard]] bool operator==(const ranked_place&) const = default;
};

template <int Places>
struct ranked_slot {
  std::array<ranked_place, static_cast<std::size_t>(Places)> place;
  int next = 0;
  int hand = 0;

  [[nodiscard]] ranked_place& operator[](int i) { return place[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const ranked_place& operator[](int i) const { return place[static_cast<std::size_t>(i)]; }
  [[nodiscard]] bool operator==(const ranked_slot&) const = default;
};

struct room_made {
  int place;
  int moves_to = -1;  // nowhere

  [[nodiscard]] bool operator==(const room_made&) const = default;
};

// Lowest makes room first.
enum class place_rank { empty, read_and_refused, read, unread_and_refused, unread, kept };

inline place_rank rank_of(const ranked_place& p) {
  if (!p.written) return place_rank::empty;
  if (p.kept) return place_rank::kept;
  if (!p.unread) return p.refused ? place_rank::read_and_refused : place_rank::read;
  return p.refused ? place_rank::unread_and_refused : place_rank::unread;
}

// Answers, and changes in `slot` what the policy remembers.
template <int Places>
class rank_and_lot_model {
 public:
  explicit rank_and_lot_model(ranked_slot<Places>& slot) : slot_{slot} {}

  room_made make_room() {
    place_rank lowest = place_rank::kept;
    for (const ranked_place& p : slot_.place)
      if (rank_of(p) < lowest) lowest = rank_of(p);
    if (lowest == place_rank::empty) return {first_round_from(0, lowest)};
    if (lowest == place_rank::unread) return clock_and_lottery();
    const int place = first_round_from(slot_.next, lowest);
    slot_.next = place + 1;
    return {place};
  }

 private:
  [[nodiscard]] int first_round_from(int from, place_rank rank) const {
    for (int step = 0; step < Places; ++step)
      if (rank_of(slot_[(from + step) % Places]) == rank) return (from + step) % Places;
    return -1;
  }

  // Every place is unread or kept. The clock's victim goes, or moves over the lottery's loser; where one of the halves is
  // all kept, the other makes room by itself.
  room_made clock_and_lottery() {
    const int loser = worst_ticket();
    const int victim = clock_victim();
    if (victim == -1) return {loser};
    if (loser == -1) return {victim};
    if (slot_[victim].ticket > slot_[loser].ticket) return {victim, loser};
    return {victim};
  }

  // The first of the lowest tickets, of those that are not kept.
  [[nodiscard]] int worst_ticket() const {
    int worst = -1;
    for (int i = Places / 2; i < Places; ++i)
      if (!slot_[i].kept && (worst == -1 || slot_[i].ticket < slot_[worst].ticket)) worst = i;
    return worst;
  }

  // One round of the hand over the clock's places that are not kept: who was written again is passed over and loses the
  // excuse; if all were, the round ends at the last, and that one goes.
  int clock_victim() {
    constexpr int clock = Places / 2;
    int came_by = -1;
    for (int step = 0; step < clock; ++step) {
      const int at = (slot_.hand + step) % clock;
      if (slot_[at].kept) continue;
      came_by = at;
      if (!slot_[at].again) break;
      slot_[at].again = false;
    }
    if (came_by != -1) slot_.hand = came_by + 1;
    return came_by;
  }

  ranked_slot<Places>& slot_;
};

}  // namespace octep::test
