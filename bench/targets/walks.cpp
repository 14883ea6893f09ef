// P5: a pass over the candidate table. Quiet: against a compare-and-swap a slot over as many records. And over 256 candidates
// that the firewall knows nothing of, through the engine, against the bound: the firewall here answers at once.
#include <octep/octep.hpp>

#include <chrono>
#include <memory>

#include "bench/bench_engine.hpp"
#include "bench/ours.hpp"
#include "bench/remembered.hpp"
#include "bench/streams.hpp"
#include "bench/targets/targets.hpp"

namespace octep::bench {
namespace {

constexpr u32 walks_a_lap = 512;

// As many places as the default table has.
class records {
 public:
  [[nodiscard]] u64 walk() noexcept {
    u64 found = 0;
    for (slot& s : slots_) {
      u32 free = 0;
      if (!s.word.compare_exchange_strong(free, 1, std::memory_order_acquire)) continue;
      for (const place& p : s.of) found += p.what.unread();
      s.word.store(0, std::memory_order_release);
    }
    return found;
  }

 private:
  struct place {
    tuple4 tuple;
    remembered what;
  };
  struct alignas(64) slot {
    std::atomic<u32> word{0};
    place of[places];
  };
  slot slots_[slots];
};

void measure_quiet(report& out, const options& o) {
  const auto table = std::make_shared<our_table>();
  arrival frame;
  frame.who = identity::make(7, 1);
  for (const tuple4& t : flows_of(1'022, 1)) (void)table->write(t, frame);
  (void)table->walk();
  const auto other = std::make_shared<records>();
  race r{walks_a_lap};
  const auto lap_of = [](auto it) {
    return [it](u64) {
      u64 sum = 0;
      for (u32 i = 0; i < walks_a_lap; ++i) {
        sum += it->walk();
        asm volatile("" : : : "memory");  // the next walk reads everything again
      }
      return sum;
    };
  };
  r.enter(role::ours, "octep", lap_of(table));
  r.enter(role::rival, "a CAS a slot over records", lap_of(other));
  r.answers_agree().run(5, o.rounds(90));
  out.add("P5-quiet", fmt::format("quiet walk of {} x {} places", slots, places), r, "octep", 0.75);
}

void measure_refusals(report& out, const options& o) {
  using clock = std::chrono::steady_clock;
  constexpr u32 wanted = 256;
  // Enough that no more of them than wanted find a place where there are more places than that, and all places are taken
  // where there are not.
  constexpr u32 flows = slots * places > 2 * wanted ? wanted : 16 * wanted;
  const auto all = flows_of(flows, 5);
  std::vector<frame_bytes> frames;
  for (const tuple4& t : all) frames.push_back(frame_of(t));
  const auto core = std::make_unique<host_engine>();
  core->hold(flows_of(held_by_engine, 3));
  std::vector<double> us;
  for (u32 round = 0; round < 5 * o.rounds(90); ++round) {
    core->pass(1'000'000);
    for (const frame_bytes& f : frames)
      (void)(*core)->punt(0, {f.bytes, sizeof f.bytes, sizeof f.bytes}, {identity::make(7, 1), 1, {}}, core->now());
    const u64 before = (*core)->counters().value(pass_counter::walk_seen);
    const auto began = clock::now();
    core->poll();
    const double took = std::chrono::duration<double, std::micro>(clock::now() - began).count();
    const u64 refused = (*core)->counters().value(pass_counter::walk_seen) - before;
    if (refused != 0) us.push_back(took / static_cast<double>(refused) * wanted);
  }
  if (us.empty()) std::abort();
  out.add_bound("P5-refusals", "256 refusals in a walk", "us", median_of(us), 20);
}

}  // namespace

void measure_walks(report& out, const options& o) {
  if (out.wants("P5-quiet")) measure_quiet(out, o);
  if (out.wants("P5-refusals")) measure_refusals(out, o);
}

}  // namespace octep::bench
