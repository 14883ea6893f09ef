#include "tools/replay_loop.hpp"

#include "tools/advice.hpp"

namespace octep::tools {
void seen_ports::learn(const std::optional<u64>& address, u16 port) {
  if (address) places_[place(*address)] = {*address, port};
}

u16 seen_ports::of(const std::optional<u64>& address) const {
  if (!address || places_[place(*address)].address != *address) return opener_port;
  return places_[place(*address)].port;
}

replay_loop::replay_loop(sim::appliance& box, bool nat)
    : box_{box}, nat_{nat}, makes_{makes_connections(box.values())}, connections_{[this](const connection& c) {
        sums_.count(c);
        if (watch != nullptr) watch->over(c);
        if (on_over) on_over(c);
      }} {
  box_.on_event = [this](const event& e) { hear(e); };
  box_.ways.resolve_by([this](family which, const address6& who) { return neighbours_.of(which, who); });
}

void replay_loop::take(const observed_frame& seen) {
  const captured_frame& frame = seen.frame;
  // Passes that were due before this frame answer for what was known before it.
  box_.advance(frame.at);
  const frame_facts* facts = &seen.facts;
  const std::optional<u64> source = link_source(frame);
  connection* of = nullptr;
  u8 direction = 0;
  u16 port = ports_.of(source);
  if (seen.candidate()) {
    const tracking::seen known = connections_.see(seen.tuple, seen.tcp.flags, frame.at);
    of = known.of;
    direction = known.direction;
    sums_.connections += known.begins ? 1 : 0;
    port = direction == 0 ? opener_port : responder_port;
    ports_.learn(source, port);
    if (known.first_of_direction) neighbours_.learn(seen.tuple.which, seen.tuple.source, source.value_or(0));
    if (nat_ && direction == 1) {
      translated_ = seen.facts;
      facts = &translated_;
      if (box_.translate_reply(translated_, frame.at)) connections_.also_arrives_as(*of, sim::tuple_of(translated_));
    }
  }
  if (watch != nullptr) watch->see(seen, of, direction);
  const u32 length = frame.view.wire_length;
  const sim::arrival_verdict said = box_.arrive(port, *facts, length, seen.candidate() ? seen.tcp : sim::tcp_segment{}, frame.at);
  ++sums_.frames;
  sums_.bytes += length;
  if (on_tuple && seen.candidate()) on_tuple(seen.tuple, sim::tuple_of(*facts), said.forwarded);
  if (said.forwarded)
    forwarded(of, length, frame.at);
  else
    punted(of, said.why, length, frame.at);
}

replay_sums& replay_loop::finish() {
  connections_.finish();
  sums_.counters = box_.counters();
  sums_.values = box_.values();
  return sums_;
}

std::optional<std::string> replay_loop::contradicts(u64 frames_read) const {
  if (auto law = contradiction(sums_, frames_read, connections_.living())) return law;
  std::string why;
  if (!box_.sound(&why)) return why;
  return {};
}

void replay_loop::forwarded(connection* of, u32 length, instant now) {
  ++sums_.forwarded;
  sums_.forwarded_bytes += length;
  sums_.over_time.add(now, true, length);
  if (on_frame) on_frame(true, now);
  if (of == nullptr) return;
  of->forwarded = true;
  ++of->frames_forwarded;
  of->bytes_forwarded += length;
}

void replay_loop::punted(connection* of, reason why, u32 length, instant now) {
  ++sums_.punted;
  sums_.punted_bytes += length;
  sums_.over_time.add(now, false, length);
  if (on_frame) on_frame(false, now);
  if (why == reason::none)
    ++sums_.candidates;
  else
    ++sums_.not_candidate[static_cast<usize>(why)], sums_.not_candidate_bytes[static_cast<usize>(why)] += length;
  if (of == nullptr) return;
  ++of->frames_punted;
  of->bytes_punted += length;
  if (!of->first_punted) of->first_punted = now;
  // Until a pass has said something, what became of its last frame is all there is to say.
  if (of->refusal == reason::not_asked || of->refusal == reason::auto_off || is_frame_reason(of->refusal))
    of->refusal = why != reason::none ? why : makes_ ? reason::not_asked : reason::auto_off;
}

void replay_loop::hear(const event& e) {
  sums_.hardware.hear(e);
  if (on_event) on_event(e);
  if (!e.names_tuple || (e.kind != event_kind::made && e.kind != event_kind::refused)) return;
  connection* const of = connections_.find(sim::tuple_of(e));
  if (of == nullptr) return;  // it is over: a candidate of it was still to be read
  if (e.kind == event_kind::refused)
    of->refusal = e.why;
  else if (!of->made)
    of->made = e.at;
}

}  // namespace octep::tools
