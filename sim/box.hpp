// A box: the appliance around one instantiation of the engine.
//
// What it is: the World that the models make, the worker that pulls the engine, and the laws that must hold between inputs.
// Recorded designs are instantiated by scenarios with their own policies; `appliance::make` has the default design's.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <octep/engine/engine.hpp>
#include <octep/host/vector_tags.hpp>

#include "sim/appliance.hpp"
#include "sim/reconcile.hpp"

namespace octep::sim {

// The default design with a geometry, a choice and a hash chosen by a tool.
template <class Choice, u32 Slots, u32 Places>
struct replay_policies {
  using atomics = builtin_atomics;
  using hash = any_hash;
  using choice = Choice;
  using tags = vector_tags;
  using refusals = refusals_by_tuple<Slots>;
  using make_budget = plain_budget;
  static constexpr limits geometry{.slots = Slots, .places = Places};
  static constexpr u32 rings = punt_rings;
  static constexpr walk_counts walk_budget = walk_counts::commands_posted;
  static constexpr bool walk_resumes = true;
  static constexpr bool walk_end_clears_marks = true;
  static constexpr u32 walk_slice = default_policies::walk_slice;
  static constexpr full_table room = full_table::idle_makes_room;
  static constexpr bool ipv6 = true;
};

template <class Policies>
class box final : public appliance {
 public:
  struct world {
    sim::firewall& firewall;
    routes& next_hops;
    struct {
      association_table* kernel;
      void pass_over(u32 spi, u64 numbers) const { (void)kernel->pass_over(spi, numbers); }
      void account(u32 spi, const association_traffic& more) const { (void)kernel->account(spi, {more.packets, more.bytes}); }
    } associations;
    device_facts device;
    struct {
      int depth = 0;
      void enter() noexcept { ++depth; }
      void leave() noexcept { --depth; }
    } guard;
    struct {
      box* to;
      void operator()(const event& e) const {
        if (to->on_event) to->on_event(e);
      }
    } events;
    box* worker;
    void kick() const noexcept { worker->wake_in(kick_to_run); }
  };
  using engine_type = engine<world, Policies>;

  explicit box(const appliance_options& o)
      : appliance{o},
        world_{rules, ways, {&kernel}, o.device, {}, {this}, this},
        port_{events, device, {o.seed, o.values[setting::cmd_step_us], o.values[setting::cmd_limit_ms], o.command_latency},
              [this](u64 tag, const answer& said, instant now) {
                core_->answered(tag, said, now);
                pump(now);
              }},
        core_{std::make_unique<engine_type>()} {
    start_options start{o.connections, o.next_hops, true};
    start.associations = o.associations;
    start.far_side_fresh = true;
    memory_.resize(engine_type::bytes_for(start) + arena::alignment);
    void* first = memory_.data();
    std::size_t room = memory_.size();
    std::align(arena::alignment, room - arena::alignment, first, room);
    arena from{first, room};
    started_ = core_->init(world_, start, typename Policies::hash{o.hash, o.seed}, from, events.now());
    for (const setting_row& r : setting_rows) (void)core_->set(r.is, o.values[r.is], events.now());
    pump(events.now());
  }

  [[nodiscard]] bool started() const noexcept { return started_; }
  [[nodiscard]] engine_type& core() noexcept { return *core_; }
  [[nodiscard]] command_port& port() noexcept { return port_; }

  void advance(instant to) override {
    while (events.next_time() <= to) {
      skip_quiet_polls(to);
      if (events.next_time() <= to) (void)events.step();
    }
    events.run_until(to);
    device.advance(to);
    rules.expire(to);
  }

  arrival_verdict arrive(u16 port, const frame_facts& facts, u32 wire_length, const tcp_segment& tcp, instant now) override {
    return arrive_by(0, port, facts, wire_length, tcp, now);
  }
  // A frame that came out of a tunnel, by the kernel's association of that number; 0: none, it arrived in the clear. The host
  // decrypts what the far side has no association for.
  arrival_verdict arrive_by(u32 decrypted_by, u16 port, const frame_facts& facts, u32 wire_length, const tcp_segment& tcp,
                            instant now) {
    advance(now);
    quiet_ = false;
    wire_frame frame;
    frame.where = {port, facts.vlan};
    frame.is_flow = facts.why == reason::none;
    if (frame.is_flow) frame.tuple = tuple_of(facts);
    frame.tcp = tcp;
    frame.bytes = wire_length;
    // The firewall has the frame last, and its memory may come meanwhile.
    arrival_verdict out;
    association_word through;
    if (decrypted_by != 0) {
      const handle by = core_->protects().of_kernel(decrypted_by);
      if (by.revision == 0 || !device.decrypt(by, wire_length, now)) {
        // The kernel decrypts it, and its driver never sees what was inside.
        host_forwards(frame, now);
        return out;
      }
      through = associations::word_of(by);
    }
    device.arrive(out.device, frame, now);
    out.forwarded = out.device.is == verdict::what::forwarded;
    if (out.device.association.revision != 0)
      tell_encrypted(core_->protects()[out.device.association.index].kernel, out.device.number, frame.tuple);
    if (out.device.is != verdict::what::punted) return out;
    const punt_metadata from{out.device.who, port, through};
    out.why = core_->punt(out.device.ring % Policies::rings, facts, wire_length, from, now).why;
    // The host's kernel takes the frame after its driver.
    if (!frame.is_flow)
      (void)device.host_sends(now);
    else
      host_forwards(frame, now);
    return out;
  }

  set_result set(setting which, u32 to) override {
    const set_result r = core_->set(which, to, events.now());
    port_.how().step_us = core_->values()[setting::cmd_step_us];
    port_.how().limit_ms = core_->values()[setting::cmd_limit_ms];
    quiet_ = false;
    pump(events.now());
    return r;
  }

  void request_discard() override {
    core_->request_discard();
    quiet_ = false;
    pump(events.now());
  }

  // Each frame that leaves encrypted, by whomever: the kernel's association, the sequence number, the tuple as it arrived.
  std::function<void(u32 spi, u64 number, const wide_tuple& arrived)> on_encrypted;
  // The kernel's own frames that it handed to the far side's engine.
  [[nodiscard]] u64 handed_over() const noexcept { return handed_over_; }

  // The kernel's new association of a tunnel's direction: a rekey where there is one already. Its number.
  u32 add_association(u32 tunnel, bool encrypts) {
    const u32 spi = kernel.add(tunnel, encrypts);
    tell([spi, encrypts](engine_type& core) { (void)core.association_added(spi, encrypts); });
    return spi;
  }
  // It goes; whoever is the youngest of its direction takes over.
  void remove_association(u32 spi) {
    const kernel_association* const next = kernel.successor(spi);
    const u32 successor = next == nullptr ? 0 : next->spi;
    tell([spi, successor](engine_type& core) { (void)core.association_gone(spi, successor); });
    (void)kernel.remove(spi);
  }
  void cover(u32 tunnel, bool on) {
    kernel.cover(tunnel, on);
    tell([](engine_type& core) { core.changed(); });
  }

  // What the firewall, the routes or an operator tell the engine: `say` under the pass lock.
  template <class Say>
  void tell(Say&& say) {
    say(*core_);
    quiet_ = false;
    pump(events.now());
  }
  // The far side restarted, and knows nothing.
  void far_side_restarts() {
    device.restart(events.now());
    port_.restart();
    tell([this](engine_type& core) { core.far_side_reset(events.now()); });
  }

  bool translate_reply(frame_facts& reply, instant now) override {
    return reply.which == family::ipv4 ? translate(reply.v4, reply.vlan, now) : translate(reply.v6, reply.vlan, now);
  }

  [[nodiscard]] std::vector<std::pair<std::string, u64>> counters() const override {
    std::vector<std::pair<std::string, u64>> all;
    for (const auto& r : ring_counter_rows) all.emplace_back(r.text.name, core_->counted(r.is));
    for (const auto& r : pass_counter_rows) all.emplace_back(r.text.name, core_->counters().value(r.is));
    for (const reason_row& r : reason_rows)
      if (r.is != reason::none) all.emplace_back(text(r.is).name, core_->counted(r.is));
    device.counters().each([&](const char* named, u64 n) { all.emplace_back(named, n); });
    return all;
  }

  [[nodiscard]] const settings& values() const override { return core_->values(); }

  [[nodiscard]] bool sound(std::string* why) override {
    return device.conserved(why) && device.consistent(why) && rules.consistent(why) && reconcile(*core_, device, why);
  }

 private:
  friend struct world;

  void tell_encrypted(u32 spi, u64 number, const wide_tuple& arrived) const {
    if (on_encrypted) on_encrypted(spi, number, arrived);
  }

  // Plain, or encrypted where a policy covers its way: by the far side's engine while that has the association, since it
  // alone gives out numbers then.
  void host_forwards(const wire_frame& frame, instant now) {
    const firewall_pass pass = rules.on_host_frame(frame.tuple, frame.tcp, frame.where, now);
    if (!pass.passed) return;
    const u32 spi = protects(pass.leaves);
    if (spi == unprotected) return;  // a policy, and nobody to protect it: the kernel keeps it
    if (spi != 0) {
      const handle by = core_->protects().of_kernel(spi);
      if (device.ipsec().has(by)) {
        (void)kernel.pass_over(spi, 1);
        ++handed_over_;
        tell_encrypted(spi, *device.encrypt(by, frame.bytes, now), frame.tuple);
      } else if (const std::optional<u64> number = kernel.take_number(spi)) {
        tell_encrypted(spi, *number, frame.tuple);
      }
    }
    (void)device.host_sends(now);
  }
  static constexpr u32 unprotected = ~u32{0};
  // Which of the kernel's associations protects what leaves so; 0: none has to.
  [[nodiscard]] u32 protects(const wide_tuple& leaves) const {
    if (!ways.into_tunnels()) return 0;
    const auto ask = [&]<tuple_type Tuple>() {
      next_hop_question<Tuple> q;
      q.destination = narrow<Tuple>(leaves.destination);
      q.source = narrow<Tuple>(leaves.source);
      const next_hop_answer a = ways.resolve(q);
      return a.why == reason::flow_no_association ? unprotected : a.association;
    };
    return leaves.which == family::ipv4 ? ask.template operator()<tuple4>() : ask.template operator()<tuple6>();
  }

  void wake_in(microseconds delay) {
    wake_at(events.now() + delay);
  }

  // One pending wake-up is enough: the earliest. A later one that is still queued finds nothing to do.
  void wake_at(instant when) {
    if (when == never || (wake_pending_ && wake_ <= when)) return;
    wake_pending_ = true;
    wake_ = when;
    const u64 mine = ++wake_number_;
    events.at(when, [this, mine](instant now) {
      if (mine != wake_number_) return;
      wake_pending_ = false;
      pump(now);
    });
  }

  // The worker: what the glue does between its lock and its unlock.
  void pump(instant now) {
    const u64 polls = core_->counters().value(pass_counter::polls);
    const u64 seen = core_->counters().value(pass_counter::walk_seen);
    const step s = core_->next(now);
    if (s.what == step::kind::post) {
      port_.submit(s.tag, *s.post, now);
      quiet_ = false;
      wake_at(now + from_ms(core_->values()[setting::cmd_limit_ms]));
      return;
    }
    // A poll that took nothing and left nothing outstanding: the next ones find the same until something arrives.
    if (core_->counters().value(pass_counter::polls) != polls)
      quiet_ = s.what == step::kind::idle && core_->counters().value(pass_counter::walk_seen) == seen && core_->table().held() == 0;
    wake_at(s.until);
  }

  // Captures have silences of days. Polls that find nothing are passed over in whole periods, as many at a time as let every
  // slot of both families come round while its stamps still read as the past (`tick::oldest_age`).
  void skip_quiet_polls(instant to) {
    constexpr u64 longest = from_ms(tick::oldest_age / (4 * Policies::geometry.slots)).count;
    const u64 period = from_ms(core_->values()[setting::poll_ms]).count;
    while (quiet_ && wake_pending_ && wake_.us + period <= to.us && events.next_time() == wake_) {
      const u64 periods = std::min((to.us - wake_.us) / period, std::max<u64>(longest / period, 1));
      const instant later = wake_ + microseconds{periods * period};
      wake_pending_ = false;
      wake_at(later);
      events.run_until(later);
    }
  }

  template <tuple_type Tuple>
  bool translate(Tuple& reply, u16 vlan, instant now) {
    const Tuple opener = reverse(reply);
    const auto to = [&](const typename Tuple::address& address, u16 word) {
      reply.destination = address;
      const u16 source = reply.source_word();
      reply.ports = is_echo(reply.proto) ? join_ports(word, reply.destination_word()) : join_ports(source, word);
      return true;
    };
    // What is in hardware is translated there, whether or not the firewall still remembers.
    if (const microflow_view* m = device.find({1, vlan}, opener); m != nullptr && m->active)
      return to(narrow<Tuple>(m->to.source), static_cast<u16>(m->to.ports >> 16));
    const firewall_answer<Tuple> state = rules.find(opener, now);
    return state.found && to(state.opener_translated.address, state.opener_translated.word);
  }

  world world_;
  command_port port_;
  std::vector<std::byte> memory_;
  std::unique_ptr<engine_type> core_;
  bool started_ = false;
  bool wake_pending_ = false;
  bool quiet_ = false;
  instant wake_;
  u64 wake_number_ = 0;
  u64 handed_over_ = 0;
};

}  // namespace octep::sim
