#include "sim/scenarios/kept_true.hpp"

#include <algorithm>

#include "sim/scenarios/kept_true_designs.hpp"
#include "sim/scenarios/kept_true_talk.hpp"

namespace octep::sim::scenarios {

namespace {

// Adds a reader to what the rig sees.
template <class See>
void also_see(rig& r, See&& see) {
  r.box().on_event = [rigs = r.box().on_event, see](const event& e) {
    rigs(e);
    see(e);
  };
}

arrival_verdict datagram(rig& r, const tuple4& t, u16 port, instant now) {
  frame_facts f{};
  f.which = family::ipv4;
  f.v4 = t;
  return r.box().arrive(port, f, 100, {}, now);
}

}  // namespace

// --- R10 --------------------------------------------------------------------------------------------------

after_a_gap one_exchange_and_a_gap(const design& d, u32 gap_s, u64 seed) {
  rig r{d, seed};
  traffic others;
  others.begins = {};
  others.period = {1'000'000 / bystanders_a_second};
  others.how = pace::loose;
  others.answered = false;
  others.fresh = [&r] { return r.stranger(); };
  r.traffic().add(others);

  const tuple4 flow = r.fresh_flow();
  const instant begins = r.any_phase_after({2'000'000});
  traffic once;
  once.opener = flow;
  once.begins = begins;
  once.exchanges = 1;
  r.traffic().add(once);
  traffic only_opening = once;
  only_opening.begins = begins + from_s(gap_s);
  only_opening.answered = false;
  only_opening.exchanges = 100;  // two seconds
  r.traffic().add(only_opening);
  const instant asks = only_opening.begins + from_s(2) + drive_period;
  (void)r.traffic().run(asks);

  after_a_gap out;
  out.made = r.made(flow) != nullptr;
  also_see(r, [&](const event& e) { out.answer_attached |= e.kind == event_kind::attached && e.direction == 1; });
  (void)datagram(r, flow, 1, asks);
  out.answered_in_hardware = datagram(r, reverse(flow), 2, asks + answer_after).forwarded;
  r.box().advance(asks + from_s(1));
  return out;
}

// --- R11 --------------------------------------------------------------------------------------------------

pings twelve_echo_requests(const design& d, u32 addresses, u32 silent, u64 seed) {
  rig r{d, seed, true};
  pings out;
  also_see(r, [&](const event& e) { out.made_from_reply += e.kind == event_kind::make_begins && e.direction == 1; });
  const u64 mismatches = r.counter("flow_tuple_mismatch");
  const instant begins = r.any_phase_after({2'000'000});
  for (u32 i = 0; i < addresses; ++i) {
    traffic ping;
    ping.opener = r.fresh_echo_in(static_cast<u32>(r.random().below(d.slots)));
    ping.opener.destination += i << 24;
    ping.begins = begins + microseconds{i * u64{20'000'000}};
    ping.period = ping_period;
    ping.how = pace::even;
    ping.answered = i + silent < addresses;
    ping.translated = true;
    ping.exchanges = 12;
    r.traffic().add(ping);
  }
  (void)r.traffic().run(begins + from_s(20 * addresses));
  out.mismatches = r.counter("flow_tuple_mismatch") - mismatches;
  out.waits = r.counter("flow_wait_other");
  out.made = r.made_count();
  return out;
}

// --- R18 --------------------------------------------------------------------------------------------------

emptied_table discard_of_flows(const design& d, u64 seed) {
  rig r{d, seed};
  emptied_table out;
  out.places = u64{d.slots} * d.places;
  // Every place is written, by whoever comes: strangers a slot at a time, as many as it has places. Two hundred a
  // second.
  instant now = {1'000'000};
  for (u32 slot = 0; slot < d.slots; ++slot)
    for (u32 place = 0; place < d.places; ++place, now = now + from_ms(5)) (void)datagram(r, r.stranger(slot), 1, now);
  out.before = places_written(r.box()).value_or(0);
  r.box().request_discard();
  now = now + from_ms(5);
  r.box().advance(now);
  out.after = places_written(r.box()).value_or(0);
  out.kept_slots = r.counter("cand_kept");
  for (u32 i = 0; i < 5; ++i) {
    traffic t;
    t.opener = r.fresh_flow();
    t.begins = now + from_ms(10 + u64{i} * 100);
    t.period = from_s(1);
    t.how = pace::even;
    t.answered = false;
    r.traffic().add(t);
  }
  (void)r.traffic().run(now + from_s(3));
  out.again = places_written(r.box()).value_or(0);
  return out;
}

// --- R22 --------------------------------------------------------------------------------------------------

made_and_taken_out taken_out_while_frames_go_on(const design& d, bool holds, u64 seed) {
  rig r{d, seed};
  (void)r.box().set(setting::revive, 0);
  if (!holds) (void)r.box().set(setting::hold_min_ms, 0);
  u64 made = 0;
  u64 since_poll = 0;
  made_and_taken_out out;
  also_see(r, [&](const event& e) {
    if (e.kind == event_kind::poll_begins) since_poll = 0;
    if (e.kind != event_kind::made) return;
    ++made;
    out.most_between_polls = std::max(out.most_between_polls, ++since_poll);
  });
  talk t{r, 40'000};
  const instant begins = r.any_phase_after({2'000'000});
  t.open(begins);
  constexpr u64 seconds = 10;
  constexpr u64 frames = seconds * 1'000'000 / going_on_period.count;
  instant now = begins + from_ms(2);
  for (u64 i = 0; i < frames; ++i, now = now + going_on_period) {
    (void)t.ack(0, now);
    if (i % 1'000 == 0) (void)t.data(1, now);
  }
  out.made_a_second = static_cast<double>(made) / seconds;
  return out;
}

}  // namespace octep::sim::scenarios
