// Associations (IPsec): which index of the far side's engine stands for which of the kernel's, and the account of each.
//
// Floor 3.
//
//   state       far side       the caller                                                leaves by
//   free        nothing        open                                                      -> opened
//   opened      nothing        reads the index's counters                                installing -> installing | abandon -> free
//   installing  perhaps        waits for the answer; it goes: leaves as soon as it stands installed -> installed | abandon -> free
//   installed   has it         names it, reads it; a rekey says who succeeds it          succeed, retire -> leaving
//   leaving     has it         moves its connections to the successor, or takes them out may_delete, then removing -> removing
//   removing    being told     waits; reads once more after the answer                   deleted -> closing
//   closing     nothing        accounts that last reading                                close -> free
//   any                        forget_all -> opened anew, under the next revision
//
// What it is: one entry an index. A USE of an index is a handle (index, revision): the kernel's association it stands for, who
// refers to it, its marks. The ACCOUNT belongs to the index and outlives its uses, as the far side's counters do: a total that
// stands still between batches, reads zero from an install to its first packet, and then goes on from where it was.
//
// What it refuses:
//   a total taken for a lifetime   only differences from what the index read before the install are anybody's; a reading of zero
//                                  is no reading; what no line could have carried is a new baseline (`rebased`)
//   an install without that read   `installed` of an index that was not read is false: the kernel's cipher is touched after it
//   a delete under a connection    `removing` while somebody refers to it is false
//   a mark undone                  `flowed` lasts as long as the use; a wish to be read is taken before the read, not after it
//
// Sequence numbers. While the far side has an association it gives them out, and the kernel must not give out one of them after
// it. Its counter is put forward by `margin` before the first microflow names the association, and by each step that is
// accounted later: it stays ahead while fewer than `margin` frames leave unread, which a batch and a poll are far below (system.md
// 13). The next use starts from the kernel's counter and needs a margin of its own.
//
// What that buys: R20 and R23 of the record are sums that a test can do.
// Concurrency: everything under the pass lock.
#pragma once

#include <octep/arena.hpp>
#include <octep/association.hpp>
#include <octep/base.hpp>
#include <octep/identity.hpp>
#include <octep/revision.hpp>
#include <octep/ticks.hpp>

namespace octep {

enum class association_state : u8 { free, opened, installing, installed, leaving, removing, closing };

struct association {
  // The use.
  u16 revision = 0;  // of this use; while free, of the last one; 0: it never had one
  association_state state = association_state::free;
  bool encrypts = false;
  bool read_before = false;  // the install's condition
  bool flowed = false;       // a microflow was made to name it
  bool margin_put = false;
  bool wants_read = false;   // a poll has begun since it was read
  bool unwanted = false;     // it went while it was being installed
  bool waits = false;        // a step of it failed: again at the next poll
  u32 kernel = 0;            // the kernel's name of it: its SPI, or the world's number
  u32 references = 0;        // directions of connections that name it, or were decrypted by it
  handle successor;          // revision 0: none
  association_traffic told;  // accounted for this use
  u64 passed_over = 0;       // numbers that the kernel's counter was put forward by for it, its margin too
  u64 turn = 0;              // when it came to be free, in a count of such changes: the longest is taken first

  // The account.
  bool known = false;        // `total` is what the index has, or had before it fell silent
  association_traffic total;
  instant from;              // no frame of the next step was sent before
  instant read_at;
};

// What one reading means for the use. Zeros: nothing.
struct accounted {
  association_traffic told;  // for the kernel's lifetimes
  u64 numbers = 0;           // for the kernel's sequence counter
  bool rebased = false;      // counted as stat_rebase: nothing is told, and `numbers` is the most that there can have been
};

class associations {
 public:
  // system.md 13.
  static constexpr u64 margin = 1'048'576;
  // A far side names an index plus one in 16 bits.
  static constexpr u32 most = 65'534;

  [[nodiscard]] static constexpr usize bytes_for(u32 capacity) noexcept { return arena::bytes_for<association>(capacity); }

  // At start, in place. `capacity`: indexes, 1 to `most`. `line_rate`: what the engine can carry, in bytes a second.
  // `fresh`: the far side has just started, so a total that reads zero is zero. `last_revision`: as in `connections`. False: the
  // memory does not suffice or the capacity is out of range, and there is no room for anything.
  [[nodiscard]] OCTEP_SELDOM bool init(arena& memory, u32 capacity, u64 line_rate, bool fresh, u16 last_revision = 0) noexcept {
    entries_ = {};
    if (capacity == 0 || capacity > most) return false;
    entries_ = memory.take<association>(capacity);
    line_rate_ = line_rate;
    turn_ = rebased_ = 0;
    for (association& a : entries_) {
      a = association{};
      a.revision = last_revision;
      a.turn = turn_++;
      a.known = fresh;
    }
    return !entries_.empty();
  }

  // --- a use from its begin to its end --------------------------------------------------------------------

  // An index for the kernel's association; the one that has been free longest. Revision 0: every index is in use.
  [[nodiscard]] OCTEP_SELDOM handle open(u32 kernel, bool encrypts) noexcept {
    association* room = nullptr;
    for (association& a : entries_)
      if (a.state == association_state::free && (room == nullptr || a.turn < room->turn)) room = &a;
    if (room == nullptr) return {};
    begin_use(*room, kernel, encrypts);
    return handle_of(*room);
  }

  // What the opened index reads. Without it there is no install: a read that is refused or not answered is followed by
  // `abandon`. Zero: nothing was ever published, or its last use had not one frame; the account stays as it is.
  OCTEP_SELDOM void read_before(handle h, const association_traffic& reading, instant now) noexcept {
    association* const a = in_use(h);
    if (a == nullptr || a->state != association_state::opened) return;
    a->read_before = true;
    if (!reading.zero()) {
      a->total = reading;
      a->known = true;
    }
    a->from = a->read_at = now;
  }
  // Whether its install may be posted.
  [[nodiscard]] bool may_install(handle h) const noexcept {
    const association* const a = in_use(h);
    return a != nullptr && a->state == association_state::opened && a->read_before;
  }
  // Its install is posted now. False: it may not be.
  [[nodiscard]] OCTEP_SELDOM bool installing(handle h) noexcept {
    if (!may_install(h)) return false;
    in_use(h)->state = association_state::installing;
    return true;
  }
  // The install was done. False: it was not posted, and nothing changes.
  [[nodiscard]] OCTEP_SELDOM bool installed(handle h) noexcept {
    association* const a = in_use(h);
    if (a == nullptr || a->state != association_state::installing) return false;
    a->state = a->unwanted ? association_state::leaving : association_state::installed;
    return true;
  }
  // Given up before it was installed: its read or its install was refused. An install that was not answered is no end: it may
  // stand there.
  OCTEP_SELDOM void abandon(handle h) noexcept {
    association* const a = in_use(h);
    if (a != nullptr && (a->state == association_state::opened || a->state == association_state::installing)) make_free(*a);
  }
  // A step of it was refused, or its read not answered: again when a poll has begun.
  OCTEP_SELDOM void wait_for_poll(handle h) noexcept {
    if (association* const a = in_use(h)) a->waits = true;
  }

  // A rekey: who takes over. Both are in use, for the same direction, and `next` does not lead back. False: nothing changes.
  [[nodiscard]] OCTEP_SELDOM bool succeed(handle h, handle next) noexcept {
    association* const a = in_use(h);
    const association* const n = in_use(next);
    if (a == nullptr || n == nullptr || a->encrypts != n->encrypts || latest(next) == latest(h)) return false;
    if (!goes(*a)) return false;
    a->successor = next;
    return true;
  }
  // It goes, and nobody takes over so far. One that is not installed is free at once, or as soon as its install is answered.
  // False: it is gone already.
  [[nodiscard]] OCTEP_SELDOM bool retire(handle h) noexcept {
    association* const a = in_use(h);
    if (a == nullptr) return false;
    if (a->state != association_state::opened) return goes(*a);
    make_free(*a);
    return true;
  }
  // Who is to be named instead of it: the end of its line of successors, itself if it has none. One whose use has ended is
  // nobody's successor any more. Revision 0: it is not in use.
  [[nodiscard]] OCTEP_SELDOM handle latest(handle h) const noexcept {
    const association* a = in_use(h);
    if (a == nullptr) return {};
    for (const association* next = in_use(a->successor); next != nullptr; next = in_use(a->successor)) a = next;
    return handle_of(*a);
  }

  // Nobody refers to it: it may be deleted.
  [[nodiscard]] bool may_delete(handle h) const noexcept {
    const association* const a = in_use(h);
    return a != nullptr && a->state == association_state::leaving && a->references == 0;
  }
  // Its delete is posted now. False: not while somebody refers to it.
  [[nodiscard]] OCTEP_SELDOM bool removing(handle h) noexcept {
    if (!may_delete(h)) return false;
    in_use(h)->state = association_state::removing;
    return true;
  }
  // The delete was done. Refused: `delete_refused`, and it is asked again.
  void deleted(handle h) noexcept { move(h, association_state::removing, association_state::closing); }
  void delete_refused(handle h) noexcept { move(h, association_state::removing, association_state::leaving); }
  // Its last reading was accounted, or will not come.
  OCTEP_SELDOM void close(handle h) noexcept {
    association* const a = in_use(h);
    if (a != nullptr && a->state == association_state::closing) make_free(*a);
  }

  // The far side restarted: its totals are zero, and it knows no association. Each use that had begun and was not about to end
  // begins again under its index's next revision, opened and read: the caller installs it.
  OCTEP_SELDOM void forget_all(instant now) noexcept {
    for (association& a : entries_) {
      if (a.unwanted || a.state >= association_state::leaving) make_free(a);
      if (a.state != association_state::free) {
        begin_use(a, a.kernel, a.encrypts);
        a.read_before = true;
      }
      a.known = true;
      a.total = {};
      a.from = a.read_at = now;
    }
  }

  // --- who names it ---------------------------------------------------------------------------------------

  // Before a command is posted whose microflow names it. Marks it as flowed, so that every poll reads it, whatever becomes of
  // the command. True once a use, if it encrypts: the caller puts `margin` on the kernel's counter first, and leaves it there.
  [[nodiscard]] OCTEP_SELDOM bool name(handle h) noexcept {
    association* const a = in_use(h);
    if (a == nullptr) return false;
    a->flowed = true;
    if (!a->encrypts || a->margin_put) return false;
    a->margin_put = true;
    a->passed_over += margin;
    return true;
  }
  // Whether a microflow may be made to name it.
  [[nodiscard]] OCTEP_SELDOM bool nameable(handle h) const noexcept {
    const association* const a = in_use(h);
    return a != nullptr && a->state == association_state::installed;
  }
  // The same of what a record refers to; of none, there is nothing to wait for.
  [[nodiscard]] bool stands(association_word w) const noexcept { return w.none() || nameable(handle_of(w)); }
  // A direction of a connection names it, or was decrypted by it, from now on; and no longer. Each `drop` has its `refer`.
  OCTEP_SELDOM void refer(handle h) noexcept {
    if (association* const a = in_use(h)) ++a->references;
  }
  OCTEP_SELDOM void drop(handle h) noexcept {
    association* const a = in_use(h);
    if (a != nullptr && a->references > 0) --a->references;
  }

  // --- what is next -----------------------------------------------------------------------------------------

  // The first whose index is to be read, and which is to be installed then. Revision 0: none.
  [[nodiscard]] OCTEP_SELDOM handle next_to_install() const noexcept {
    return first([](const association& a) noexcept { return a.state == association_state::opened && !a.waits; });
  }
  // The first to be deleted.
  [[nodiscard]] OCTEP_SELDOM handle next_to_delete() const noexcept {
    return first([](const association& a) noexcept {
      return a.state == association_state::leaving && a.references == 0 && !a.waits;
    });
  }

  // --- reading --------------------------------------------------------------------------------------------

  // The first that is to be read; its wish is taken with it. Revision 0: none.
  [[nodiscard]] OCTEP_SELDOM handle next_to_read() noexcept {
    for (u32 i = 0; i < capacity(); ++i)
      if (readable(entries_[i].state) && entries_[i].wants_read) {
        entries_[i].wants_read = false;
        return handle_of(entries_[i]);
      }
    return {};
  }
  // A poll begins: all that flowed, and all that failed. The others have nothing to be read.
  OCTEP_SELDOM void want_reads() noexcept {
    for (association& a : entries_) {
      a.waits = false;
      if ((a.flowed || a.state == association_state::closing) && readable(a.state)) a.wants_read = true;
    }
  }

  // What the index reads now, for the use that has it.
  [[nodiscard]] OCTEP_SELDOM accounted read(handle h, const association_traffic& reading, instant now) noexcept {
    association* const a = in_use(h);
    if (a == nullptr || !readable(a->state)) return {};
    accounted said;
    if (!reading.zero() && !(a->known && reading == a->total)) {
      const association_traffic carried = carried_in(now.since(a->from));
      const bool forward = a->known && a->total.packets <= reading.packets && a->total.bytes <= reading.bytes;
      const association_traffic step{reading.packets - a->total.packets, reading.bytes - a->total.bytes};
      said.rebased = !forward || carried.packets < step.packets || carried.bytes < step.bytes;
      if (said.rebased) ++rebased_;
      // What nobody named carried the host's own frames alone, which the kernel has counted.
      if (a->flowed && !said.rebased) said.told = step;
      // Where it is not known how many were sent, it is known how many cannot have been.
      const u64 counted = forward ? step.packets : a->known ? carried.packets : reading.packets;
      if (a->flowed && a->encrypts) said.numbers = least(counted, carried.packets);
      a->told = {a->told.packets + said.told.packets, a->told.bytes + said.told.bytes};
      a->passed_over += said.numbers;
      a->total = reading;
      a->known = true;
      // The total moved after the reading before this one: so did every frame that the next step will hold.
      a->from = a->read_at;
    }
    a->read_at = now;
    return said;
  }

  // --- looking --------------------------------------------------------------------------------------------

  [[nodiscard]] u32 capacity() const noexcept { return static_cast<u32>(entries_.size); }
  [[nodiscard]] const association& operator[](u32 index) const noexcept { return entries_[index]; }
  // Of the index's use, or of its last one.
  [[nodiscard]] handle handle_at(u32 index) const noexcept { return {index, entries_[index].revision}; }
  // Who decrypted a frame, as its metadata says. Revision 0: nobody who is in use.
  [[nodiscard]] handle at(association_word w) const noexcept {
    const handle h = handle_of(w);
    return in_use(h) == nullptr ? handle{} : h;
  }
  // The use that stands for the kernel's association, the youngest. Revision 0: none.
  [[nodiscard]] OCTEP_SELDOM handle of_kernel(u32 kernel) const noexcept {
    const association* youngest = nullptr;
    for (const association& a : entries_)
      if (a.state != association_state::free && a.kernel == kernel && (youngest == nullptr || youngest->turn < a.turn)) youngest = &a;
    return youngest == nullptr ? handle{} : handle_of(*youngest);
  }
  // How a record remembers a use.
  [[nodiscard]] static constexpr association_word word_of(handle h) noexcept {
    return {h.index | u32{h.revision} << 16};
  }
  [[nodiscard]] static constexpr handle handle_of(association_word w) noexcept { return {w.index(), w.revision()}; }
  // What the encrypting direction's microflow says (system.md 13).
  [[nodiscard]] static constexpr handle named_as(handle h) noexcept { return {h.index + 1, h.revision}; }
  // Readings that were a new baseline.
  [[nodiscard]] u64 rebased() const noexcept { return rebased_; }

 private:
  // Bytes of the shortest frame on a wire, its gap and preamble too (IEEE 802.3).
  static constexpr u64 shortest_on_wire = 84;

  [[nodiscard]] static constexpr bool readable(association_state s) noexcept {
    return s >= association_state::installed;
  }
  [[nodiscard]] handle handle_of(const association& a) const noexcept {
    return {static_cast<u32>(&a - entries_.data), a.revision};
  }
  [[nodiscard]] OCTEP_SELDOM association* in_use(handle h) const noexcept {
    if (h.index >= entries_.size || h.revision == 0) return nullptr;
    association& a = entries_.data[h.index];
    return a.state != association_state::free && a.revision == h.revision ? &a : nullptr;
  }
  // True: it is leaving, or will be when its install is answered.
  static bool goes(association& a) noexcept {
    if (a.state == association_state::installing) return a.unwanted = true;
    if (a.state != association_state::installed && a.state != association_state::leaving) return false;
    a.state = association_state::leaving;
    return true;
  }
  template <class F>
  [[nodiscard]] handle first(F&& f) const noexcept {
    for (const association& a : entries_)
      if (f(a)) return handle_of(a);
    return {};
  }
  OCTEP_SELDOM void move(handle h, association_state from, association_state to) noexcept {
    association* const a = in_use(h);
    if (a != nullptr && a->state == from) a->state = to;
  }
  // The account stays.
  OCTEP_SELDOM void begin_use(association& a, u32 kernel, bool encrypts) noexcept {
    a.revision = next_revision(a.revision);
    a.state = association_state::opened;
    a.encrypts = encrypts;
    a.read_before = a.flowed = a.margin_put = a.wants_read = a.unwanted = a.waits = false;
    a.kernel = kernel;
    a.references = 0;
    a.successor = {};
    a.told = {};
    a.passed_over = 0;
    a.turn = turn_++;
  }
  OCTEP_SELDOM void make_free(association& a) noexcept {
    a.state = association_state::free;
    a.references = 0;
    a.successor = {};
    a.turn = turn_++;
  }
  // The most that the engine can have carried; stays at its largest.
  [[nodiscard]] association_traffic carried_in(microseconds t) const noexcept {
    constexpr u64 second = 1'000'000;
    const u64 whole = t.count / second;
    u64 bytes = ~u64{0};
    // A rate is below 2^43 bytes a second, so the rest of a second does not overflow.
    if (line_rate_ == 0 || whole < ~u64{0} / line_rate_ - 1) bytes = whole * line_rate_ + t.count % second * line_rate_ / second;
    return {bytes / shortest_on_wire, bytes};
  }

  span<association> entries_;
  u64 line_rate_ = 0;
  u64 turn_ = 0;
  u64 rebased_ = 0;
};

}  // namespace octep
