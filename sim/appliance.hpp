// The appliance: the engine between a model coprocessor, a model firewall and model routes, in virtual time.
//
//   arrive ─▶ fast path ─┬─▶ forwarded
//                        └─▶ punted ─▶ engine.punt ─▶ host forwards it through the firewall
//   worker (kick, poll, answers) ─▶ engine.next ─▶ command port ─▶ fast path ─▶ engine.answered ─▶ ...
//
// What it is: the one driver that replay, scenarios, property tests and fuzzers share. A history is a list of inputs: frames
// and times; everything else follows from the seed.
// What it refuses: a clock and a thread. Concurrency: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <octep/channel.hpp>
#include <octep/device.hpp>
#include <octep/engine/policies.hpp>
#include <octep/events.hpp>
#include <octep/frame.hpp>
#include <octep/settings.hpp>

#include "sim/any_hash.hpp"
#include "sim/command_port.hpp"
#include "sim/event_queue.hpp"
#include "sim/fast_path.hpp"
#include "sim/firewall.hpp"
#include "sim/routes.hpp"

namespace octep::sim {

// Who makes room in a slot (docs/choice.md).
enum class choice_kind : u8 { oldest, rank };

[[nodiscard]] constexpr const char* name(choice_kind k) noexcept {
  return k == choice_kind::oldest ? "oldest" : "rank";
}

struct appliance_options {
  device_facts device = xgs3300;
  u32 slots = default_policies::geometry.slots;
  u32 places = default_policies::geometry.places;
  std::optional<choice_kind> choice;  // none: the default's in a slot of sixteen, the recorded one in a smaller
  hash_kind hash = hash_kind::keyed;
  u64 seed = 1;
  settings values = initial_settings(xgs3300);
  bool nat = false;  // source NAT of every connection, to one documentation address
  u32 connections = 1'022;
  u32 next_hops = 254;
  u32 associations = 32;
  u32 microflows = microflow_capacity;
  std::optional<microseconds> command_latency;  // instead of the distribution
  bool gives_back = true;  // TCP connections, by the device's rule
  bool judges_numbers = true;  // the firewall, where it is not relaxed
};

// What became of a frame.
struct arrival_verdict {
  bool forwarded = false;
  reason why = reason::none;  // punted: none where it left a candidate
  verdict device;             // as the fast path told it
};

class appliance {
 public:
  // A box of the default design in one of the tables that are compiled in; null with one line in `error` for others.
  [[nodiscard]] static std::unique_ptr<appliance> make(const appliance_options& options, std::string& error);
  [[nodiscard]] static const std::vector<u32>& slot_choices();
  [[nodiscard]] static const std::vector<u32>& place_choices();

  [[nodiscard]] static choice_kind choice_of(const appliance_options& options);

  virtual ~appliance() = default;

  // --- inputs -------------------------------------------------------------------------------------------
  // Runs whatever is due up to and including `to`: polls, runs, answers, timers.
  virtual void advance(instant to) = 0;
  // A frame on a front port. `now` is not before the last input's.
  virtual arrival_verdict arrive(u16 port, const frame_facts& facts, u32 wire_length, const tcp_segment& tcp,
                                 instant now) = 0;
  virtual set_result set(setting which, u32 to) = 0;
  virtual void request_discard() = 0;

  // --- looking ------------------------------------------------------------------------------------------
  // How a responder's frame arrives where its opener is translated: rewrites the destination of `reply`, a frame of
  // direction 1 written as if nothing were translated. False: the firewall does not know the connection.
  virtual bool translate_reply(frame_facts& reply, instant now) = 0;
  // Every counter by name: rings, passes, reasons, then the device's own in capitals.
  [[nodiscard]] virtual std::vector<std::pair<std::string, u64>> counters() const = 0;
  [[nodiscard]] virtual const settings& values() const = 0;
  // Every law that must hold between two inputs; the first that does not, in words.
  [[nodiscard]] virtual bool sound(std::string* why) = 0;

  // Every event of every pass, as it happens.
  std::function<void(const event&)> on_event;

  event_queue events;
  firewall rules;
  association_table kernel;  // of IPsec; `ways` may lead into its tunnels
  routes ways = routes::everywhere();
  fast_path device;

 protected:
  explicit appliance(const appliance_options& options);
};

}  // namespace octep::sim
