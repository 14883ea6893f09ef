// Next hops: the far side's next-hop table, shared between connections by counted references.
//
// Floor 3.
//
// What it is: one entry an index. Equal hops are programmed once and shared; one that nobody needs is owed a release.
//
//   state        far side      references   leaves by
//   free         nothing       0            acquire -> setting
//   setting      being told    >= 1         programmed -> programmed | refused, last drop -> free | bar -> barred
//   programmed   has it        >= 1         last drop -> idle
//   idle         has it        0            acquire -> programmed, no command | next_to_release -> releasing
//   releasing    being told    0            released, refused -> free | bar -> barred
//   barred       not known     any          programmed -> programmed or idle | refused, released -> free
//   any                                     forget_all -> free
//
// A late answer ends `barred` like a punctual one would have ended what was before. A refused release frees the index
// all the same: its next set carries another revision, and whatever names the old one is punted (coprocessor model).
//
// What it refuses: a handle of an earlier use. Every call that takes a handle ignores one whose revision has passed or
// that is free, so that what still refers to a use that was refused or forgotten can be given up in any order.
// What that buys: a discard forgets everything here at once, and connections give their references up in slices.
// Search is a walk over the table, 40 bytes an entry: tables are hundreds of entries and makes are dozens a second.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/arena.hpp>
#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/next_hop.hpp>
#include <octep/revision.hpp>

namespace octep {

enum class next_hop_state : u8 { free, setting, programmed, idle, releasing, barred };

struct next_hop_entry {
  next_hop hop;
  u16 revision = 0;  // of this use; while free, of the last one; 0: it never had one
  next_hop_state state = next_hop_state::free;
  u32 references = 0;
  u64 turn = 0;  // when it came to be free or idle, in a count of such changes: the longest is taken first
};

class next_hops {
 public:
  struct acquired {
    handle where;
    bool found_room = false;    // a reference was taken on `where`. All else but `barred` is false without it
    bool must_program = false;  // the caller posts next_hop_set for `where`, or drops it
    bool barred = false;        // an equal hop waits for an answer that did not come: no reference was taken
    bool pending = false;       // shared with a setter whose set is not answered yet (or not posted yet)
  };

  [[nodiscard]] static constexpr usize bytes_for(u32 capacity) noexcept {
    return arena::bytes_for<next_hop_entry>(capacity);
  }

  // At start, in place. `capacity`: entries of the far side's table, at least 1. `last_revision`: as in `connections`.
  // False: the memory does not suffice or the capacity is 0, and there is no room for anything.
  [[nodiscard]] OCTEP_SELDOM bool init(arena& memory, u32 capacity, u16 last_revision = 0) noexcept {
    entries_ = memory.take<next_hop_entry>(capacity);
    turn_ = 0;
    owed_ = 0;
    for (next_hop_entry& e : entries_) {
      e = next_hop_entry{};
      e.revision = last_revision;
      e.turn = turn_++;
    }
    return !entries_.empty();
  }

  // A reference on an entry for this hop: an equal one that the far side has or is being told, else a free index under
  // its next revision. The index that has been free longest is taken, as in `connections`. Not found_room and not
  // barred: the table is full (`nhop_full`).
  [[nodiscard]] OCTEP_SELDOM acquired acquire(const next_hop& hop) noexcept {
    next_hop_entry* room = nullptr;
    next_hop_entry* equal = nullptr;
    bool barred = false;
    for (next_hop_entry& e : entries_) {
      if (e.state == next_hop_state::free) {
        if (room == nullptr || e.turn < room->turn) room = &e;
      } else if (e.hop == hop) {
        if (e.state == next_hop_state::barred) barred = true;
        if (shareable(e.state)) equal = &e;
      }
    }
    if (equal != nullptr) {
      if (equal->state == next_hop_state::idle) become(*equal, next_hop_state::programmed);
      ++equal->references;
      return {handle_of(*equal), true, false, false, equal->state == next_hop_state::setting};
    }
    if (barred) return {{}, false, false, true, false};
    if (room == nullptr) return {};
    room->hop = hop;
    room->revision = next_revision(room->revision);
    room->state = next_hop_state::setting;
    room->references = 1;
    return {handle_of(*room), true, true, false, false};
  }

  // The set was done.
  void programmed(handle h) noexcept {
    next_hop_entry* const e = in_use(h);
    if (e == nullptr) return;
    if (e->state != next_hop_state::setting && e->state != next_hop_state::barred) return;
    e->state = next_hop_state::programmed;
    if (e->references == 0) make_idle(*e);
  }

  // The set or the release was refused. References on a refused set are void; dropping them does nothing.
  void refused(handle h) noexcept {
    next_hop_entry* const e = in_use(h);
    if (e != nullptr && (e->state == next_hop_state::setting || ends_release(e->state))) make_free(*e);
  }

  // The set or the release was not answered in time. References stay, to be dropped by their makes.
  void bar(handle h) noexcept {
    next_hop_entry* const e = in_use(h);
    if (e != nullptr && (e->state == next_hop_state::setting || e->state == next_hop_state::releasing))
      become(*e, next_hop_state::barred);
  }

  // One reference less. The last one makes a programmed entry idle; in `setting` it frees the index without a command,
  // so a set that was POSTED is answered or barred before its references are dropped.
  OCTEP_SELDOM void drop(handle h) noexcept {
    next_hop_entry* const e = in_use(h);
    if (e == nullptr || e->references == 0) return;
    if (--e->references > 0) return;
    if (e->state == next_hop_state::programmed) make_idle(*e);
    if (e->state == next_hop_state::setting) make_free(*e);
  }

  // True while `next_to_release` would name one.
  [[nodiscard]] bool owes_release() const noexcept { return next_owed() != nullptr; }

  // The entry whose release the caller posts now: no longer shared from here on. Asked again before its answer it names
  // the same; else the one idle longest. Revision 0: none.
  [[nodiscard]] handle next_to_release() noexcept {
    const next_hop_entry* const owed = next_owed();
    if (owed == nullptr) return {};
    const handle h = handle_of(*owed);
    entries_[h.index].state = next_hop_state::releasing;
    return h;
  }

  // The release was done.
  void released(handle h) noexcept {
    next_hop_entry* const e = in_use(h);
    if (e != nullptr && ends_release(e->state)) make_free(*e);
  }

  // The far side has nothing any more (a discard was answered, a reset): every use ends, revisions go on from where
  // they are. A walk over the table, no commands.
  void forget_all() noexcept {
    for (next_hop_entry& e : entries_)
      if (e.state != next_hop_state::free) make_free(e);
  }

  [[nodiscard]] u32 capacity() const noexcept { return static_cast<u32>(entries_.size); }
  // For tables, dumps and reconciling; `hop` is the last one's while free.
  [[nodiscard]] const next_hop_entry& operator[](u32 index) const noexcept { return entries_[index]; }

 private:
  [[nodiscard]] static constexpr bool shareable(next_hop_state s) noexcept {
    return s == next_hop_state::setting || s == next_hop_state::programmed || s == next_hop_state::idle;
  }
  [[nodiscard]] static constexpr bool ends_release(next_hop_state s) noexcept {
    return s == next_hop_state::releasing || s == next_hop_state::barred;
  }
  [[nodiscard]] handle handle_of(const next_hop_entry& e) const noexcept {
    return {static_cast<u32>(&e - entries_.data), e.revision};
  }
  [[nodiscard]] next_hop_entry* in_use(handle h) noexcept {
    if (h.index >= entries_.size) return nullptr;
    next_hop_entry& e = entries_[h.index];
    return e.state != next_hop_state::free && e.revision == h.revision ? &e : nullptr;
  }
  [[nodiscard]] const next_hop_entry* next_owed() const noexcept {
    if (owed_ == 0) return nullptr;
    const next_hop_entry* owed = nullptr;
    for (const next_hop_entry& e : entries_) {
      if (e.state == next_hop_state::releasing) return &e;
      if (e.state == next_hop_state::idle && (owed == nullptr || e.turn < owed->turn)) owed = &e;
    }
    return owed;
  }
  [[nodiscard]] static constexpr bool owes(next_hop_state s) noexcept {
    return s == next_hop_state::idle || s == next_hop_state::releasing;
  }
  void become(next_hop_entry& e, next_hop_state to) noexcept {
    owed_ += (owes(to) ? 1U : 0U) - (owes(e.state) ? 1U : 0U);
    e.state = to;
  }
  void make_idle(next_hop_entry& e) noexcept {
    become(e, next_hop_state::idle);
    e.turn = turn_++;
  }
  void make_free(next_hop_entry& e) noexcept {
    become(e, next_hop_state::free);
    e.references = 0;
    e.turn = turn_++;
  }

  span<next_hop_entry> entries_;
  u64 turn_ = 0;
  u32 owed_ = 0;  // entries that are idle or being released: asked at every boundary, and nearly always none
};

}  // namespace octep
