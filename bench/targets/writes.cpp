// P1 and P3: a write to the candidate table, hash included, against general maps behind a spinlock.
//
// One race a stream: the default table as a host runs it, the same compiled as a kernel runs it (scalar, the kernel's
// flags, by each compiler that builds the kernel's object), an array of records a slot as one would write it first, and
// the maps. A map forgets nothing and grows for ever; the table has its places, and what it forgot is printed beside.
#include "bench/targets/targets.hpp"

#include <memory>

#include "bench/dpdk/dpdk.hpp"
#include "bench/ours.hpp"
#include "bench/remembered.hpp"
#include "bench/rivals.hpp"
#include "bench/scalar/scalar.hpp"
#include "bench/streams.hpp"

namespace octep::bench {
namespace {

template <class Map, class Lock>
class locked_map {
 public:
  explicit locked_map(usize flows) { map_.reserve(flows); }

  [[gnu::always_inline]] write_outcome write(const tuple4& t, const arrival& frame) noexcept {
    lock_.lock();
    const auto [at, fresh] = map_.try_emplace(t);
    const write_outcome outcome = value_at(map_, at).take(t.proto, frame, due_log2, !fresh);
    lock_.unlock();
    return outcome;
  }

 private:
  Lock lock_;
  Map map_;
};

// An array of records a slot, one word, oldest goes: what one would write first.
class naive_records {
 public:
  [[gnu::always_inline]] write_outcome write(const tuple4& t, const arrival& frame) noexcept {
    slot& s = slots_[top_bits(mix_(t), bit_width(slots) - 1)];
    if (s.taken.exchange(true, std::memory_order_acquire)) {
      write_outcome outcome;
      outcome.clash = true;
      return outcome;
    }
    place* to = nullptr;
    for (place& p : s.of)
      if (p.what.state != 0 && same_words{}(p.tuple, t)) {
        to = &p;
        break;
      }
    const bool same = to != nullptr;
    for (place& p : s.of)
      if (to == nullptr && p.what.state == 0) to = &p;
    if (to == nullptr) {
      to = &s.of[0];
      for (place& p : s.of)
        if (tick{p.what.at}.age(frame.at) > tick{to->what.at}.age(frame.at)) to = &p;
    }
    to->tuple = t;
    const write_outcome outcome = to->what.take(t.proto, frame, due_log2, same);
    s.taken.store(false, std::memory_order_release);
    return outcome;
  }

 private:
  struct place {
    tuple4 tuple;
    remembered what;
  };
  struct alignas(64) slot {
    std::atomic<bool> taken{false};
    place of[places];
  };
  slot slots_[slots];
  keyed_mix mix_{hash_key};
};

// A tick every 64 frames. What arrived is a local copy: a receive path has it in registers, and so has every contestant here.
template <class Writer>
u64 write_all(Writer& writer, std::span<const tuple4> frames, u64& sent, const arrival& as) {
  arrival frame = as;
  u64 sum = 0;
  for (const tuple4& t : frames) {
    frame.at = tick{static_cast<u32>(sent++ >> 6)};
    sum += sum_of(writer.write(t, frame));
  }
  return sum;
}

template <class Writer>
void enter(race& r, role as, std::string name, const stream& s, std::shared_ptr<Writer> writer) {
  arrival frame = first_frame();
  u64 sent = 0;
  write_all(*writer, s.flows(), sent, frame);
  r.enter(as, std::move(name), [writer, &s, frame, sent](u64 turn) mutable {
    return write_all(*writer, s.window(turn), sent, frame);
  });
}

// The share of frames that pushed another tuple out, over the whole stream.
double share_forgotten(const stream& s) {
  const auto table = std::make_unique<our_table>();
  arrival frame = first_frame();
  u64 sent = 0;
  write_all(*table, s.flows(), sent, frame);
  u64 forgotten = 0;
  for (const tuple4& t : s.frames()) {
    frame.at = tick{static_cast<u32>(sent++ >> 6)};
    const write_outcome outcome = write_outcome::from_bits(table->write(t, frame));
    forgotten += outcome.evicted || outcome.evicted_read;
  }
  return static_cast<double>(forgotten) / static_cast<double>(s.frames().size());
}

void measure(report& out, const options& o, u32 flows, order by, double target) {
  const stream s{flows_of(flows, 1), by, flows > 1'022 ? 16U : 4U};
  race r{stream::window_length};
  enter(r, role::ours, "octep", s, std::make_shared<our_table>());
  for (const scalar_build& b : scalar_builds()) {
    b.clear();
    b.write(s.flows().data(), s.flows().size(), 0);
    r.enter(role::ours, std::string{b.compiler}, [b, &s, sent = s.flows().size()](u64 turn) mutable {
      const auto frames = s.window(turn);
      sent += frames.size();
      return b.write(frames.data(), frames.size(), sent - frames.size());
    });
  }
  enter(r, role::shown, "naive records", s, std::make_shared<naive_records>());
  for_each_map<remembered>([&]<class Map>() {
    enter(r, role::rival, std::string{Map::called}, s, std::make_shared<locked_map<Map, exchange_lock>>(flows));
    enter(r, role::rival, fmt::format("{}{}", Map::called, pthread_lock::called), s,
          std::make_shared<locked_map<Map, pthread_lock>>(flows));
  });
  if (dpdk_takes_part) r.enter(role::rival, std::string{rte_hash_called}, dpdk_write(s));
  r.run(5, o.rounds(90));

  const std::string stem = fmt::format("-{}-{}", flows, name_of(by) == "Zipf" ? "zipf" : "uniform");
  const std::string what = fmt::format("write, {} flows {}", flows, name_of(by));
  out.add("P1" + stem, what, r, "octep", target, fmt::format("forgets {:.1f} %", 100 * share_forgotten(s)));
  if (target != 0)
    for (const scalar_build& b : scalar_builds())
      out.add(fmt::format("P3-{}{}", b.compiler, stem), fmt::format("scalar {}", what), r, b.compiler, 1.0);
  std::string others;
  for (const auto& c : r.all())
    if (c.as != role::ours) others += fmt::format("{}{} {:.2f}", others.empty() ? "" : ", ", c.name, c.median());
  if (out.wants("P1" + stem)) out.remark(others);
}

}  // namespace

void measure_writes(report& out, const options& o) {
  for (const u32 flows : {64U, 256U, 1'022U, 65'536U})
    for (const order by : {order::uniform, order::zipf})
      measure(out, o, flows, by, flows > 1'022 ? 0 : flows == 1'022 ? 0.90 : 0.85);
}

}  // namespace octep::bench
