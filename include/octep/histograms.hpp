// Histograms: how long things took, counted by powers of two.
//
// Floor 5.
//
//   bucket        0      1      2       3       4        ...   n
//   holds         0 us   1 us   2-3 us  4-7 us  8-15 us  ...   from 2^(n-1) to 2^n - 1; the last one everything beyond
//
// What it is: a histogram, and the three that are made of events: from the first punted frame to the make, from the give-back to
// the revival, from a command's post to its answer. An event_sink.
// What it refuses: the event that ends something whose begin it was not told of: it is counted as `unmatched` and never guessed.
// What that buys: 27 words each and no memory that grows; an operation ends before another begins (system.md 6), so that one
// begin of each kind is enough.
// Concurrency: told and read under the pass lock.
#pragma once

#include <octep/base.hpp>
#include <octep/events.hpp>
#include <octep/identity.hpp>
#include <octep/ticks.hpp>

namespace octep {

// `Buckets`: ours; 26 reach from 0 to 16.8 s before the last one, which is longer than anything here lasts in health.
template <u32 Buckets = 26>
requires(Buckets >= 2 && Buckets <= 65) class histogram {
 public:
  static constexpr u32 buckets = Buckets;

  [[nodiscard]] static constexpr u32 bucket_of(u64 value) noexcept { return least(bit_width(value), Buckets - 1); }
  // The smallest and the largest value of a bucket.
  [[nodiscard]] static constexpr u64 low(u32 bucket) noexcept { return bucket == 0 ? 0 : u64{1} << (bucket - 1); }
  [[nodiscard]] static constexpr u64 high(u32 bucket) noexcept {
    if (bucket == Buckets - 1) return ~u64{0};
    return bucket == 0 ? 0 : (low(bucket) - 1) * 2 + 1;
  }

  // Counts stay at their largest.
  constexpr void add(u64 value) noexcept {
    u64& n = counts_[bucket_of(value)];
    if (n != ~u64{0}) ++n;
  }
  [[nodiscard]] constexpr u64 count(u32 bucket) const noexcept { return counts_[bucket]; }
  [[nodiscard]] constexpr u64 total() const noexcept {
    u64 sum = 0;
    for (const u64 n : counts_) sum = n > ~u64{0} - sum ? ~u64{0} : sum + n;
    return sum;
  }

  // each(low, high, count), buckets climbing, the empty ones too.
  template <class Each>
  constexpr void each(Each&& tell) const noexcept {
    for (u32 b = 0; b < Buckets; ++b) tell(low(b), high(b), counts_[b]);
  }

  constexpr void clear() noexcept { counts_ = {}; }

 private:
  array<u64, Buckets> counts_{};
};

class histograms {
 public:
  using times = histogram<>;

  void operator()(const event& e) noexcept {
    switch (e.kind) {
      case event_kind::made:
        if (e.first_seen == never) return (void)++unmatched_;
        return punt_to_make_.add(e.at.since(e.first_seen).count);
      case event_kind::given_back:
        returned_ = e.connection;
        // The frame that asked for the read is nearer to what the far side did than the read's answer.
        return (void)(returned_at_ = e.first_seen == never ? e.at : e.first_seen);
      case event_kind::revived:
        if (returned_.revision == 0 || !(returned_ == e.connection)) return (void)++unmatched_;
        returned_ = {};
        return back_to_revived_.add(e.at.since(returned_at_).count);
      case event_kind::command_posted:
        tag_ = e.tag;
        return (void)(posted_at_ = e.at);
      case event_kind::command_answered:
        if (tag_ == 0 || tag_ != e.tag) return (void)++unmatched_;
        tag_ = 0;
        return command_wait_.add(e.at.since(posted_at_).count);
      // What is out is not answered any more.
      case event_kind::far_side_reset:
      case event_kind::far_side_gone: return (void)(tag_ = 0);
      default: return;
    }
  }

  // In microseconds. From a connection's first punted frame that is known of to the answer to its create.
  [[nodiscard]] const times& punt_to_make() const noexcept { return punt_to_make_; }
  // From the punted frame that asked for it, or else from the read that found it given back, to its revival.
  [[nodiscard]] const times& back_to_revived() const noexcept { return back_to_revived_; }
  // From a command's post to its answer, late answers included.
  [[nodiscard]] const times& command_wait() const noexcept { return command_wait_; }
  // Ends whose begin was not told.
  [[nodiscard]] u64 unmatched() const noexcept { return unmatched_; }

  // each(name, histogram): stable names, for dumps.
  template <class Each>
  void each(Each&& tell) const noexcept {
    tell("punt_to_make_us", punt_to_make_);
    tell("back_to_revived_us", back_to_revived_);
    tell("command_wait_us", command_wait_);
  }

  void clear() noexcept { *this = histograms{}; }

 private:
  times punt_to_make_;
  times back_to_revived_;
  times command_wait_;
  u64 unmatched_ = 0;
  u64 tag_ = 0;  // of the command that is out; 0: none
  instant posted_at_;
  handle returned_;  // the connection that was given back last
  instant returned_at_;
};

static_assert(event_sink<histograms>);

}  // namespace octep
