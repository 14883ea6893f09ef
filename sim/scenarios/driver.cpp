#include "sim/scenarios/driver.hpp"

namespace octep::sim::scenarios {

usize driver::add(traffic t) {
  sources_.push_back({std::move(t)});
  const usize which = sources_.size() - 1;
  const traffic& plan = sources_[which].plan;
  queue_.push({time_of(plan, 0, plan.begins), order_++, which, 0});
  return which;
}

// The instant of an exchange; `now` is that of the one before.
instant driver::time_of(const traffic& t, u64 exchange, instant now) {
  // The timer is late by as much for every flow of a round.
  const auto round = [&](instant from, u64 n) {
    const u64 late = generator{seed_, 1'000 + n}.below(drive_late_most_us);
    return from + microseconds{n * drive_period.count + late + random_.below(drive_spread.count)};
  };
  if (exchange < t.opening) return round(t.begins, exchange);
  const u64 n = exchange - t.opening;
  const instant from = t.begins + microseconds{t.opening * drive_period.count};
  const u64 period = t.period.count;
  switch (t.how) {
    case pace::together: return round(from, n);
    case pace::even: return from + microseconds{n * period};
    case pace::varied: return from + microseconds{n * period + random_.below(period - 2 * answer_after.count)};
    case pace::loose: break;
  }
  return n == 0 ? from + microseconds{random_.below(period)} : now + microseconds{random_.between(period / 2, period + period / 2)};
}

void driver::send(const traffic& t, u32 direction, const tuple4& opener, instant now) {
  frame_facts f{};
  f.which = family::ipv4;
  f.v4 = direction == 0 ? opener : reverse(opener);
  if (direction == 1 && t.translated && !box_.translate_reply(f, now)) return;  // nobody would know whose it is
  (void)box_.arrive(direction == 0 ? 1 : 2, f, 100, {}, now);
}

bool driver::run(instant until, const std::function<bool()>& over) {
  while (!queue_.empty() && queue_.top().at <= until) {
    const due d = queue_.top();
    queue_.pop();
    sender& s = sources_[d.which];
    if (d.exchange == answer) {
      send(s.plan, 1, s.plan.opener, d.at);
    } else {
      send(s.plan, 0, s.plan.fresh ? s.plan.fresh() : s.plan.opener, d.at);
      if (s.plan.answered) queue_.push({d.at + answer_after, order_++, d.which, answer});
      const u64 next = d.exchange + 1;
      if (!s.stopped && next < s.plan.exchanges)
        queue_.push({time_of(s.plan, next, d.at), order_++, d.which, next});
    }
    if (over && over()) return true;
  }
  box_.advance(until);
  return over && over();
}

}  // namespace octep::sim::scenarios
