#include "tools/replay.hpp"

#include "tools/capture.hpp"
#include "tools/text.hpp"
#include "tools/tracking.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace octep::tools {
namespace {

constexpr u16 opener_port = 1, responder_port = 2;

// Where each hardware address was last seen. A fixed table: two addresses that share a place forget each other, and a frame
// that finds nothing arrives on the opener's port, which costs nothing but a nicety.
class seen_ports {
 public:
  void learn(const std::optional<u64>& address, u16 port) {
    if (address) places_[place(*address)] = {*address, port};
  }
  [[nodiscard]] u16 of(const std::optional<u64>& address) const {
    if (!address || places_[place(*address)].address != *address) return opener_port;
    return places_[place(*address)].port;
  }

 private:
  struct entry {
    u64 address = 0;
    u16 port = opener_port;
  };
  static constexpr usize size = 4'096;
  [[nodiscard]] static usize place(u64 address) noexcept { return sim::scatter(0, address) % size; }

  std::vector<entry> places_ = std::vector<entry>(size);
};

sim::wide_tuple tuple_of(const frame_facts& facts) {
  return facts.which == family::ipv4 ? sim::wide_tuple{facts.v4} : sim::wide_tuple{facts.v6};
}

class replay {
 public:
  replay(sim::appliance& box, bool nat) : box_{box}, nat_{nat} {
    box_.on_event = [this](const event& e) { hear(e); };
  }
  ~replay() { box_.on_event = nullptr; }
  replay(const replay&) = delete;
  replay& operator=(const replay&) = delete;

  void take(const captured_frame& frame) {
    // Passes that were due before this frame answer for what was known before it.
    box_.advance(frame.at);
    frame_facts facts;
    classify(frame, facts);
    const std::optional<u64> source = link_source(frame);
    const sim::tcp_flags flags{tcp_flags_of(frame, facts)};
    connection* of = nullptr;
    u16 port = ports_.of(source);
    if (facts.why == reason::none) {
      const tracking::seen seen = connections_.see(tuple_of(facts), flags, frame.at);
      of = seen.of;
      sums_.connections += seen.begins ? 1 : 0;
      port = seen.direction == 0 ? opener_port : responder_port;
      ports_.learn(source, port);
      if (nat_ && seen.direction == 1 && box_.translate_reply(facts, frame.at))
        connections_.also_arrives_as(*of, tuple_of(facts));
    }
    const u32 length = frame.view.wire_length;
    const sim::arrival_verdict said = box_.arrive(port, facts, length, flags, frame.at);
    ++sums_.frames;
    sums_.bytes += length;
    if (said.forwarded)
      forwarded(of, length);
    else
      punted(of, said.why, length, frame.at);
  }

  // After the last frame.
  replay_sums& finish() {
    connections_.finish();
    sums_.counters = box_.counters();
    sums_.values = box_.values();
    return sums_;
  }

  // Of the sums and of the models.
  [[nodiscard]] std::optional<std::string> contradicts(u64 frames_read) const {
    if (auto law = contradiction(sums_, frames_read, connections_.living())) return law;
    std::string why;
    if (!box_.sound(&why)) return why;
    return {};
  }

 private:
  void forwarded(connection* of, u32 length) {
    ++sums_.forwarded;
    sums_.forwarded_bytes += length;
    if (of != nullptr) of->forwarded = true;
  }

  void punted(connection* of, reason why, u32 length, instant now) {
    ++sums_.punted;
    sums_.punted_bytes += length;
    if (why == reason::none)
      ++sums_.candidates;
    else
      ++sums_.not_candidate[static_cast<usize>(why)];
    if (of == nullptr) return;
    if (!of->first_punted) of->first_punted = now;
    // Until a pass has said something, what became of its last frame is all there is to say.
    if (of->refusal == reason::not_asked || is_frame_reason(of->refusal))
      of->refusal = why == reason::none ? reason::not_asked : why;
  }

  void hear(const event& e) {
    if (!e.names_tuple || (e.kind != event_kind::made && e.kind != event_kind::refused)) return;
    connection* const of = connections_.find(e.which == family::ipv4 ? sim::wide_tuple{e.v4} : sim::wide_tuple{e.v6});
    if (of == nullptr) return;  // it is over: a candidate of it was still to be read
    if (e.kind == event_kind::refused)
      of->refusal = e.why;
    else if (!of->made)
      of->made = e.at;
  }

  void count(const connection& c) {
    if (c.made && c.first_punted) sums_.time_to_made.add(c.made->since(*c.first_punted).count);
    // A connection that takes over the tuple of one in hardware is forwarded without being made again.
    if (c.made || c.forwarded)
      ++sums_.made;
    else
      ++sums_.not_made[static_cast<usize>(c.refusal)];
    sums_.picked_up += c.picked_up ? 1 : 0;
  }

  sim::appliance& box_;
  bool nat_;
  replay_sums sums_;
  seen_ports ports_;
  tracking connections_{[this](const connection& c) { count(c); }};
};

const char* const not_modelled =
    "What takes a connection out of hardware again: give-back by the device, the end of a connection, keep-alive. What was "
    "made stays made, so long captures show more forwarded frames, and a fuller table, than a box would.";

void add_warnings(replay_sums& sums, const capture& from, bool cut) {
  const auto warn = [&](u64 n, const char* one, const char* more) {
    if (n == 1) sums.warnings.push_back(fmt::format("one {}", one));
    if (n > 1) sums.warnings.push_back(fmt::format("{} {}", grouped(n), more));
  };
  if (cut) sums.warnings.push_back(from.message());
  warn(from.went_back(), "frame is stamped earlier than the one before it, and counts at that one's time",
       "frames are stamped earlier than one before them, and count at that one's time");
  warn(from.overlong(), "record holds more bytes than it says the frame had; the rest is not looked at",
       "records hold more bytes than they say their frames had; the rest is not looked at");
  warn(sums.not_candidate[static_cast<usize>(reason::truncated)],
       "frame was not captured with its whole headers; a longer snap length keeps them",
       "frames were not captured with their whole headers; a longer snap length keeps them");
}

}  // namespace

std::optional<std::string> contradiction(const replay_sums& sums, u64 frames_read, u64 living) {
  if (sums.forwarded + sums.punted != frames_read || sums.frames != frames_read)
    return fmt::format("{} frames forwarded and {} punted are not the {} that were read", sums.forwarded, sums.punted,
                       frames_read);
  if (sums.forwarded_bytes + sums.punted_bytes != sums.bytes)
    return fmt::format("{} bytes forwarded and {} punted are not the {} that were read", sums.forwarded_bytes,
                       sums.punted_bytes, sums.bytes);
  if (sums.candidates + sum(sums.not_candidate) != sums.punted)
    return fmt::format("{} candidates and {} others are not the {} punted frames", sums.candidates, sum(sums.not_candidate),
                       sums.punted);
  if (sums.made + sum(sums.not_made) + living != sums.connections)
    return fmt::format("{} connections made, {} not made and {} still open are not the {} seen", sums.made, sum(sums.not_made),
                       living, sums.connections);
  return {};
}

const char* what_is_not_modelled() noexcept { return not_modelled; }

outcome replay_command(const arguments& given) {
  auto parsed = parse_replay_options(given);
  if (const outcome* const answer = std::get_if<outcome>(&parsed)) return *answer;
  const replay_options& options = std::get<replay_options>(parsed);

  std::string error;
  std::optional<capture> from = capture::open(options.file, error);
  if (!from) return refused(status_input, error);
  const std::unique_ptr<sim::appliance> box = sim::appliance::make(options.box, error);
  if (!box) return refused(status_usage, error);

  replay through{*box, options.box.nat};
  captured_frame frame;
  capture::got got = capture::got::end;
  while ((got = from->next(frame)) == capture::got::frame) {
    through.take(frame);
    // The models' laws take time to ask, so they are asked at every doubling.
    if (!is_power_of_two(from->frames())) continue;
    if (const auto law = through.contradicts(from->frames())) return refused(status_broken, "octep contradicts itself: " + *law);
  }
  if (got == capture::got::bad) return refused(status_input, from->message());

  replay_sums& sums = through.finish();
  if (const auto law = through.contradicts(from->frames())) return refused(status_broken, "octep contradicts itself: " + *law);
  sums.seconds = from->seconds();
  add_warnings(sums, *from, got == capture::got::cut);
  outcome answer{status_done, options.json ? report_json(sums, options) : report_text(sums, options), {}};
  for (const std::string& warning : sums.warnings) answer.complaints.push_back("warning: " + warning);
  return answer;
}

}  // namespace octep::tools
