// Associations (IPsec): the coprocessor's engine that encrypts and decrypts, and the kernel's table that owns what it uses.
//
//   kernel's table    SPI: sequence counter, lifetime, successor          who may protect a tunnel's frames, and with which numbers
//   engine            index: revision, next number | counters             what protects them in hardware
//
//   counters of an index
//     install          reads zero, removed or not, ...
//     first packet     ... then the total of before, of whoever used the index
//     every 16,380th   the total moves; in between it stands still; what is left moves once the index was quiet
//
// What it is: two models on either side of whoever keeps them in step (system.md 13, record R20 and R23). While the engine has an
// association it alone gives out numbers, to flows and to frames that the host hands over; the kernel gives out its own
// only while the engine does not.
// What it refuses: keeping the two in step. A host that accounts an index's total for a lifetime, takes zero for a baseline or
// forgets the margin uses a number twice here, or reports another's gigabytes.
// Time is an argument and never goes back.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <octep/commands.hpp>
#include <octep/identity.hpp>
#include <octep/ticks.hpp>

#include "sim/model_constants.hpp"

namespace octep::sim {

struct protected_traffic {
  u64 packets = 0;
  u64 bytes = 0;
  [[nodiscard]] bool operator==(const protected_traffic&) const noexcept = default;
};

class association_engine {
 public:
  explicit association_engine(u32 indexes) : places_(indexes) {}

  // --- commands -----------------------------------------------------------------------------------------
  // The first number it gives out is the one after `last_number`. Refused: the index is out of range or in use, or revision 0.
  answer_code install(handle at, u32 last_number);
  // Refused: not in use at that revision. The counters stay the index's.
  answer_code remove(handle at);
  // As published; nothing: the index is out of range.
  [[nodiscard]] std::optional<protected_traffic> read(u32 index, instant now);

  // --- frames -------------------------------------------------------------------------------------------
  // The number it was sent under. Nothing, and not counted: no such association, or no number is left.
  std::optional<u32> encrypt(handle with, u32 bytes, instant now);
  // False, and not counted: no such association.
  bool decrypt(handle with, u32 bytes, instant now);

  // It restarted: nothing is installed, every counter is zero.
  void restart();

  // --- looking ------------------------------------------------------------------------------------------
  [[nodiscard]] u32 indexes() const noexcept { return static_cast<u32>(places_.size()); }
  [[nodiscard]] bool has(handle which) const { return living(which) != nullptr; }
  // Every packet there ever was at this index, published or not.
  [[nodiscard]] protected_traffic truth(u32 index) const { return places_.at(index).total; }

 private:
  struct place {
    bool used = false;
    bool silent = false;  // since its install
    u16 revision = 0;
    u32 last_number = 0;
    protected_traffic total;
    protected_traffic published;
    instant last;
  };

  [[nodiscard]] const place* living(handle which) const;
  [[nodiscard]] place* living(handle which);
  static void count(place& p, u32 bytes, instant now);
  static void publish_if_quiet(place& p, instant now);

  std::vector<place> places_;
};

struct kernel_association {
  u32 spi = 0;
  u32 tunnel = 0;
  bool encrypts = false;
  u64 sequence = 0;           // the last number that it gave out, or was told to pass over
  protected_traffic lifetime;  // as accounted for it
};

class association_table {
 public:
  // A new association of a tunnel's direction: a rekey where there is one already, which stays until it is removed. Its SPI.
  u32 add(u32 tunnel, bool encrypts);
  bool remove(u32 spi);  // false: no such one
  // Whether a policy says that the tunnel's traffic is to be protected; without one it goes out plain.
  void cover(u32 tunnel, bool on);
  [[nodiscard]] bool covers(u32 tunnel) const;

  // The kernel protects a frame itself. Nothing: no such association.
  std::optional<u64> take_number(u32 spi);
  // So many numbers more are never given out here: a margin, or what the engine used. False: no such association.
  bool pass_over(u32 spi, u64 numbers);
  bool account(u32 spi, protected_traffic more);

  [[nodiscard]] const kernel_association* find(u32 spi) const;
  // The youngest of a tunnel's direction; nullptr: none.
  [[nodiscard]] const kernel_association* current(u32 tunnel, bool encrypts) const;
  // Who takes over from it: the youngest of the same tunnel and direction, if that is another; nullptr: nobody.
  [[nodiscard]] const kernel_association* successor(u32 spi) const;
  // Moves with every association that comes or goes, and with every policy: a notice is due when it has.
  [[nodiscard]] u64 changes() const noexcept { return changes_; }

 private:
  std::map<u32, kernel_association> by_spi_;  // SPIs climb with age
  std::map<u32, bool> covered_;
  u32 next_spi_ = 0x100;  // 1 to 255 are reserved (RFC 4303, 2.1)
  u64 changes_ = 0;
};

}  // namespace octep::sim
