// The candidate table as a list of sentences, and a pair of twins that does everything to the table and to the list.
//
// The model (system.md 4) keeps time in 64-bit milliseconds that never wrap, places in vectors, and looks for things
// with the standard library. `candidates_twins` is what the properties and the fuzzer drive: one operation in, the
// first difference between the two out, as text.
#pragma once

#include <octep/candidates.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace octep::test {

template <tuple_type Tuple>
struct model_place {
  Tuple tuple;
  identity who;
  ingress where;
  association_word association;
  u64 written_ms = 0;
  u64 frames = 0;
  bool closing = false;
  bool due = false;
  bool read = false;

  [[nodiscard]] candidate<Tuple> shown() const {
    return {tuple,   who, where, association, tick{static_cast<u32>(written_ms)}, static_cast<u32>(frames),
            closing, due, read};
  }
};

// Where every frame that was written, and every candidate that was read, went.
struct model_books {
  u64 written = 0;
  u64 lost = 0;
  u64 taken = 0;
  u64 emptied_unread = 0;
  u64 renewed = 0;  // a read candidate whose own tuple came again
  u64 evicted_read = 0;
  u64 emptied_read = 0;
};

template <tuple_type Tuple>
class candidates_model {
 public:
  using place = std::optional<model_place<Tuple>>;
  static constexpr u64 most_frames = (u64{1} << 22) - 1;

  candidates_model(u32 slots, u32 places) : slots_(slots, std::vector<place>(places)) {}

  write_outcome write(u32 slot, const Tuple& t, const arrival& frame, u64 at_ms, u32 log2) {
    std::vector<place>& places = slots_[slot];
    write_outcome outcome;
    books_.written += 1;

    auto to = std::find_if(places.begin(), places.end(), [&](const place& p) { return p && p->tuple == t; });
    const bool same = to != places.end();
    if (!same) to = std::find(places.begin(), places.end(), std::nullopt);
    if (to == places.end())
      to = std::max_element(places.begin(), places.end(),
                            [&](const place& a, const place& b) { return age(*a, at_ms) < age(*b, at_ms); });

    model_place<Tuple> next;
    next.frames = 1;
    next.closing = frame.closing;
    if (*to && !(*to)->read) {
      outcome.lost = true;
      outcome.evicted = !same;
      books_.lost += 1;
    } else if (*to && same) {
      books_.renewed += 1;
    } else if (*to) {
      outcome.evicted_read = true;
      books_.evicted_read += 1;
    }
    if (same) {
      next.frames = std::min((*to)->frames + 1, most_frames);
      if (!(*to)->read) {
        next.closing = next.closing || (*to)->closing;
        next.due = (*to)->due;
      }
    }
    bool doubled = false;
    for (u64 n = u64{1} << log2; n <= most_frames; n *= 2) doubled = doubled || next.frames == n;
    const bool counted_protocol = t.proto == protocol::tcp || t.proto == protocol::udp;
    outcome.due = doubled && counted_protocol && !frame.closing;
    next.due = next.due || outcome.due;

    next.tuple = t;
    next.who = frame.who;
    next.where = frame.where;
    next.association = frame.association;
    next.written_ms = at_ms;
    *to = next;
    return outcome;
  }

  std::optional<std::pair<u32, candidate<Tuple>>> take(u32 slot, u32 from,
                                                       const std::function<bool(const candidate<Tuple>&)>& want) {
    for (u32 i = from; i < slots_[slot].size(); ++i) {
      place& p = slots_[slot][i];
      if (!p || p->read || !want(p->shown())) continue;
      const candidate<Tuple> before = p->shown();
      p->read = true;
      p->due = false;
      books_.taken += 1;
      return std::pair{i, before};
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<candidate<Tuple>> find(u32 slot, const Tuple& t) const {
    for (const place& p : slots_[slot])
      if (p && p->tuple == t) return p->shown();
    return std::nullopt;
  }

  void restart_count(u32 slot, const Tuple& t) {
    for (place& p : slots_[slot])
      if (p && p->tuple == t) {
        p->frames = 0;
        p->due = false;
      }
  }

  emptied empty_slot(u32 slot) {
    emptied gone;
    for (place& p : slots_[slot]) {
      if (p) ++(p->read ? gone.read : gone.unread);
      p.reset();
    }
    books_.emptied_unread += gone.unread;
    books_.emptied_read += gone.read;
    return gone;
  }

  void clamp_ages(u32 slot, u64 now_ms) {
    for (place& p : slots_[slot])
      if (p && age(*p, now_ms) > tick::oldest_age) p->written_ms = now_ms - tick::oldest_age;
  }

  [[nodiscard]] const std::vector<place>& slot(u32 i) const { return slots_[i]; }
  [[nodiscard]] const model_books& books() const { return books_; }

 private:
  static u64 age(const model_place<Tuple>& p, u64 now_ms) { return now_ms > p.written_ms ? now_ms - p.written_ms : 0; }

  std::vector<std::vector<place>> slots_;
  model_books books_;
};

// One thing to do to a table. Every value of every field means something, so that shrinking and fuzzing stay inside.
struct table_step {
  enum kind_type : u8 { write, take, find, restart, empty, clamp, kinds };
  u8 kind = write;
  u8 slot = 0;   // modulo the table's
  u8 which = 0;  // of the twins' tuples
  u8 log2 = 4;   // modulo 6
  u8 from = 0;   // modulo places + 1
  u8 want = 0;   // anything, due only, closing only, this tuple only
  u8 mark = 0;   // goes into identity, port, VLAN and association
  bool closing = false;
  u32 pass_ms = 0;  // time that goes by before
  i32 skew_ms = 0;  // how far this frame's ring is ahead of the clock
};

inline std::ostream& operator<<(std::ostream& out, const table_step& s) {
  static const char* const names[] = {"write", "take", "find", "restart", "empty", "clamp"};
  return out << fmt::format("{{{} slot {} tuple {} log2 {} from {} want {} mark {}{} +{} ms skew {}}}",
                            names[s.kind % table_step::kinds], s.slot, s.which, s.log2, s.from, s.want, s.mark,
                            s.closing ? " closing" : "", s.pass_ms, s.skew_ms);
}

// Tuples that differ from the first in exactly one word each, and echoes, which are never due.
template <tuple_type Tuple>
std::vector<Tuple> close_tuples() {
  u32 words[Tuple::words];
  for (u32 w = 0; w < Tuple::words; ++w) words[w] = 0x0a00'0001U + w;
  words[Tuple::words - 1] = static_cast<u32>(protocol::tcp);
  std::vector<Tuple> tuples{Tuple::from_words(words)};
  for (u32 w = 0; w + 1 < Tuple::words; ++w) {
    u32 other[Tuple::words];
    std::copy_n(words, Tuple::words, other);
    other[w] ^= 0x8000'0000U >> (w % 32);
    tuples.push_back(Tuple::from_words(other));
  }
  words[Tuple::words - 1] = static_cast<u32>(protocol::udp);
  tuples.push_back(Tuple::from_words(words));
  words[Tuple::words - 1] = static_cast<u32>(Tuple::which == family::ipv4 ? protocol::icmp : protocol::icmp6);
  tuples.push_back(Tuple::from_words(words));
  return tuples;
}

// A hash of the tuple that falls into a slot of a table of `slots`. There are three tags, so that tuples share them as well.
template <tuple_type Tuple>
[[nodiscard]] constexpr u32 hash_in(u32 slots, u32 slot, const Tuple& t) noexcept {
  u32 sum = 0;
  for (u32 w = 0; w < Tuple::words; ++w) sum = sum * 31 + t.word(w) + (t.word(w) >> 16);
  return (slots == 1 ? 0 : slot << (32 - (bit_width(slots) - 1))) | (sum % 3) * 0x80;
}

template <tuple_type Tuple, limits L, tag_policy Tags = scalar_tags>
class candidates_twins {
 public:
  using table_type = candidates<Tuple, L, oldest_goes, Tags>;

  explicit candidates_twins(u64 start_ms) : now_ms_{start_ms}, clamped_ms_(L.slots, start_ms) {}

  // Empty when the two agree in what they answer and in every place of the slot.
  std::string apply(const table_step& s) {
    pass(s.pass_ms);
    const u32 slot = s.slot % L.slots;
    const Tuple& t = tuples_[s.which % tuples_.size()];
    std::string difference;
    switch (s.kind % table_step::kinds) {
      case table_step::write:
        difference = write(slot, t, s);
        break;
      case table_step::take:
        difference = take(slot, t, s);
        break;
      case table_step::find:
        difference = find(slot, t);
        break;
      case table_step::restart:
        if (table_.tell(t, hash_of(slot, t), tell_place::restart, {}) != told::yes) return "restart: the word is held by nobody";
        model_.restart_count(slot, t);
        break;
      case table_step::empty:
        difference = empty(slot);
        break;
      default:
        difference = clamp(slot);
        break;
    }
    return difference.empty() ? compare(slot) : difference;
  }

  // The table's own books, from nothing but what it answered, and the model's beside them.
  [[nodiscard]] std::string unbalanced() {
    u64 unread = 0;
    u64 read = 0;
    for (u32 slot = 0; slot < L.slots; ++slot)
      if (!table_.for_each_place(slot, [&](u32, const candidate<Tuple>& c) { ++(c.read ? read : unread); }))
        return "for_each_place: the word is held by nobody";
    if (written_ != taken_ + lost_ + emptied_unread_ + unread)
      return fmt::format("written {} != taken {} + lost {} + emptied unread {} + unread {}", written_, taken_, lost_,
                         emptied_unread_, unread);
    const model_books& b = model_.books();
    if (taken_ != b.renewed + evicted_read_ + emptied_read_ + read)
      return fmt::format("taken {} != renewed {} + evicted read {} + emptied read {} + read {}", taken_, b.renewed,
                         evicted_read_, emptied_read_, read);
    return {};
  }

  [[nodiscard]] u64 now_ms() const { return now_ms_; }
  [[nodiscard]] table_type& table() { return table_; }
  [[nodiscard]] const std::vector<Tuple>& tuples() const { return tuples_; }

 private:
  [[nodiscard]] static u32 hash_of(u32 slot, const Tuple& t) { return hash_in(L.slots, slot, t); }

  // The pass comes by every slot in time, as the engine's does (candidates::clamp_ages).
  void pass(u32 ms) {
    now_ms_ += ms % (u32{1} << 28);
    for (u32 slot = 0; slot < L.slots; ++slot)
      if (now_ms_ - clamped_ms_[slot] >= u64{1} << 29) (void)clamp(slot);
  }

  std::string clamp(u32 slot) {
    clamped_ms_[slot] = now_ms_;
    if (!table_.clamp_ages(slot, tick{static_cast<u32>(now_ms_)})) return "clamp_ages: the word is held by nobody";
    model_.clamp_ages(slot, now_ms_);
    return {};
  }

  std::string write(u32 slot, const Tuple& t, const table_step& s) {
    const u64 at_ms = now_ms_ + static_cast<u64>(i64{s.skew_ms} % 4);
    arrival frame;
    frame.who = identity::make(s.mark + 1U, s.mark);
    frame.where = {static_cast<u16>(s.mark + 2), static_cast<u16>(s.mark % 3)};
    frame.association = {s.mark * 0x0001'0001U};
    frame.closing = s.closing;
    frame.at = tick{static_cast<u32>(at_ms)};
    const write_outcome got = table_.write(t, hash_of(slot, t), frame, s.log2 % 6);
    const write_outcome want = model_.write(slot, t, frame, at_ms, s.log2 % 6);
    written_ += !got.clash;
    lost_ += got.lost;
    evicted_read_ += got.evicted_read;
    if (got != want) return fmt::format("write: {} instead of {}", show(got), show(want));
    return {};
  }

  std::string take(u32 slot, const Tuple& t, const table_step& s) {
    const auto wanted = [&](const candidate<Tuple>& c) {
      return s.want % 4 == 0 || (s.want % 4 == 1 && c.due) || (s.want % 4 == 2 && c.closing) ||
             (s.want % 4 == 3 && c.tuple == t);
    };
    const u32 from = s.from % (L.places + 1);
    candidate<Tuple> out;
    u32 place = 0;
    const got answer = table_.take(slot, from, wanted, out, place);
    const auto want = model_.take(slot, from, wanted);
    taken_ += answer == got::one;
    if (answer == got::busy) return "take: the word is held by nobody";
    if ((answer == got::one) != want.has_value()) return fmt::format("take: {}", want ? "missed one" : "one too many");
    if (want && (place != want->first || out != want->second))
      return fmt::format("take: place {} {} instead of {} {}", place, show(out), want->first, show(want->second));
    return {};
  }

  std::string find(u32 slot, const Tuple& t) {
    candidate<Tuple> out;
    const got answer = table_.find(t, hash_of(slot, t), out);
    const auto want = model_.find(slot, t);
    if (answer == got::busy) return "find: the word is held by nobody";
    if ((answer == got::one) != want.has_value()) return fmt::format("find: {}", want ? "missed one" : "one too many");
    if (want && out != *want) return fmt::format("find: {} instead of {}", show(out), show(*want));
    return {};
  }

  std::string empty(u32 slot) {
    emptied gone;
    if (!table_.empty_slot(slot, gone)) return "empty_slot: the word is held by nobody";
    const emptied want = model_.empty_slot(slot);
    emptied_unread_ += gone.unread;
    emptied_read_ += gone.read;
    if (gone.unread != want.unread || gone.read != want.read) return "empty_slot: miscounted what it emptied";
    return {};
  }

  std::string compare(u32 slot) {
    std::vector<std::optional<candidate<Tuple>>> shown(L.places);
    if (!table_.for_each_place(slot, [&](u32 i, const candidate<Tuple>& c) { shown[i] = c; }))
      return "for_each_place: the word is held by nobody";
    for (u32 i = 0; i < L.places; ++i) {
      const auto& want = model_.slot(slot)[i];
      if (shown[i].has_value() != want.has_value())
        return fmt::format("slot {} place {}: {}", slot, i, want ? "is gone" : "should be empty");
      if (want && *shown[i] != want->shown())
        return fmt::format("slot {} place {}: {} instead of {}", slot, i, show(*shown[i]), show(want->shown()));
      for (u32 k = 0; k < i; ++k)
        if (shown[i] && shown[k] && shown[i]->tuple == shown[k]->tuple)
          return fmt::format("slot {}: one tuple in places {} and {}", slot, k, i);
    }
    return {};
  }

  static std::string show(const write_outcome& o) {
    return fmt::format("{{clash {:d} lost {:d} evicted {:d} evicted_read {:d} due {:d}}}", o.clash, o.lost, o.evicted,
                       o.evicted_read, o.due);
  }
  static std::string show(const candidate<Tuple>& c) {
    std::string words;
    for (u32 w = 0; w < Tuple::words; ++w) words += fmt::format("{:08x}.", c.tuple.word(w));
    return fmt::format("{{{} who {:08x} where {:08x} assoc {:08x} at {} count {}{}{}{}}}", words, c.who.word,
                       c.where.word(), c.association.word, c.at.ms, c.count, c.closing ? " closing" : "",
                       c.due ? " due" : "", c.read ? " read" : "");
  }

  table_type table_;
  candidates_model<Tuple> model_{L.slots, L.places};
  std::vector<Tuple> tuples_ = close_tuples<Tuple>();
  u64 now_ms_;
  std::vector<u64> clamped_ms_;
  u64 written_ = 0, lost_ = 0, taken_ = 0, evicted_read_ = 0, emptied_unread_ = 0, emptied_read_ = 0;
};

}  // namespace octep::test
