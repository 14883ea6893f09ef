#include <array>
#include <deque>

#include "sim/scenarios/kept_true.hpp"
#include "sim/scenarios/kept_true_talk.hpp"

namespace octep::sim::scenarios {

// --- R14 --------------------------------------------------------------------------------------------------

namespace {

// A download whose pace the row sets. Each second segment is acknowledged a round trip later, right before the next
// segment.
class download {
 public:
  download(rig& r, u16 port) : talk_{r, port} {}

  [[nodiscard]] const tuple4& opener() const noexcept { return talk_.opener(); }
  void open(instant now) { talk_.open(now); }

  arrival_verdict segment(instant now) {
    while (!acks_.empty() && acks_.front() <= now) {
      (void)talk_.ack(0, now);
      acks_.pop_front();
    }
    if (++sent_ % 2 == 0) acks_.push_back(now + answer_after);
    return talk_.data(1, now);
  }

 private:
  talk talk_;
  u64 sent_ = 0;
  std::deque<instant> acks_;
};

}  // namespace

handed_up given_back_at_speed(const design& d, bool runs, u64 seed) {
  rig r{d, seed};
  if (!runs) (void)r.box().set(setting::fast, 0);
  handed_up out;
  u32 index = 0;
  u64 made = 0;
  bool revived = false;
  bool attached = false;
  r.box().on_event = [&](const event& e) {
    if (e.kind == event_kind::made) index = e.connection.index, ++made;
    if (e.kind == event_kind::revived) revived = true;
    if (e.kind == event_kind::attached && e.direction == 1) attached = true;
  };
  download it{r, 40'000};
  it.open({1'500'000});
  // A segment a millisecond where nothing is counted.
  instant now = {1'502'000};
  const auto slowly_until = [&](instant until) {
    for (; now < until; now = now + from_ms(1)) (void)it.segment(now);
  };
  u64 eighths = 0;
  const auto fast_one = [&] {
    const arrival_verdict v = it.segment(now);
    eighths += fast_download_eighths;
    now = now + microseconds{eighths / 8};
    eighths %= 8;
    return v;
  };
  const instant calm = r.any_phase_after({4'000'000});
  slowly_until(calm);
  for (u32 i = 0; i < 800; ++i) (void)fast_one();  // ten milliseconds

  const instant given_back = now;
  if (!r.box().device.give_back(index, xgs3300.identical_limit)) return out;
  while (!revived && now < given_back + from_s(3)) out.to_revival += !fast_one().forwarded;
  out.revived_after_s = static_cast<double>(now.since(given_back).count) / 1e6;

  // The condemned microflow goes five seconds after the first frame that met the entry.
  slowly_until(given_back + microseconds{microflow_terminal.count - 2'000});
  attached = false;
  while (!attached && now < given_back + microflow_terminal + from_s(3))
    out.to_attached += fast_one().device.why == device_counter::kn_mflow_not_active;
  out.stayed = revived && attached && made == 1;
  return out;
}

// --- R19 --------------------------------------------------------------------------------------------------

namespace {

struct streamed {
  download it;
  instant next;
  instant give_back = never;
  bool held = false;
  bool marked = false;
  u32 index = 0;
};

// Sends until `until`; a held connection is given back when its time comes, and the next time is `again`'s.
template <class Again>
marked_by_syn send(rig& r, std::deque<streamed>& all, bool ends_by_syn, instant until, Again&& again) {
  marked_by_syn out;
  u64 frames = 0;
  u64 forwarded = 0;
  r.box().on_event = [&](const event& e) {
    if (e.kind == event_kind::revived) ++out.revived;
    if (e.kind != event_kind::made && e.kind != event_kind::taken_out) return;
    for (streamed& s : all) {
      if (!(s.it.opener() == e.v4)) continue;
      s.held = e.kind == event_kind::made;
      if (s.held) s.index = e.connection.index;
      if (!s.held) s.marked = false;  // what it is made of next carried no SYN
      out.taken_out += !s.held;
    }
  };
  for (streamed& s : all) s.marked = ends_by_syn;
  for (;;) {
    streamed* first = &all.front();
    for (streamed& s : all)
      if (s.next < first->next) first = &s;
    if (until <= first->next) break;
    const instant now = first->next;
    ++frames;
    forwarded += first->it.segment(now).forwarded;
    first->next = now + slow_download_period;
    if (!first->held || now < first->give_back) continue;
    first->give_back = again(*first, now);
    // An entry that an ending gave back has its counter below the limit: the same as a mark on the record.
    const u8 counter = first->marked ? u8{0} : xgs3300.identical_limit;
    out.given_back += r.box().device.give_back(first->index, counter);
  }
  r.box().on_event = {};
  out.share = static_cast<double>(forwarded) / static_cast<double>(frames);
  return out;
}

void recorded_day(rig& r, bool runs_make) {
  (void)r.box().set(setting::fast_make, runs_make);
  (void)r.box().set(setting::hold_min_ms, 0);
}

}  // namespace

marked_by_syn four_downloads(const design& d, bool ends_by_syn, u32 seconds, bool runs_make, u64 seed) {
  rig r{d, seed};
  recorded_day(r, runs_make);
  const instant begins = r.any_phase_after({2'000'000});
  // A sender that finds its rate by overrunning a queue does so again and again: `pace::loose`.
  const u64 average = between_give_backs.count;
  const auto pause = [&] { return microseconds{r.random().between(average / 2, average * 3 / 2)}; };
  std::deque<streamed> all;
  for (u16 i = 0; i < 4; ++i) {
    all.push_back({download{r, static_cast<u16>(40'000 + i * 997)}, begins + microseconds{6'000 + i * u64{250}}});
    all.back().it.open(begins + from_ms(i));
    all.back().give_back = begins + pause();
  }
  return send(r, all, ends_by_syn, begins + from_s(seconds),
              [&](const streamed&, instant now) { return now + pause(); });
}

marked_by_syn fortieth_second(const design& d, bool ends_by_syn, u64 seed) {
  rig r{d, seed};
  recorded_day(r, false);
  const instant begins = r.any_phase_after({2'000'000});
  std::deque<streamed> all;
  all.push_back({download{r, 40'000}, begins + from_ms(2), begins + from_s(40)});
  all.back().it.open(begins);
  return send(r, all, ends_by_syn, begins + from_s(45), [](const streamed&, instant) { return never; });
}

}  // namespace octep::sim::scenarios
