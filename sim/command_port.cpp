#include "sim/command_port.hpp"

namespace octep::sim {

void command_port::submit(u64 tag, const command& what, instant now) {
  ++submitted_;
  if (unanswered_ != 0) ++overlaps_;
  ++unanswered_;
  start({tag, what, now, fault_for(what, now)}, now);
}

std::optional<command_fault> command_port::fault_for(const command& what, instant now) {
  if (!faults_.empty()) {
    const command_fault f = faults_.front();
    faults_.pop_front();
    return f;
  }
  return chooser_ ? chooser_(what, now) : std::nullopt;
}

void command_port::start(pending p, instant now) {
  last_execution_ = greatest(last_execution_, now + draw_latency());
  events_->at(last_execution_, [this, p = std::move(p), life = life_](instant at) {
    if (life != life_) return;
    if (silent_) {
      unheard_.push_back(p);
    } else {
      execute(p, at);
    }
  });
}

void command_port::execute(const pending& p, instant now) {
  using kind = command_fault::kind;
  const auto meets = [&p](kind k) { return p.fault && p.fault->is == k; };
  if (meets(kind::ignored)) return;
  if (meets(kind::refuse)) {
    answer_at(p.tag, {answer_code::refused}, p.submitted, now, true);
    return;
  }
  const answer a = far_side_->execute(p.what, now);
  ++executed_;
  if (meets(kind::lost)) return;
  // No host counts this far, so no tag of its own can meet it.
  const u64 tag = meets(kind::wrong_tag) ? ~p.tag : p.tag;
  const instant ready = meets(kind::late) ? greatest(now, p.submitted + p.fault->delay) : now;
  answer_at(tag, a, p.submitted, ready, true);
  if (meets(kind::duplicate)) answer_at(tag, a, p.submitted, ready + p.fault->delay, false);
}

void command_port::answer_at(u64 tag, const answer& what, instant submitted, instant ready, bool ends_it) {
  events_->at(look_at_or_after(submitted, ready), [this, tag, what, ends_it, life = life_](instant at) {
    if (life != life_) return;
    if (ends_it && unanswered_ != 0) --unanswered_;
    deliver_(tag, what, at);
  });
}

// Looks are at every step since the command was submitted, up to its limit, then once a millisecond.
instant command_port::look_at_or_after(instant submitted, instant ready) const noexcept {
  const u64 limit_us = u64{how_.limit_ms} * 1'000;
  const u64 waited = ready.since(submitted).count;
  const auto round_up = [](u64 x, u64 step) { return step == 0 ? x : (x + step - 1) / step * step; };
  const u64 quick = round_up(waited, how_.step_us);
  if (quick <= limit_us) return {submitted.us + quick};
  return {submitted.us + limit_us + round_up(waited > limit_us ? waited - limit_us : 0, late_look_us)};
}

void command_port::speak_again(instant now) {
  if (!silent_) return;
  silent_ = false;
  std::deque<pending> kept;
  kept.swap(unheard_);
  for (pending& p : kept) start(std::move(p), now);
}

void command_port::restart() noexcept {
  ++life_;
  unheard_.clear();
  unanswered_ = 0;
  silent_ = false;
}

microseconds command_port::draw_latency() {
  if (how_.fixed_latency) return *how_.fixed_latency;
  if (random_.one_in(answer_slowest_one_in)) return {random_.between(answer_slowest_us[0], answer_slowest_us[1])};
  if (random_.one_in(answer_slow_one_in)) return {random_.between(answer_slow_us[0], answer_slow_us[1])};
  return {answer_floor_us + random_.between(0, answer_spread_us[0]) + random_.between(0, answer_spread_us[1])};
}

}  // namespace octep::sim
