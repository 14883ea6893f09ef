// The engine of a device with as many connections as one likes, its worker, and a clock that is turned by hand.
//
// The firewall knows every tuple but strangers', whatever it is asked costs nothing, and so do the routes: what is measured is
// the engine. The far side does what it is told and takes 25 us for it (coprocessor.md), in virtual time.
#pragma once

#include <octep/octep.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <sys/resource.h>

namespace octep::bench {

// Memory from outside, given back by itself.
class block {
 public:
  explicit block(usize bytes) : bytes_{bytes}, at_{::operator new(bytes, align)} {}
  ~block() { ::operator delete(at_, align); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  [[nodiscard]] arena cut() const { return {at_, bytes_}; }

 private:
  static constexpr std::align_val_t align{arena::alignment};
  usize bytes_;
  void* at_;
};

// Whether somebody else had this processor during a call that took so long. Shorter than any turn of a scheduler's is not
// asked about, so a call is not slowed by the question.
class interruptions {
 public:
  [[nodiscard]] bool during(double us) {
    constexpr double shorter_than_a_turn = 20;
    if (us < shorter_than_a_turn) return false;
    const long before = seen_;
    seen_ = now();
    return seen_ != before;
  }

 private:
  [[nodiscard]] static long now() {
    rusage u{};
    (void)getrusage(RUSAGE_THREAD, &u);
    return u.ru_nivcsw;
  }
  long seen_ = now();
};

// Wall-clock durations of many calls, in microseconds, without those that another program interrupted.
class durations {
 public:
  // False: it was interrupted.
  bool add(double us) {
    if (interruptions_.during(us)) return false;
    keep(us);
    return true;
  }
  // What somebody else has asked about.
  void keep(double us) { all_.push_back(static_cast<float>(us)); }
  void clear() { all_.clear(); }
  [[nodiscard]] usize size() const { return all_.size(); }
  [[nodiscard]] double longest() const { return all_.empty() ? 0 : *std::max_element(all_.begin(), all_.end()); }
  // What that share of the calls does not exceed.
  [[nodiscard]] double part(double share) {
    if (all_.empty()) return 0;
    const auto at = all_.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all_.size() - 1));
    std::nth_element(all_.begin(), at, all_.end());
    return *at;
  }

 private:
  std::vector<float> all_;
  interruptions interruptions_;
};

template <class F>
double microseconds_of(F&& call) {
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  call();
  return std::chrono::duration<double, std::micro>(clock::now() - began).count();
}

inline constexpr u32 lasting_state = 1;
inline constexpr u32 brief_state = 2;  // is gone before its connection is made

struct scale_world {
  struct {
    u32 state = lasting_state;  // of whatever is asked about
    // Sources below 128 in the first byte are hosts that it has a state for; the others are strangers.
    firewall_answer<tuple4> find(const tuple4& t, instant) const noexcept {
      firewall_answer<tuple4> a;
      if (((t.source | t.destination) & 0x80) != 0) return a;
      a.found = true;
      a.proto = t.proto;
      a.opener = a.opener_translated = {t.source, t.source_word()};
      a.responder = a.responder_seen = {t.destination, t.destination_word()};
      a.states = {state_id{state}, state_id{}};
      a.timer = timer_class::settled;
      a.opener_peer = a.responder_peer = peer_state::established;
      a.age = a.remaining = from_s(86'400);
      return a;
    }
    firewall_answer<tuple6> find(const tuple6&, instant) const noexcept { return {}; }
    bool alive(const array<state_id, 2>& ids, instant) const noexcept { return ids[0].value != brief_state; }
    microseconds remaining(const array<state_id, 2>&, instant) const noexcept { return from_s(86'400); }
    void restamp(const array<state_id, 2>&, instant) noexcept {}
    void relax(const array<state_id, 2>&, instant) const noexcept {}
  } firewall;
  struct {
    next_hop_answer resolve(const next_hop_question<tuple4>& q) const noexcept {
      next_hop_answer a;
      a.why = reason::none;
      a.hop = {q.other.port, 0, 1'500, {{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
      return a;
    }
    next_hop_answer resolve(const next_hop_question<tuple6>&) const noexcept { return {}; }
  } next_hops;
  no_associations associations;
  struct {
    void enter() const noexcept {}
    void leave() const noexcept {}
  } guard;
  struct {
    void operator()(const event&) const noexcept {}
  } events;
  device_facts device = xgs3300;
  bool kicked = false;
  void kick() noexcept { kicked = true; }
};

class engine_at_scale {
 public:
  using engine_type = engine<scale_world>;
  static constexpr microseconds command_time{25};

  explicit engine_at_scale(u32 capacity)
      : options_{.connections = capacity, .next_hops = xgs3300.next_hops, .ipv6_connections = false},
        memory_{engine_type::bytes_for(options_)},
        core_{std::make_unique<engine_type>()},
        random_{capacity},
        entries_(capacity) {
    world_.device.connections = capacity;
    arena from = memory_.cut();
    if (!core_->init(world_, options_, keyed_mix{keyed_mix::fixed_seed}, from, now_))
      std::abort();
    // Nobody's defaults: the channel is to be the limit of a fill, not what a poll may spend.
    set(setting::poll_ms, 10);
    set(setting::poll_commands, 1'024);
  }

  [[nodiscard]] static usize bytes(u32 capacity) {
    return engine_type::bytes_for({.connections = capacity, .next_hops = xgs3300.next_hops, .ipv6_connections = false});
  }

  engine_type* operator->() { return core_.get(); }
  scale_world& world() { return world_; }
  [[nodiscard]] instant now() const { return now_; }
  void pass(microseconds t) { now_ = now_ + t; }
  void set(setting which, u32 to) {
    if (core_->set(which, to, now_) != set_result::ok) std::abort();
  }
  [[nodiscard]] u64 count(pass_counter c) const { return core_->counters().value(c); }

  // What `next` took, those calls of it in which a run began, and `answered`, since `measure` was last called.
  durations steps;
  durations runs;
  durations answers;
  void measure() {
    steps.clear();
    runs.clear();
    answers.clear();
  }

  [[nodiscard]] tuple4 host_flow() {
    return tuple4::make(word() & ~0x80U, word() & ~0x80U, word(), protocol::tcp);
  }
  [[nodiscard]] tuple4 stranger() { return tuple4::make(word() | 0x80U, word() & ~0x80U, word(), protocol::udp); }

  void punt(const tuple4& t, u16 port = 1) {
    frame_facts f{};
    f.which = family::ipv4;
    f.v4 = t;
    (void)core_->punt(0, f, 100, {identity::make(port, 1), port, {}}, now_);
  }

  // The worker, until it would sleep beyond `until`. Time stands still but for commands.
  void work(instant until) {
    for (;;) {
      step s;
      const u64 runs_before = count(pass_counter::fast_runs);
      const double took = microseconds_of([&] { s = core_->next(now_); });
      if (steps.add(took) && count(pass_counter::fast_runs) != runs_before) runs.keep(took);
      if (s.what == step::kind::post) {
        now_ = now_ + command_time;
        const answer said = carry_out(*s.post);
        (void)answers.add(microseconds_of([&] { core_->answered(s.tag, said, now_); }));
        continue;
      }
      if (s.what == step::kind::idle && until < s.until) return;
      if (now_ < s.until) now_ = s.until;
    }
  }
  void work() { work(now_); }
  void poll() {
    now_ = now_ + from_ms(core_->values()[setting::poll_ms]);
    work();
  }

  // Connections of fresh flows until `held` are.
  void fill(u32 held) {
    while (core_->table().held() < held) {
      const u32 n = std::min(256U, held - core_->table().held());
      for (u32 i = 0; i < n; ++i) {
        const tuple4 t = host_flow();
        punt(t, 1);
        punt(reverse(t), 2);
      }
      poll();
    }
  }

  // The opening tuple of a held connection.
  [[nodiscard]] tuple4 held_tuple() {
    for (;;) {
      const u32 index = word() % options_.connections;
      if (core_->table()[index].state == record_state::held) return core_->table().tuples_of<tuple4>(index)[0];
    }
  }
  [[nodiscard]] u32 word() { return static_cast<u32>(random_()); }

 private:
  // What the far side does and says; its table holds revisions, 0 for none.
  [[nodiscard]] answer carry_out(const command& c) {
    answer said;
    if (c.kind == command_kind::create) entries_[c.target.index] = c.target.revision;
    if (c.kind == command_kind::reclaim) entries_[c.target.index] = 0;
    if (c.kind == command_kind::discard) std::fill(entries_.begin(), entries_.end(), u16{0});
    if (c.kind == command_kind::read_entry && entries_[c.target.index] != 0) {
      said.entry = entry_state::valid;
      said.entry_revision = entries_[c.target.index];
    }
    return said;
  }

  start_options options_;
  scale_world world_;
  block memory_;
  instant now_{1'000'000};
  std::unique_ptr<engine_type> core_;
  std::mt19937_64 random_;
  std::vector<u16> entries_;  // by index
};

}  // namespace octep::bench
