// The kernel's object, linked into a host program and driven through the C border.

#include "glue/freebsd/octep_abi.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "test/choice_model.hpp"

namespace {

// --- golden layout: what both halves were compiled against -----------------------------------------------------

static_assert(sizeof(octep_tuple) == 40 && alignof(octep_tuple) == 1);
static_assert(sizeof(octep_metadata) == 16);
static_assert(sizeof(octep_end) == 24);
static_assert(sizeof(octep_state) == 8 + 4 * 24 + 2 * 8 + 2 * 4 + 2 * 8);
static_assert(sizeof(octep_hop) == 24);
static_assert(sizeof(octep_hop_question) == 48);
static_assert(sizeof(octep_microflow) == 56);
static_assert(sizeof(octep_command) == 24 + 24 + 2 * 56);
static_assert(sizeof(octep_answer) == 32);
static_assert(sizeof(octep_step) == 24 + sizeof(octep_command));
static_assert(sizeof(octep_event) == 48 + sizeof(octep_tuple));
static_assert(sizeof(octep_ops) == 14 * 8);
static_assert(sizeof(octep_options) == 32);
static_assert(offsetof(octep_step, command) == 24);
static_assert(offsetof(octep_state, opener) == 8);

// --- a host that is a C program in spirit ------------------------------------------------------------------

struct host {
  int kicks = 0;
  int depth = 0;
  int deepest = 0;
  int asked = 0;
  int relaxed = 0;
  octep_u8 no_hop = 0;
  bool alive = true;
  octep_state state{};
  octep_u32 tunnel = 0;  // the kernel's number of what encrypts the opener's direction
  std::map<octep_u32, octep_u64> sequence;
  std::map<octep_u32, octep_u64> accounted;
  std::vector<octep_event> events;

  static host& of(void* context) { return *static_cast<host*>(context); }
};

octep_ops ops_of(host& h) {
  octep_ops ops{};
  ops.size = sizeof ops;
  ops.context = &h;
  ops.kick = [](void* c) { ++host::of(c).kicks; };
  ops.section_enter = [](void* c) { host::of(c).deepest = std::max(host::of(c).deepest, ++host::of(c).depth); };
  ops.section_leave = [](void* c) { --host::of(c).depth; };
  ops.find_state = [](void* c, const octep_tuple*, octep_u64, octep_state* out) {
    ++host::of(c).asked;
    *out = host::of(c).state;
  };
  ops.states_alive = [](void* c, const octep_u64*, octep_u64) { return host::of(c).alive ? 1 : 0; };
  ops.relax_states = [](void* c, const octep_u64* ids, octep_u64) { host::of(c).relaxed += ids[0] != 0; };
  ops.states_remaining = [](void* c, const octep_u64*, octep_u64) -> octep_u64 { return host::of(c).alive ? 86'400'000'000 : 0; };
  ops.restamp_states = [](void*, const octep_u64*, octep_u64) {};
  ops.resolve = [](void* c, const octep_hop_question* q, octep_hop* hop) {
    hop->port = q->other.port;
    hop->mtu = 1500;
    hop->association = q->destination[0] == 198 ? host::of(c).tunnel : 0;
    return host::of(c).no_hop;
  };
  ops.pass_over = [](void* c, octep_u32 kernel, octep_u64 numbers) { host::of(c).sequence[kernel] += numbers; };
  ops.account = [](void* c, octep_u32 kernel, octep_u64 packets, octep_u64) { host::of(c).accounted[kernel] += packets; };
  ops.event = [](void* c, const octep_event* e) { host::of(c).events.push_back(*e); };
  return ops;
}

struct free_aligned {
  void operator()(void* p) const { std::free(p); }
};
using block = std::unique_ptr<void, free_aligned>;
block aligned(octep_u64 bytes) { return block{std::aligned_alloc(64, (bytes + 63) / 64 * 64)}; }

class border : public ::testing::Test {
 protected:
  void SetUp() override {
    options.version = OCTEP_ABI_VERSION;
    options.device = OCTEP_XGS3300;
    options.connections = 1'022;
    options.next_hops = 254;
    options.associations = 4;
    options.hash_seed = 42;
    ops = ops_of(h);
    object = aligned(octep_core_bytes());
    arena = aligned(octep_arena_bytes(&options));
  }
  int create() {
    return octep_create(object.get(), octep_core_bytes(), arena.get(), octep_arena_bytes(&options), &options, &ops, now,
                        &core);
  }

  // A TCP connection 192.168.1.10:40000 -> 198.51.100.7:443 behind 203.0.113.1:61000.
  void know_the_state() {
    auto end = [](octep_end& e, std::initializer_list<octep_u8> address, octep_u16 port) {
      std::copy(address.begin(), address.end(), e.address);
      e.word[0] = static_cast<octep_u8>(port >> 8);
      e.word[1] = static_cast<octep_u8>(port);
    };
    h.state.found = 1;
    h.state.protocol = 6;
    h.state.timer = OCTEP_TIMER_SETTLED;
    h.state.opener_peer = h.state.responder_peer = OCTEP_PEER_ESTABLISHED;
    end(h.state.opener, {192, 168, 1, 10}, 40'000);
    end(h.state.opener_translated, {203, 0, 113, 1}, 61'000);
    end(h.state.responder, {198, 51, 100, 7}, 443);
    h.state.responder_seen = h.state.responder;
    h.state.state_id[0] = 7;
    h.state.age_us = 5'000'000;
  }
  // Minimal Ethernet, IPv4 and TCP, built byte by byte: a kernel's frame, not a model's.
  octep_u8 punt(bool from_opener, octep_u32 id, octep_u8 flags = 0x10, bool prefixed = false) {
    std::vector<octep_u8> f(prefixed ? 82 : 0);
    const octep_u8 ethernet[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
    f.insert(f.end(), std::begin(ethernet), std::end(ethernet));
    octep_u8 ip[40] = {0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6};
    const octep_u8 a[] = {192, 168, 1, 10}, b[] = {198, 51, 100, 7}, nat[] = {203, 0, 113, 1};
    std::memcpy(ip + 12, from_opener ? a : b, 4);
    std::memcpy(ip + 16, from_opener ? b : nat, 4);
    const octep_u16 ports[] = {static_cast<octep_u16>(from_opener ? 40'000 : 443),
                               static_cast<octep_u16>(from_opener ? 443 : 61'000)};
    ip[20] = static_cast<octep_u8>(ports[0] >> 8), ip[21] = static_cast<octep_u8>(ports[0]);
    ip[22] = static_cast<octep_u8>(ports[1] >> 8), ip[23] = static_cast<octep_u8>(ports[1]);
    ip[32] = 0x50, ip[33] = flags;
    f.insert(f.end(), ip, ip + 40);
    const octep_u32 word = (octep_u32{1} << 31) | id;
    const octep_u16 port = from_opener ? 1 : 2;
    if (prefixed) {
      f[7] = static_cast<octep_u8>(f.size() - 82);
      f[8] = 0x80, f[9] = 0x03;
      f[18 + 5] = 1;  // valid
      f[18 + 6] = static_cast<octep_u8>(port);
      std::memcpy(&f[18 + 8], &word, 4);
      return octep_punt_prefixed(core, 0, f.data(), static_cast<octep_u32>(f.size()), static_cast<octep_u32>(f.size()), now);
    }
    const octep_metadata from{word, 0, port, {}};
    return octep_punt(core, 0, f.data(), static_cast<octep_u32>(f.size()), static_cast<octep_u32>(f.size()), &from, now);
  }
  octep_u64 counter(const std::string& name) {
    octep_counter_text t{};
    for (octep_u32 i = 0; octep_counter(i, &t) == OCTEP_OK; ++i)
      if (name == t.name) return octep_counter_value(core, i);
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }

  host h;
  octep_options options{};
  octep_ops ops{};
  block object, arena;
  octep_core* core = nullptr;
  octep_u64 now = 1'000'000;
};

TEST_F(border, refuses_what_does_not_fit_by_its_own_code) {
  options.version = OCTEP_ABI_VERSION + 1;
  EXPECT_EQ(create(), OCTEP_BAD_VERSION);
  options.version = OCTEP_ABI_VERSION;
  ops.size -= 8;
  EXPECT_EQ(create(), OCTEP_BAD_OPS);
  ops = ops_of(h);
  ops.resolve = nullptr;
  EXPECT_EQ(create(), OCTEP_BAD_OPS);
  ops = ops_of(h);
  options.connections = 1'023;
  EXPECT_EQ(create(), OCTEP_BAD_OPTION);
  options.connections = 0;
  EXPECT_EQ(create(), OCTEP_BAD_OPTION);
  options.connections = 1'022;
  options.device = 9;
  EXPECT_EQ(create(), OCTEP_BAD_OPTION);
  options.device = OCTEP_XGS136;
  EXPECT_EQ(octep_create(object.get(), octep_core_bytes() - 1, arena.get(), octep_arena_bytes(&options), &options, &ops, now,
                         &core),
            OCTEP_NO_ROOM);
  EXPECT_EQ(octep_create(object.get(), octep_core_bytes(), arena.get(), octep_arena_bytes(&options) - 1, &options, &ops, now,
                         &core),
            OCTEP_NO_ROOM);
  EXPECT_EQ(octep_create(static_cast<char*>(object.get()) + 1, octep_core_bytes(), arena.get(), octep_arena_bytes(&options),
                         &options, &ops, now, &core),
            OCTEP_NO_ROOM);
  EXPECT_EQ(core, nullptr);
  EXPECT_EQ(create(), OCTEP_OK);
}

// Unknown is not gone: the record would be freed under a connection that forwards.
TEST_F(border, keeps_a_connection_whose_entry_reads_as_nothing_it_knows) {
  ASSERT_EQ(create(), OCTEP_OK);
  know_the_state();
  for (int i = 0; i < 16; ++i) {
    (void)punt(true, 100);
    (void)punt(false, 101);
  }
  octep_step s{};
  octep_u16 revision = 0;
  bool read = false;
  for (octep_next(core, now, &s); s.kind == OCTEP_POST; octep_next(core, now, &s)) {
    octep_answer a{};
    if (s.command.kind == OCTEP_COMMAND_CREATE) {
      revision = s.command.revision;
      (void)punt(true, 100, 0x11);
    }
    a.refused = s.command.kind == OCTEP_COMMAND_DEACTIVATE;
    if (s.command.kind == OCTEP_COMMAND_READ_ENTRY) {
      read = true;
      a.entry = 77;
      a.entry_revision = revision;
    }
    octep_answered(core, s.tag, &a, now);
  }
  EXPECT_TRUE(read);
  EXPECT_EQ(octep_held(core), 1U);
}

// From the kernel's association to a microflow that names it, and back to the kernel's counters.
TEST_F(border, keeps_an_association_in_step_with_the_kernels) {
  ASSERT_EQ(create(), OCTEP_OK);
  ASSERT_EQ(octep_association_gone(core, 7, 0), OCTEP_NO_SUCH);
  ASSERT_EQ(octep_association_added(core, 7, 1), OCTEP_OK);
  know_the_state();
  octep_setting_text t{};
  for (octep_u32 i = 0; octep_setting(i, &t) == OCTEP_OK; ++i)
    if (std::string{t.name} == "ipsec_flows") ASSERT_EQ(octep_set(core, i, 2, now), OCTEP_OK);
  h.tunnel = 7;
  for (int i = 0; i < 16; ++i) {
    (void)punt(true, 100);
    (void)punt(false, 101);
  }
  std::vector<octep_command> posted;
  octep_u64 packets = 5'000;
  const auto run = [&] {
    octep_step s{};
    for (;;) {
      octep_next(core, now, &s);
      if (s.kind == OCTEP_IDLE && s.until_us <= now) continue;  // a slice of its work is over
      if (s.kind != OCTEP_POST) break;
      posted.push_back(s.command);
      octep_answer a{};
      if (s.command.kind == OCTEP_COMMAND_ASSOCIATION_READ) {
        a.packets = packets;
        a.bytes = packets * 1'000;
      }
      octep_answered(core, s.tag, &a, now += 25);
    }
  };
  run();
  now += 1'000'000;  // what met no association is the poll's
  (void)punt(true, 100);
  (void)punt(false, 101);
  run();
  ASSERT_EQ(octep_held(core), 1U);
  const auto first = [&](octep_u8 kind) {
    for (const octep_command& c : posted)
      if (c.kind == kind) return c;
    return octep_command{};
  };
  EXPECT_EQ(first(OCTEP_COMMAND_ASSOCIATION_ADD).kernel, 7U);
  EXPECT_EQ(first(OCTEP_COMMAND_ASSOCIATION_ADD).encrypts, 1);
  const octep_command made = first(OCTEP_COMMAND_CREATE);
  EXPECT_EQ(made.microflows[0].association, first(OCTEP_COMMAND_ASSOCIATION_ADD).index + 1);
  EXPECT_EQ(made.microflows[0].association_revision, first(OCTEP_COMMAND_ASSOCIATION_ADD).revision);
  EXPECT_EQ(made.microflows[1].association_revision, 0);
  EXPECT_EQ(h.sequence[7], 1'048'576U) << "put forward before the create";

  packets += 300;
  now += 1'000'000;
  run();
  EXPECT_EQ(h.sequence[7], 1'048'576U + 300);
  EXPECT_EQ(h.accounted[7], 300U);

  ASSERT_EQ(octep_association_gone(core, 7, 0), OCTEP_OK);
  posted.clear();
  run();
  EXPECT_EQ(octep_held(core), 0U) << "out before its association";
  EXPECT_EQ(first(OCTEP_COMMAND_ASSOCIATION_DELETE).kernel, 7U);
  EXPECT_GT(first(OCTEP_COMMAND_ASSOCIATION_DELETE).revision, 0);
}

TEST_F(border, makes_a_translated_connection_from_punted_frames) {
  ASSERT_EQ(create(), OCTEP_OK);
  know_the_state();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(punt(true, 100), 0);
    EXPECT_EQ(punt(false, 101, 0x10, true), 0) << "the same by the frame's own metadata";
  }
  EXPECT_EQ(h.kicks, 1);
  std::vector<octep_command> posted;
  octep_step s{};
  for (octep_next(core, now, &s); s.kind == OCTEP_POST; octep_next(core, now, &s)) {
    posted.push_back(s.command);
    octep_step again{};
    octep_next(core, now, &again);
    EXPECT_EQ(again.kind, OCTEP_WAIT);
    EXPECT_EQ(again.tag, s.tag);
    const octep_answer done{};
    octep_answered(core, s.tag, &done, now += 25);
  }
  EXPECT_EQ(s.kind, OCTEP_IDLE);
  EXPECT_EQ(s.until_us, 2'000'000U);
  ASSERT_EQ(posted.size(), 3U);
  EXPECT_EQ(posted[0].kind, OCTEP_COMMAND_NEXT_HOP_SET);
  const octep_command& create = posted[2];
  EXPECT_EQ(create.kind, OCTEP_COMMAND_CREATE);
  EXPECT_EQ(create.protocol, 6);
  EXPECT_EQ(create.track_tcp, 1);
  EXPECT_EQ(create.translates, 1);
  EXPECT_EQ(create.microflows[0].flow_word & 0x1ff'ffffU, 100U);
  EXPECT_EQ(create.microflows[1].flow_word & 0x1ff'ffffU, 101U);
  EXPECT_EQ(create.microflows[0].source[0], 203) << "as it leaves, in wire order";
  EXPECT_EQ(create.microflows[0].source_port[0] * 256 + create.microflows[0].source_port[1], 61'000);
  EXPECT_EQ(create.microflows[1].destination[3], 10);
  EXPECT_EQ(create.microflows[1].destination_port[0] * 256 + create.microflows[1].destination_port[1], 40'000);
  EXPECT_EQ(octep_held(core), 1U);
  EXPECT_EQ(h.relaxed, 1);
  EXPECT_EQ(h.depth, 0);
  EXPECT_GE(h.deepest, 1);
  EXPECT_EQ(counter("fast_made"), 1U);
  EXPECT_EQ(counter("frames"), 32U);
  EXPECT_EQ(counter("cand_pushed"), 32U);
  bool told = false;
  for (const octep_event& e : h.events) told = told || (e.kind == 5 && e.names_tuple == 1 && e.tuple.source[3] == 10);
  EXPECT_TRUE(told) << "an event names the connection it made";
}

TEST_F(border, says_why_a_frame_left_no_candidate) {
  ASSERT_EQ(create(), OCTEP_OK);
  const octep_u8 stub[] = {2, 0, 0, 0, 0, 1};
  const octep_metadata from{(octep_u32{1} << 31) | 5, 0, 1, {}};
  const octep_u8 why = octep_punt(core, 3, stub, sizeof stub, sizeof stub, &from, now);
  octep_reason_text t{};
  ASSERT_EQ(octep_reason(why, &t), OCTEP_OK);
  EXPECT_STREQ(t.name, "truncated");
  EXPECT_EQ(counter("truncated"), 1U);
  EXPECT_EQ(octep_punt_prefixed(core, 3, stub, sizeof stub, sizeof stub, now), why);
}

TEST_F(border, does_not_trust_numbers_out_of_their_range) {
  ASSERT_EQ(create(), OCTEP_OK);
  know_the_state();
  h.state.timer = h.state.opener_peer = 200;
  h.state.verdict = 250;
  (void)punt(true, 100);
  (void)punt(false, 101);
  octep_step s{};
  octep_next(core, now = 2'000'000, &s);
  EXPECT_EQ(s.kind, OCTEP_IDLE);
  EXPECT_EQ(octep_held(core), 0U);
  h.state.verdict = 0;
  (void)punt(true, 100);
  octep_next(core, now = 3'000'000, &s);
  EXPECT_GE(counter("flow_unsettled_opening"), 1U);
  EXPECT_EQ(octep_set(core, 9'999, 1, now), OCTEP_NO_SUCH);
  EXPECT_EQ(octep_get(core, 9'999), 0U);
  EXPECT_EQ(octep_counter_value(core, 9'999), 0U);
}

TEST_F(border, has_settings_counters_and_reasons_by_number_each_name_once) {
  ASSERT_EQ(create(), OCTEP_OK);
  std::set<std::string> names;
  octep_setting_text setting{};
  for (octep_u32 i = 0; octep_setting(i, &setting) == OCTEP_OK; ++i) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_EQ(octep_get(core, i), setting.initial) << setting.name;
    EXPECT_EQ(octep_set(core, i, setting.most, now), OCTEP_OK);
    EXPECT_EQ(octep_set(core, i, setting.least, now), OCTEP_OK);
    if (setting.most != ~octep_u32{0}) {
      EXPECT_EQ(octep_set(core, i, setting.most + 1, now), OCTEP_ABOVE);
    }
    if (setting.least != 0) {
      EXPECT_EQ(octep_set(core, i, setting.least - 1, now), OCTEP_BELOW);
    }
  }
  EXPECT_GE(names.size(), 16U);
  std::set<std::string> counters;
  octep_counter_text counter{};
  for (octep_u32 i = 0; octep_counter(i, &counter) == OCTEP_OK; ++i)
    EXPECT_TRUE(counters.insert(counter.name).second) << counter.name;
  EXPECT_TRUE(counters.contains("cand_clash"));
  EXPECT_TRUE(counters.contains("flow_wait_other"));
}

TEST_F(border, carries_what_operators_and_the_kernel_tell) {
  ASSERT_EQ(create(), OCTEP_OK);
  know_the_state();
  const auto settle = [&] {
    std::vector<int> kinds;
    octep_step s{};
    for (octep_next(core, now, &s); s.kind == OCTEP_POST || s.until_us <= now; octep_next(core, now, &s)) {
      if (s.kind != OCTEP_POST) continue;
      kinds.push_back(s.command.kind);
      const octep_answer done{};
      octep_answered(core, s.tag, &done, now += 25);
    }
    return kinds;
  };
  const auto make = [&] {
    now += 2'000'000;
    (void)settle();
    for (int i = 0; i < 16; ++i) (void)punt(true, 100), (void)punt(false, 101);
    (void)settle();
    return octep_held(core);
  };
  const std::vector<int> take_out{OCTEP_COMMAND_DEACTIVATE, OCTEP_COMMAND_DEACTIVATE, OCTEP_COMMAND_RECLAIM,
                                  OCTEP_COMMAND_NEXT_HOP_RELEASE, OCTEP_COMMAND_NEXT_HOP_RELEASE};
  octep_tuple t{};
  t.protocol = 6;
  const octep_u8 a[] = {192, 168, 1, 10}, b[] = {198, 51, 100, 7};
  std::copy(a, a + 4, t.source);
  std::copy(b, b + 4, t.destination);
  t.source_port[0] = 40'000 >> 8, t.source_port[1] = 40'000 & 0xff;
  t.destination_port[0] = 443 >> 8, t.destination_port[1] = 443 & 0xff;
  octep_tuple v6 = t;
  v6.family = OCTEP_IPV6;

  EXPECT_EQ(octep_remove(core, &t), OCTEP_NO_SUCH) << "nothing is held yet";
  ASSERT_EQ(make(), 1U);
  EXPECT_EQ(octep_remove(core, &v6), OCTEP_NO_SUCH);
  EXPECT_EQ(octep_remove(core, &t), OCTEP_OK);
  EXPECT_EQ(settle(), take_out);
  ASSERT_EQ(make(), 1U);
  EXPECT_EQ(octep_state_gone(core, &t), OCTEP_OK);
  EXPECT_EQ(settle(), take_out);
  ASSERT_EQ(make(), 1U);
  octep_u8 host[OCTEP_ADDRESS_BYTES] = {203, 0, 113, 1};
  EXPECT_EQ(octep_remove_host(core, OCTEP_IPV6, host), OCTEP_NO_SUCH);
  EXPECT_EQ(octep_remove_host(core, OCTEP_IPV4, host), OCTEP_OK);
  EXPECT_EQ(octep_remove_host(core, OCTEP_IPV4, host), OCTEP_NO_ROOM) << "one at a time";
  EXPECT_EQ(settle(), take_out) << "the address it is translated to is an end of it";
  ASSERT_EQ(make(), 1U);
  EXPECT_EQ(octep_keep_out(core, &t), OCTEP_OK);
  EXPECT_EQ(settle(), take_out);
  EXPECT_EQ(make(), 0U);
  EXPECT_GE(counter("flow_kept_out"), 1U);
  EXPECT_EQ(octep_let_in(core, &t), OCTEP_OK);
  EXPECT_EQ(octep_let_in(core, &t), OCTEP_NO_SUCH);
  ASSERT_EQ(make(), 1U);
  h.alive = false;
  octep_states_gone(core);
  EXPECT_EQ(settle(), take_out);
  h.alive = true;
  ASSERT_EQ(make(), 1U);
  h.state.verdict = 0;
  h.state.opener_translated.word[1] ^= 1;
  octep_changed(core);
  EXPECT_EQ(settle(), take_out) << "it is translated otherwise now";
  h.state.opener_translated.word[1] ^= 1;
  ASSERT_EQ(make(), 1U);
  octep_far_side_reset(core, now);
  EXPECT_EQ(settle(), std::vector<int>{});
  EXPECT_EQ(octep_held(core), 0U);
  ASSERT_EQ(make(), 1U);
  octep_far_side_gone(core, now);
  EXPECT_EQ(octep_remove(core, &t), OCTEP_OK);
  octep_step s{};
  octep_next(core, now += 10'000'000, &s);
  EXPECT_EQ(s.kind, OCTEP_IDLE);
  EXPECT_EQ(s.until_us, OCTEP_NEVER);
}

TEST_F(border, switches_off_by_one_discard_and_then_silence) {
  ASSERT_EQ(create(), OCTEP_OK);
  ASSERT_EQ(octep_set(core, 0, 0, now), OCTEP_OK);
  octep_step s{};
  octep_next(core, now, &s);
  ASSERT_EQ(s.kind, OCTEP_POST);
  EXPECT_EQ(s.command.kind, OCTEP_COMMAND_DISCARD);
  const octep_answer done{};
  octep_answered(core, s.tag, &done, now);
  // What is held is forgotten in slices, between which `until` is past.
  do octep_next(core, now + 10'000'000, &s);
  while (s.kind == OCTEP_IDLE && s.until_us <= now);
  EXPECT_EQ(s.kind, OCTEP_IDLE);
  EXPECT_EQ(s.until_us, OCTEP_NEVER);
}

// --- the choice of a place, by the object's own code ---------------------------------------------------------

octep_tuple tuple_number(unsigned n, octep_u8 family) {
  octep_tuple t{};
  t.family = family;
  t.protocol = 17;
  t.source[0] = 10;
  t.source[3] = static_cast<octep_u8>(n);
  t.destination[0] = 192;
  t.source_port[0] = static_cast<octep_u8>(n * 7);
  t.destination_port[1] = 53;
  return t;
}

TEST(kernel_object, chooses_the_place_of_all_19200_cases_as_the_rule_reads) {
  using namespace octep::test;
  ASSERT_EQ(octep_places(), static_cast<octep_u32>(choice_places));
  unsigned long long tried = 0;
  unsigned long long wrong = 0;
  for (const choice_clock& clock : choice_clocks()) {
    const auto cases = for_each_choice_case(clock.base_ms, clock.step_ms, clock.now_after_ms, [&](const choice_case& c) {
      octep_slot_image slot{};
      slot.places = choice_places;
      for (unsigned i = 0; i < choice_places; ++i) {
        octep_place_image& place = slot.place[i];
        place.state = c.place[i] == place_is::empty ? OCTEP_PLACE_EMPTY
                      : c.place[i] == place_is::another_unread ? OCTEP_PLACE_UNREAD
                                                               : OCTEP_PLACE_READ;
        place.tick_ms = static_cast<octep_u32>(c.written_ms[i]);
        place.tuple = tuple_number(c.place[i] == place_is::this_tuple ? 200 : 1 + i, OCTEP_IPV4);
      }
      const octep_tuple asked = tuple_number(200, OCTEP_IPV4);
      wrong += octep_choose(&slot, &asked, static_cast<octep_u32>(c.now_ms)) != static_cast<octep_u32>(place_by_rule(c));
    });
    ASSERT_EQ(cases, 19'200U);
    tried += cases;
  }
  EXPECT_EQ(wrong, 0U);
  std::printf("the kernel's object: %llu choices, %zu clocks x 19,200 cases\n", tried, choice_clocks().size());
}

TEST(kernel_object, chooses_no_place_for_a_family_that_it_makes_nothing_of) {
  octep_slot_image slot{};
  slot.places = octep_places();
  const octep_tuple six = tuple_number(200, OCTEP_IPV6);
  EXPECT_EQ(octep_choose(&slot, &six, 0), OCTEP_PLACES_MAX);
}

}  // namespace
