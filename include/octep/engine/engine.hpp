// The engine: a state machine that is pulled.
//
// Floor 13.
//
//   punt(ring, frame, metadata, now)     any ring, no lock          a frame becomes a candidate, or a count
//   next(now)                            the worker, pass lock      post this / wait for the answer / idle until
//   answered(tag, answer, now)           the worker, pass lock      what the far side said to the command outstanding
//   set, request_discard, readers        anyone, pass lock
//
// It does no I/O and never waits: frames, time and answers go in, commands and events come out. A pass suspends at every
// command, so no lock spans a wait, a late answer is the normal path, and every test is a list of inputs.
// The glue loops: `next`; post what it says; unlock; look for the answer; lock; `answered`; again. It calls `next` as soon as
// `World::kick` was called, and no later than `step::until`.
#pragma once

#include <octep/engine/associate.hpp>
#include <octep/engine/give_back.hpp>
#include <octep/engine/make.hpp>
#include <octep/engine/poll.hpp>
#include <octep/engine/program.hpp>
#include <octep/engine/punt.hpp>
#include <octep/engine/reconcile.hpp>
#include <octep/engine/remove.hpp>
#include <octep/engine/run.hpp>
#include <octep/engine/state.hpp>
#include <octep/engine/upkeep.hpp>
#include <octep/engine/wait.hpp>

namespace octep {

struct step {
  enum class kind : u8 { post, wait, idle };

  kind what = kind::idle;
  u64 tag = 0;                    // post, wait
  const command* post = nullptr;  // post: lent until it is answered
  instant until = never;          // wait, idle: call `next` again by then at the latest; in the past: at once
};

template <world_policy World, class Policies = default_policies>
class engine {
 public:
  using policies = Policies;
  using state = engine_state<World, Policies>;
  using hash_type = typename state::hash_type;

  // Cold: once, and a compiler that unrolled it would pay with five kilobytes of a kernel's text.
  [[gnu::cold]] engine() noexcept {}

  // Bytes that `init` cuts from its arena.
  [[nodiscard]] static constexpr usize bytes_for(const start_options& o) noexcept {
    return connections::bytes_for(o.connections, o.ipv6_connections) + next_hops::bytes_for(o.next_hops) +
           arena::bytes_for<hot_cell>(hot_table<typename state::atomics>::buckets_for(o.connections)) +
           arena::bytes_for<u32>(o.connections) + holds::bytes_for(o.holds) + deadlines::bytes_for(o.connections) +
           associations::bytes_for(o.associations);
  }

  // In place, once, before any other thread knows the engine. `world` outlives it. A keyed hash is keyed by a number that
  // nobody outside knows. False: the arena is too small, or the options are more than the device has.
  [[nodiscard]] OCTEP_SELDOM bool init(World& world, const start_options& o, const hash_type& hash, arena& memory, instant now) noexcept {
    state& s = s_;
    if (o.ipv6_connections && !Policies::ipv6) return false;
    if (o.connections == 0 || o.connections > world.device.connections || o.next_hops > world.device.next_hops || o.holds == 0 ||
        o.associations > world.device.associations)
      return false;
    s.world = &world;
    s.hash = hash;
    s.values = initial_settings(world.device);
    const auto buckets = memory.take<hot_cell>(hot_table<typename state::atomics>::buckets_for(o.connections));
    s.removals = memory.take<u32>(o.connections);
    if (!s.table.init(memory, o.connections, o.ipv6_connections) || !s.hops.init(memory, o.next_hops) || buckets.empty() ||
        s.removals.empty() || !s.held_back.init(memory, o.holds) || !s.due.init(memory, o.connections))
      return false;
    if (o.associations != 0 && !s.protects.init(memory, o.associations, world.device.line_rate, o.far_side_fresh)) return false;
    s.hot.init(buckets);
    s.forget_from = o.connections;
    s.make_budget.refill(s.values[setting::make_per_sec]);
    s.poll.began = now;
    s.poll.next = now + from_ms(s.values[setting::poll_ms]);
    publish_switches();
    return true;
  }

  // --- receive path ---------------------------------------------------------------------------------------

  // A frame of Ethernet, behind its metadata. `ring` is below Policies::rings and one thread's.
  punt_result punt(u32 ring, const frame_view& in, const punt_metadata& from, instant now) noexcept {
    return punting::frame(s_, ring, in, from, now);
  }
  // A frame that the caller has parsed; `wire_length` in bytes.
  punt_result punt(u32 ring, const frame_facts& facts, u32 wire_length, const punt_metadata& from, instant now) noexcept {
    return punting::parsed(s_, ring, facts, wire_length, from, now);
  }

  // A frame behind its metadata, as the device hands it up.
  template <prefix_policy Prefix = recorded_prefix>
  punt_result punt_prefixed(u32 ring, const frame_view& in, instant now) noexcept {
    return punting::prefixed<Prefix>(s_, ring, in, now);
  }

  // --- the worker, under the pass lock ---------------------------------------------------------------------

  [[nodiscard]] step next(instant now) noexcept {
    state& s = s_;
    if (!s.commands.outstanding() && !choose(now)) return {step::kind::idle, 0, nullptr, idle_until()};
    if (s.lent) return wait(now);
    s.lent = true;
    return {step::kind::post, s.commands.tag(), &s.commands.current(), never};
  }

  // What the far side said. An answer to another tag than the outstanding one is counted and changes nothing.
  void answered(u64 tag, const answer& said, instant now) noexcept {
    state& s = s_;
    // The channel lends its command until the answer is taken.
    const late_command was = {s.commands.current().kind, s.commands.current().target,
                              s.commands.current().microflows[0].who.names_flow()};
    const bool late = s.doing == operation::none;
    const heard what = s.commands.answered(tag, said, now);
    publish_figures();
    if (what == heard::unknown_tag) return;
    tell_answer(was.kind, tag, said, now);
    if (late) return answered_late(was, said, now);
    switch (s.doing) {
      case operation::make: return making::answered(s, said, now);
      case operation::take_out: return removing::take_out_answered(s, said, now);
      case operation::release_hop: return removing::release_answered(s, was.target);
      case operation::discard: return removing::discard_answered(s, said, now);
      case operation::program: return programming::answered(s, said, now);
      case operation::probe: return giving_back::answered(s, said, now);
      case operation::stamps: return keeping::stamp_answered(s, said, now);
      case operation::associate: return associating::answered(s, said, now);
      case operation::none: return;
    }
  }

  // Pass lock. Out of range changes nothing. The falling edges are those of `setting_rows`.
  set_result set(setting which, u32 to, instant now) noexcept {
    state& s = s_;
    const bool was_enabled = s.values.on(setting::enable);
    const set_result r = s.values.set(which, to);
    if (r != set_result::ok) return r;
    if (which == setting::enable && was_enabled && to == 0) {
      owe_discard();
      s.poll.walking = false;
      s.run.doing = run_state::half::none;
      for (auto& round : s.refusals) round.clear();
    }
    if (which == setting::ipsec_flows) keeping::begin_round(s, s.moving);
    if (which == setting::enable && !was_enabled && to != 0) s.poll.began = now;
    s.poll.next = s.poll.began + from_ms(s.values[setting::poll_ms]);
    publish_switches();
    s.world->kick();  // the worker sleeps by the old values, perhaps for ever
    return r;
  }

  // --- notices, under the pass lock ---------------------------------------------------------------------------

  // Rules, routes or neighbours changed: every connection is asked about again, dirty_lookups a pass.
  void changed() noexcept {
    keeping::begin_round(s_, s_.dirty);
    s_.world->kick();
  }
  // States were killed or flushed: all that is held is asked for now, whatever sweep_lookups says.
  void states_gone() noexcept {
    keeping::ask_all(s_);
    s_.world->kick();
  }
  // The state of the connection with this tuple ended. False: it is not held.
  template <tuple_type Tuple>
  bool state_gone(const Tuple& t) noexcept {
    return take_away(t, reason::flow_expired);
  }

  // The far side restarted and knows nothing: all is forgotten, nothing is posted for it, no answer to what was out is taken.
  void far_side_reset(instant now) noexcept {
    state& s = s_;
    void_outstanding();
    s.gone = false;
    s.makes_barred = false;
    s.counters.add(pass_counter::far_side_resets);
    removing::forget_everything(s);
    s.protects.forget_all(now);
    s.to_associate = true;
    tell(s, event_kind::far_side_reset, now);
    s.world->kick();
  }
  // No answer will come: nothing is posted until it was reset.
  void far_side_gone(instant now) noexcept {
    void_outstanding();
    s_.gone = true;
    tell(s_, event_kind::far_side_gone, now);
  }

  // The kernel has an association, by a number of its own that is not 0; `encrypts`: what leaves. The far side is given it as soon
  // as its index was read. False: every index is in use, and what it protects stays with the host.
  bool association_added(u32 kernel, bool encrypts) noexcept {
    if (kernel == 0 || s_.protects.open(kernel, encrypts).revision == 0) return false;
    s_.to_associate = true;
    s_.world->kick();
    return true;
  }
  // It goes, and its connections move to `successor`, or are taken out where that is 0 or not installed. Only then is the far
  // side told to forget it. False: the far side was never given it.
  bool association_gone(u32 kernel, u32 successor) noexcept {
    const handle h = s_.protects.of_kernel(kernel);
    const handle next = successor == 0 ? handle{} : s_.protects.of_kernel(successor);
    if (!s_.protects.succeed(h, next) && !s_.protects.retire(h)) return false;
    keeping::begin_round(s_, s_.moving);
    s_.to_associate = true;
    s_.world->kick();
    return true;
  }

  // --- by hand, under the pass lock ----------------------------------------------------------------------------

  // Takes out the connection with this tuple; its frames may make it again after the next poll. False: it is not held.
  template <tuple_type Tuple>
  bool remove(const Tuple& t) noexcept {
    const bool is = take_away(t, reason::flow_removed);
    if (is) s_.counters.add(pass_counter::removed_by_hand);
    return is;
  }
  // Every connection one of whose ends, as frames arrive or leave, is that host's. False: an earlier wish is still under way.
  bool remove_host(family which, const address6& host) noexcept {
    if (s_.purge.left != 0) return false;
    s_.purge.left = s_.table.capacity();
    s_.purge.which = which;
    s_.purge.host = host;
    s_.world->kick();
    return true;
  }
  // No connection with this tuple is made until `let_in`; one that is held is taken out. False: no room for another tuple.
  template <tuple_type Tuple>
  bool keep_out(const Tuple& t) noexcept {
    if (!s_.kept_out.add(t)) return false;
    (void)remove(t);
    return true;
  }
  template <tuple_type Tuple>
  bool let_in(const Tuple& t) noexcept {
    return s_.kept_out.remove(t);
  }

  // Pass lock. The far side's flow table is to be emptied; what is outstanding is waited for. Not at enable 0: it was emptied
  // then, and not one command is posted.
  void request_discard() noexcept {
    if (!s_.values.on(setting::enable)) return;
    owe_discard();
    s_.world->kick();
  }

  // --- readers ----------------------------------------------------------------------------------------------

  // Pass lock.
  [[nodiscard]] const connections& table() const noexcept { return s_.table; }
  [[nodiscard]] const next_hops& hops() const noexcept { return s_.hops; }
  [[nodiscard]] const associations& protects() const noexcept { return s_.protects; }
  [[nodiscard]] const channel& commands() const noexcept { return s_.commands; }
  [[nodiscard]] const settings& values() const noexcept { return s_.values; }
  [[nodiscard]] bool discard_owed() const noexcept { return s_.discard_owed; }
  [[nodiscard]] const holds& held_back() const noexcept { return s_.held_back; }
  [[nodiscard]] const kept_out_tuples& kept_out() const noexcept { return s_.kept_out; }
  // How long a microflow may outlive its state at most, while the far side answers.
  [[nodiscard]] microseconds sweep_bound() const noexcept { return keeping::sweep_bound(s_); }
  // The first broken law of the engine's own tables and where; `law::none`: all hold. A walk over all of them.
  [[nodiscard]] reconciling::finding reconcile() const noexcept { return reconciling::first_broken(s_); }
  // Any thread.
  [[nodiscard]] const pass_counters<typename state::atomics>& counters() const noexcept { return s_.counters; }
  [[nodiscard]] u64 counted(ring_counter c) const noexcept { return sum([c](const auto& r) { return r.value(c); }); }
  [[nodiscard]] u64 counted(reason why) const noexcept {
    return is_frame_reason(why) ? sum([why](const auto& r) { return r.value(why); }) : s_.counters.value(why);
  }
  [[nodiscard]] const hot_table<typename state::atomics>& hot() const noexcept { return s_.hot; }
  [[nodiscard]] u32 hash_of(const auto& tuple) const noexcept { return s_.hash(tuple); }
  // Inside a critical section; takes slot words.
  template <tuple_type Tuple>
  [[nodiscard]] auto& candidates_for() noexcept {
    return s_.template candidates_for<Tuple>();
  }

 private:
  template <tuple_type Tuple>
  bool take_away(const Tuple& t, reason why) noexcept {
    // Not by the hot table: a direction that stays with the host is not in it.
    const found f = s_.table.find(t, s_.hash(t));
    if (!f.is || s_.table[f.index].state != record_state::held) return false;
    removing::owe(s_, f.index, why);
    s_.world->kick();
    return true;
  }

  void void_outstanding() noexcept {
    s_.commands.void_outstanding();
    s_.doing = operation::none;
    s_.lent = false;
  }

  using hot_cell = typename state::template cell<u8>;

  void owe_discard() noexcept {
    s_.discard_owed = true;
    s_.discard_from = {};
  }

  // The order at every boundary (system.md 6): an operation ends before another begins; then discard, removals, a due run's
  // held half and its makes, upkeep, the walk. True: a command is posted.
  [[nodiscard]] OCTEP_SELDOM bool choose(instant now) noexcept {
    state& s = s_;
    for (;;) {
      if (s.gone) return false;
      if (s.forget_from < s.table.capacity() && removing::forget_slice(s)) return false;
      if (removing::begin_discard(s, now)) return true;
      if (!s.values.on(setting::enable)) return false;
      if (removing::begin_take_out(s, now)) return true;
      if (run_is_due(now)) running::begin(s, now);
      if (running::go(s, now)) return true;
      if (s.owes_removal()) continue;
      if (waiting::go(s, now)) return true;
      if (removing::begin_release(s, now)) return true;
      switch (keeping::go(s, now)) {
        case keeping::did::posted: return true;
        case keeping::did::slice:
          if (s.owes_removal() || s.discard_owed) continue;
          if (!s.poll.walking || keeping::at_work(s)) return false;
          break;
        case keeping::did::nothing: break;
      }
      if (!s.poll.walking && s.poll.next <= now) {
        polling::begin(s, now);
        continue;  // what waited for a poll goes before its walk
      }
      if (!s.poll.walking) return false;
      if (polling::walk(s, now)) return true;
      if (s.owes_removal()) continue;
      if (s.poll.walking) return false;  // a slice of it is over
    }
  }

  [[nodiscard]] bool run_is_due(instant now) const noexcept {
    // Relaxed: `running::begin` takes the request with an exchange that orders what follows.
    return s_.run.doing == run_state::half::none && s_.values.on(setting::fast) && s_.kicked.load_relaxed() != 0 &&
           running::due_at(s_) <= now;
  }

  [[nodiscard]] instant idle_until() const noexcept {
    const state& s = s_;
    if (s.gone) return never;
    if (s.forget_from < s.table.capacity()) return {};  // the next slice, once the lock was free
    instant until = s.values.on(setting::enable) ? s.poll.next : never;
    if (s.discard_owed && s.discard_from < until) until = s.discard_from;
    if (!s.values.on(setting::enable)) return until;
    if (s.poll.walking || keeping::at_work(s)) return {};  // the next slice of those, too
    until = least(until, least(s.due.next(), s.held_back.next()));
    // Relaxed: a request that comes after this load calls `World::kick`.
    if (s.values.on(setting::fast) && s.kicked.load_relaxed() != 0 && running::due_at(s) < until) until = running::due_at(s);
    return until;
  }

  [[nodiscard]] step wait(instant now) noexcept {
    state& s = s_;
    if (s.commands.overdue(now, s.limit)) unanswered(now);
    // After its limit a command is looked for once a millisecond (system.md 12).
    const instant until = s.commands.late() ? now + from_ms(1) : s.commands.overdue_at(s.limit);
    return {step::kind::wait, s.commands.tag(), nullptr, until};
  }

  // Nothing else is posted until the far side answers, is reset, or is declared gone: the buffer is still its.
  void unanswered(instant now) noexcept {
    state& s = s_;
    publish_figures();
    event e;
    e.kind = event_kind::command_unanswered;
    e.what = s.commands.current().kind;
    e.at = now;
    e.tag = s.commands.tag();
    s.world->events(e);
    switch (s.doing) {
      case operation::make: return making::unanswered(s, now);
      case operation::take_out: return removing::take_out_unanswered(s);
      case operation::release_hop: s.hops.bar(s.releasing); break;
      case operation::program: return programming::unanswered(s);
      case operation::probe: return giving_back::unanswered(s);
      case operation::stamps: return keeping::stamp_unanswered(s);
      case operation::associate: return associating::unanswered(s);
      case operation::discard:
      case operation::none: break;
    }
    s.doing = operation::none;
  }

  struct late_command {
    command_kind kind;
    handle target;
    bool named_microflow;
  };

  // The far side speaks again: what was doomed meanwhile is taken out. A read of what is held says nothing any more.
  void audit(u32 index) noexcept {
    if (s_.table[index].state == record_state::doomed) removing::owe(s_, index, reason::flow_audited);
  }

  // The answer to a command whose operation ended unanswered.
  void answered_late(const late_command& was, const answer& said, instant now) noexcept {
    state& s = s_;
    s.counters.add(pass_counter::cmd_late);
    const bool done = said.code == answer_code::done;
    switch (was.kind) {
      case command_kind::next_hop_set: return done ? s.hops.programmed(was.target) : s.hops.refused(was.target);
      case command_kind::next_hop_release: return removing::release_answered(s, was.target);
      case command_kind::create:
        // A make that was refused left nothing; a revive that was refused left what was there.
        if (!done && was.named_microflow) return removing::free_record(s, was.target.index);
        return audit(was.target.index);
      case command_kind::deactivate:
      case command_kind::reclaim:
      case command_kind::program:
      case command_kind::read_entry: return audit(was.target.index);
      case command_kind::association_add:
      case command_kind::association_delete: return associating::answered_late(s, was.kind, was.target, said, now);
      case command_kind::association_read:
      case command_kind::read_microflow: return;
      case command_kind::discard: return removing::discard_answered(s, said, now);
      case command_kind::none:
      case command_kind::count_: return;
    }
  }

  void tell_answer(command_kind what, u64 tag, const answer& said, instant now) noexcept {
    event e;
    e.kind = event_kind::command_answered;
    e.what = what;
    e.code = said.code;
    e.at = now;
    e.tag = tag;
    s_.world->events(e);
  }

  // The channel's figures, where anybody may read them.
  void publish_figures() noexcept {
    const channel_figures& f = s_.commands.figures();
    auto& c = s_.counters;
    c.set(pass_counter::wait_last_us, f.wait_last_us);
    c.set(pass_counter::wait_max_us, f.wait_max_us);
    c.set(pass_counter::wait_sum_us, f.wait_sum_us);
    c.set(pass_counter::wait_n, f.wait_n);
    c.set(pass_counter::cmd_refused, f.cmd_refused);
    c.set(pass_counter::cmd_unanswered, f.cmd_unanswered);
    c.set(pass_counter::cmd_unknown_tag, f.cmd_unknown_tag);
  }

  void publish_switches() noexcept {
    const settings& v = s_.values;
    const bool runs = v.on(setting::enable) && v.on(setting::fast);
    const bool makes = runs && v.on(setting::fast_make) && v.on(setting::auto_make);
    // Relaxed: see its reader, `punting::write`.
    const u32 families = run_makes_on | (s_.makes_family(family::ipv6) ? run_makes6_on : 0);
    s_.receive_switches.store_relaxed((runs ? runs_on : 0) | (makes ? families : 0) |
                                      (v[setting::fast_make_log2] << due_log2_shift));
  }

  template <class F>
  [[nodiscard]] u64 sum(F&& of) const noexcept {
    u64 total = 0;
    for (const auto& ring : s_.rings) total += of(ring);
    return total;
  }

  state s_;
};

}  // namespace octep
