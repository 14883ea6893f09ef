#include "sim/scenarios/scenarios.hpp"

#include <algorithm>

#include "sim/scenarios/rig.hpp"

namespace octep::sim::scenarios {

namespace {

constexpr microseconds patience = from_s(8);  // of R8 and R9: the recorded runs ended there
constexpr microseconds minute = from_s(60);
constexpr u32 claimers_frames_a_second = 40'000;

double seconds_between(instant from, instant to) { return static_cast<double>(to.since(from).count) / 1e6; }

double made_after(const rig& r, const tuple4& opener, instant from) {
  const made_when* m = r.made(opener);
  return m == nullptr ? never_s : seconds_between(from, m->at);
}

// Drives these flows from `begins` until all are made or patience ends.
sharing drive(rig& r, const std::vector<tuple4>& openers, instant begins, bool in_turn, bool translated) {
  for (usize i = 0; i < openers.size(); ++i) {
    traffic t;
    t.opener = openers[i];
    t.translated = translated;
    t.how = in_turn ? pace::together : pace::even;
    t.begins = in_turn ? begins : begins + microseconds{r.random().below(drive_period.count)};
    r.traffic().add(t);
  }
  const usize before = r.made_count();
  const u64 evicted = r.counter("cand_evicted");
  (void)r.traffic().run(begins + patience, [&] { return r.made_count() == before + openers.size(); });
  sharing out;
  out.evicted = r.counter("cand_evicted") - evicted;
  for (const tuple4& t : openers) out.made_at.push_back(made_after(r, t, begins));
  std::sort(out.made_at.begin(), out.made_at.end());
  return out;
}

asked asked_of(const rig& r) {
  const rig::attempts& a = r.run_attempts();
  return {a.all, r.made_count(), a.most_of_a_tuple, a.most_of_a_slot, a.most_between_polls};
}

// One frame after another of a tuple that nobody answers.
traffic one_way(const tuple4& t, instant begins, microseconds period, u64 frames) {
  traffic out;
  out.opener = t;
  out.begins = begins;
  out.period = period;
  out.how = pace::even;
  out.answered = false;
  out.exchanges = frames;
  return out;
}

traffic strangers(rig& r, u32 a_second, std::optional<u32> slot) {
  traffic t;
  t.begins = {};
  t.period = {1'000'000 / a_second};
  t.how = pace::loose;
  t.answered = false;
  t.fresh = [&r, slot] { return r.stranger(slot); };
  return t;
}

// Drives the pair until it is made or patience ends.
pair_made drive_pair(rig& r, const tuple4& pair, phase how, u64 patience_s, instant from = {2'000'000}) {
  traffic t;
  t.opener = pair;
  t.period = slow_period;
  if (how == phase::locked) {
    t.how = pace::even;
    t.begins = r.any_phase_after(from);
  } else {
    t.how = pace::varied;
    t.begins = from;
  }
  r.traffic().add(t);

  // A UDP state is settled by the answer of its second exchange.
  instant settled = never;
  instant first = never;
  const auto over = [&] {
    if (settled == never) {
      const firewall_answer<tuple4> state = r.box().rules.find(pair, r.box().events.now());
      if (!state.found) return false;
      if (first == never) first = r.box().events.now();
      if (state.opener_peer == peer_state::established && state.responder_peer == peer_state::established)
        settled = r.box().events.now();
      return false;
    }
    return r.made(pair) != nullptr;
  };
  (void)r.traffic().run(from + from_s(patience_s), over);
  pair_made out;
  const made_when* m = r.made(pair);
  if (m == nullptr) return out;
  out.seconds = seconds_between(first, m->at);
  out.polls = r.polls_between(settled, m->at);
  out.before_a_poll = m->by == asker::run;
  return out;
}

}  // namespace

u64 sharing::made() const {
  return static_cast<u64>(std::count_if(made_at.begin(), made_at.end(), [](double s) { return s != never_s; }));
}

// --- R8, N1, R9 -------------------------------------------------------------------------------------------

sharing flows_in_one_slot(const design& d, u32 flows, bool in_turn, u64 seed) {
  rig r{d, seed};
  const u32 slot = static_cast<u32>(r.random().below(d.slots));
  std::vector<tuple4> openers;
  for (u32 i = 0; i < flows; ++i) openers.push_back(r.fresh_flow_in(slot));
  return drive(r, openers, r.any_phase_after({2'000'000}), in_turn, false);
}

sharing self_colliding_through_nat(const design& d, u64 seed) {
  rig r{d, seed, true};
  constexpr u32 opened = 300;
  std::vector<tuple4> all;
  for (u32 i = 0; i < opened; ++i) {
    traffic t;
    t.opener = r.fresh_flow();
    t.translated = true;
    t.begins = {1'500'000 + i * drive_period.count};
    t.exchanges = 1;
    all.push_back(t.opener);
    r.traffic().add(t);
  }
  const instant opened_all = {10'000'000};
  (void)r.traffic().run(opened_all);
  std::vector<tuple4> colliding;
  for (const tuple4& t : all) {
    frame_facts reply{};
    reply.v4 = reverse(t);
    if (r.box().translate_reply(reply, opened_all) && r.slot_of(reply.v4) == r.slot_of(t)) colliding.push_back(t);
  }
  return drive(r, colliding, r.any_phase_after(opened_all), true, true);
}

// --- R12 --------------------------------------------------------------------------------------------------

nine_hundred opened_fifty_at_a_time(const design& d, u64 seed) {
  rig r{d, seed};
  constexpr u32 flows = 900;
  const instant begins = r.any_phase_after({2'000'000});
  for (u32 i = 0; i < flows; ++i) {
    traffic t;
    t.opener = r.fresh_flow();
    t.begins = begins + microseconds{i / open_batch * open_every.count};
    t.opening = open_exchanges;
    t.period = keep_period;
    t.how = pace::varied;
    r.traffic().add(t);
  }
  // Nothing made for twenty seconds of keeping: every flow was heard five times meanwhile.
  const microseconds opened{flows / open_batch * open_every.count};
  instant until = begins + opened + from_s(20);
  do {
    (void)r.traffic().run(until);
    until = r.last_made() + from_s(20);
  } while (r.box().events.now() < until);
  nine_hundred out;
  out.stopped_growing_at = seconds_between(begins, r.last_made());
  out.held = r.made_count();
  out.tries_that_made_nothing = r.run_attempts().refused;
  const u64 evicted = r.counter("cand_evicted");
  (void)r.traffic().run(r.box().events.now() + from_s(30));
  out.evicted_while_held = r.counter("cand_evicted") - evicted;
  out.clashes = r.counter("clash");
  return out;
}

// --- N2 ---------------------------------------------------------------------------------------------------

pair_made pair_beside(const design& d, u32 hostile, phase how, u64 patience_s, u64 seed) {
  rig r{d, seed};
  const tuple4 pair = r.fresh_self_colliding();
  for (u32 i = 0; i < hostile; ++i) {
    traffic t = one_way(r.stranger(r.slot_of(pair)), {1'000'000}, hostile_period, ~u64{0});
    t.how = pace::loose;
    r.traffic().add(t);
  }
  return drive_pair(r, pair, how, patience_s);
}

pair_made pair_beside_claimers(const design& d, u32 claimers, u64 patience_s, u64 seed) {
  rig r{d, seed};
  const tuple4 pair = r.fresh_self_colliding();
  const u32 slot = r.slot_of(pair);
  const microseconds period{std::max(hostile_period.count, claimers * u64{1'000'000} / claimers_frames_a_second)};
  for (u32 i = 0; i < claimers; ++i) {
    traffic t = one_way(i % 2 == 0 ? r.fresh_flow_in(slot) : r.fresh_echo_in(slot), {1'000'000}, period, ~u64{0});
    t.how = pace::loose;
    r.traffic().add(t);
  }
  return drive_pair(r, pair, phase::locked, patience_s, {6'000'000});
}

pair_made pair_under_echoes(const design& d, u32 a_second, u64 seed) {
  rig r{d, seed};
  const tuple4 pair = r.fresh_self_colliding();
  traffic t = strangers(r, a_second, std::nullopt);
  t.fresh = [&r, slot = r.slot_of(pair)] { return r.fresh_echo_in(slot); };
  r.traffic().add(t);
  return drive_pair(r, pair, phase::locked, minute.count / 1'000'000);
}

pair_made pair_under_scan(const design& d, u32 a_second, bool aimed, phase how, u64 seed) {
  rig r{d, seed};
  const tuple4 pair = r.fresh_self_colliding();
  r.traffic().add(strangers(r, a_second, aimed ? std::optional{r.slot_of(pair)} : std::nullopt));
  return drive_pair(r, pair, how, minute.count / 1'000'000);
}

// --- N3, R16 ----------------------------------------------------------------------------------------------

asked scan_of_few_frames(const design& d, u64 seed) {
  rig r{d, seed};
  const instant begins = r.any_phase_after({1'000'000});
  constexpr u64 apart_us = 1'000'000 / strangers_a_second;
  for (u32 i = 0; i < scan_tuples; ++i)
    r.traffic().add(one_way(r.fresh_flow(), begins + microseconds{i * apart_us}, flood_spacing, 1 + i % 2));
  (void)r.traffic().run(begins + microseconds{scan_tuples * apart_us} + from_s(2));
  return asked_of(r);
}

asked flood_to_a_silent_address(const design& d, u64 seed) {
  rig r{d, seed};
  const instant begins = r.any_phase_after({1'000'000});
  constexpr u64 apart_us = flood_lasts.count / flood_tuples;
  for (u32 i = 0; i < flood_tuples; ++i)
    r.traffic().add(one_way(r.fresh_flow(), begins + microseconds{i * apart_us}, flood_spacing, flood_frames));
  (void)r.traffic().run(begins + flood_lasts);
  return asked_of(r);
}

asked refused_and_back(const design& d, u64 seed) {
  rig r{d, seed};
  const tuple4 refused = r.stranger();
  // Rounds within the second that a poll begins: sixteen frames, a run, and then enough others to fill any slot twice over.
  for (u64 round = 0; round < 8; ++round) {
    const instant at{2'050'000 + round * 100'000};
    r.traffic().add(one_way(refused, at, {1'000}, 20));
    for (u64 i = 0; i < 40; ++i)
      r.traffic().add(one_way(r.stranger(r.slot_of(refused)), at + microseconds{40'000 + i * 1'000}, {1'000}, 1));
  }
  (void)r.traffic().run({2'950'000});
  return asked_of(r);
}

bool made_beside_a_refused_tuple(const design& d, u64 seed) {
  rig r{d, seed};
  // Both of its tuples share the slot: the answers' own slot would ask for it.
  traffic innocent;
  innocent.opener = r.fresh_self_colliding();
  innocent.begins = {2'100'000 + r.random().below(400'000)};
  r.traffic().add(innocent);
  r.traffic().add(one_way(r.stranger(r.slot_of(innocent.opener)), {2'020'000}, {2'000}, ~u64{0}));
  // The next poll is at three seconds; what no run has made by then, it makes.
  (void)r.traffic().run({2'990'000}, [&] { return r.made(innocent.opener) != nullptr; });
  return r.made(innocent.opener) != nullptr && r.run_attempts().refused != 0;
}

// --- the mix ----------------------------------------------------------------------------------------------

mixed zipf_and_strangers(const design& d, u64 seed) {
  rig r{d, seed};
  r.traffic().add(strangers(r, strangers_a_second, std::nullopt));
  double harmonic = 0;
  for (u32 k = 1; k <= zipf_flows; ++k) harmonic += 1.0 / k;
  const instant begins = r.any_phase_after({1'000'000});
  std::vector<tuple4> openers;
  std::vector<usize> sources;
  for (u32 k = 1; k <= zipf_flows; ++k) {
    traffic t;
    t.opener = r.fresh_flow();
    t.begins = begins;
    t.period = {static_cast<u64>(1e6 * harmonic * k / zipf_exchanges_a_second)};
    t.how = pace::loose;
    openers.push_back(t.opener);
    sources.push_back(r.traffic().add(t));
  }
  // A flow that is made sends no more: its frames would not reach the host.
  usize known = 0;
  (void)r.traffic().run(begins + minute, [&] {
    if (r.made_count() != known) {
      known = r.made_count();
      for (u32 k = 0; k < zipf_flows; ++k)
        if (r.made(openers[k]) != nullptr) r.traffic().stop(sources[k]);
    }
    return false;
  });
  mixed out;
  for (u32 k = 0; k < zipf_flows; ++k) {
    const double at = made_after(r, openers[k], begins);
    out.share_made += at <= 60.0 ? 1.0 / zipf_flows : 0;
    if (k < 10) out.ten_busiest_s += std::min(at, 60.0) / 10;
  }
  return out;
}

}  // namespace octep::sim::scenarios
