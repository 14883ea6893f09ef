#include "sim/flows.hpp"

#include <memory>

namespace octep::sim {

namespace {

constexpr u8 ack = tcp_flags::ack_bit;
constexpr u8 syn = tcp_flags::syn_bit;
constexpr u8 fin = tcp_flags::fin_bit;

struct sender {
  appliance* box;
  flow_ends ends;
  flow_counts* counts;
  bool nat;
  generator random;

  void send(u32 direction, u8 flags, instant now) {
    frame_facts f{};
    f.why = reason::none;
    f.which = family::ipv4;
    f.v4 = direction == 0 ? ends.opener : ends.responder;
    f.closing = (flags & (fin | tcp_flags::rst_bit)) != 0;
    f.syn = (flags & syn) != 0 && (flags & ack) == 0;
    if (direction == 1 && nat) {
      f.v4 = reverse(ends.opener);
      if (!box->translate_reply(f, now)) return;  // the firewall would not know whose it is
    }
    ++counts->frames;
    const u16 port = direction == 0 ? ends.opener_port : ends.responder_port;
    counts->forwarded += box->arrive(port, f, 1'000, tcp_flags{flags}, now).forwarded;
  }
};

// A burst of data, each two frames acknowledged a round trip later, then the next burst.
void burst(std::shared_ptr<sender> to, const stream_plan& plan, instant now) {
  const u32 data = plan.down ? 1 : 0;
  event_queue& events = to->box->events;
  for (u32 i = 0; i < plan.burst; ++i) {
    events.in(microseconds{i * 10}, [to, data](instant t) { to->send(data, ack, t); });
    if (i % 2 == 1)
      events.in(microseconds{i * 10} + plan.round_trip, [to, data](instant t) { to->send(1 - data, ack, t); });
  }
  const u64 average = plan.between_bursts.count;
  const microseconds pause{to->random.between(average / 2, average + average / 2)};
  if (now + pause < plan.begins + plan.lasts)
    events.in(pause, [to, plan](instant t) { burst(to, plan, t); });
}

}  // namespace

void stream(appliance& box, const flow_ends& ends, const stream_plan& plan, flow_counts& counts, bool nat) {
  auto to = std::make_shared<sender>(sender{&box, ends, &counts, nat, generator{plan.seed, 7}});
  event_queue& events = box.events;
  events.at(plan.begins, [to](instant t) { to->send(0, syn, t); });
  events.at(plan.begins + plan.round_trip, [to](instant t) { to->send(1, syn | ack, t); });
  events.at(plan.begins + plan.round_trip + microseconds{20}, [to](instant t) { to->send(0, ack, t); });
  events.at(plan.begins + plan.round_trip + plan.round_trip, [to, plan](instant t) { burst(to, plan, t); });
}

void exchanges(appliance& box, const flow_ends& ends, const exchange_plan& plan, flow_counts& counts, bool nat) {
  auto to = std::make_shared<sender>(sender{&box, ends, &counts, nat, generator{1, 7}});
  for (instant t = plan.begins; t < plan.begins + plan.lasts; t = t + plan.period) {
    box.events.at(t, [to](instant now) { to->send(0, 0, now); });
    if (plan.answered) box.events.at(t + microseconds{300}, [to](instant now) { to->send(1, 0, now); });
  }
}

flow_ends plain_flow(address4 opener, u16 opener_port, address4 responder, u16 responder_port, protocol proto) {
  const tuple4 t = tuple4::make(opener, responder, join_ports(port_word(opener_port), port_word(responder_port)), proto);
  return {t, reverse(t)};
}

}  // namespace octep::sim
