// The one C++ unit of the kernel module: the engine, instantiated once behind the C border of octep_abi.h.
//
// What it is: conversions between the border's structs and the core's values, and a World whose every part is a hook of the
// ops table. What it refuses: a kernel header, a lock, memory of its own. Calling context: octep_abi.h, function by function.
//
// Each conversion is a function of its own and is not inlined: a kernel stack is small, and every frame of this unit is held
// under 512 bytes on every build.

#include "octep_abi.h"

#include <octep/octep.hpp>

// Placement, for the one object that is constructed here. <new> is not there in a kernel.
inline void* operator new(octep::usize, void* at) noexcept { return at; }

namespace {

using namespace octep;

#define OCTEP_OUT_OF_LINE [[gnu::noinline]]

// --- values across the border -----------------------------------------------------------------------------

void to_wire(octep_u8* to, const address4& a) noexcept { store_le32(to, a); }
void to_wire(octep_u8* to, const address6& a) noexcept {
  for (u32 i = 0; i < 4; ++i) store_le32(to + 4 * i, a[i]);
}
void from_wire(const octep_u8* from, address4& a) noexcept { a = load_le32(from); }
void from_wire(const octep_u8* from, address6& a) noexcept {
  for (u32 i = 0; i < 4; ++i) a[i] = load_le32(from + 4 * i);
}

template <tuple_type Tuple>
OCTEP_OUT_OF_LINE void to_c(const Tuple& t, octep_tuple& out) noexcept {
  out = {};
  out.family = static_cast<u8>(Tuple::which);
  out.protocol = static_cast<u8>(t.proto);
  store_le16(out.source_port, t.source_word());
  store_le16(out.destination_port, t.destination_word());
  to_wire(out.source, t.source);
  to_wire(out.destination, t.destination);
}

template <tuple_type Tuple>
OCTEP_OUT_OF_LINE void from_c(const octep_tuple& in, Tuple& t) noexcept {
  t.proto = static_cast<protocol>(in.protocol);
  t.ports = join_ports(load_le16(in.source_port), load_le16(in.destination_port));
  from_wire(in.source, t.source);
  from_wire(in.destination, t.destination);
}

template <tuple_type Tuple>
void from_c(const octep_end& in, endpoint<Tuple>& e) noexcept {
  from_wire(in.address, e.address);
  e.word = load_le16(in.word);
}

// A number that the C half may have got wrong is brought into its enumeration's range: the least settled, the unknown.
[[nodiscard]] timer_class timer_of(u8 v) noexcept {
  return v == OCTEP_TIMER_SETTLED ? timer_class::settled : v == OCTEP_TIMER_CLOSING ? timer_class::closing : timer_class::opening;
}
[[nodiscard]] peer_state peer_of(u8 v) noexcept {
  return v == OCTEP_PEER_ESTABLISHED ? peer_state::established : v == OCTEP_PEER_HEARD ? peer_state::heard : peer_state::silent;
}
[[nodiscard]] reason reason_of(u8 v, reason otherwise) noexcept {
  return v < reason_count ? static_cast<reason>(v) : otherwise;
}

template <tuple_type Tuple>
OCTEP_OUT_OF_LINE void from_c(const octep_state& in, firewall_answer<Tuple>& out) noexcept {
  out.found = in.found != 0;
  out.proto = static_cast<protocol>(in.protocol);
  from_c(in.opener, out.opener);
  from_c(in.responder_seen, out.responder_seen);
  from_c(in.opener_translated, out.opener_translated);
  from_c(in.responder, out.responder);
  for (u32 i = 0; i < 2; ++i) {
    out.states[i] = {in.state_id[i]};
    out.route[i] = {in.route[i]};
  }
  out.timer = timer_of(in.timer);
  out.opener_peer = peer_of(in.opener_peer);
  out.responder_peer = peer_of(in.responder_peer);
  out.age = {in.age_us};
  out.remaining = {in.remaining_us};
  out.verdict = reason_of(in.verdict, reason::flow_nostate);
}

OCTEP_SELDOM void to_c(const command& in, octep_command& out) noexcept {
  out = {};
  out.kind = static_cast<u8>(in.kind);
  out.family = static_cast<u8>(in.block.which);
  out.protocol = static_cast<u8>(in.block.proto);
  out.track_tcp = in.block.track_tcp;
  out.translates = in.block.translates;
  out.direction = in.direction;
  out.index = in.target.index;
  out.revision = in.target.revision;
  out.kernel = in.kernel;
  out.encrypts = in.encrypts;
  out.hop.port = in.hop.port;
  out.hop.vlan = in.hop.vlan;
  out.hop.mtu = in.hop.mtu;
  for (u32 i = 0; i < OCTEP_MAC_BYTES; ++i) {
    out.hop.source_mac[i] = in.hop.source_mac[i];
    out.hop.destination_mac[i] = in.hop.destination_mac[i];
  }
  for (u32 d = 0; d < 2; ++d) {
    const microflow& flow = in.microflows[d];
    octep_microflow& to = out.microflows[d];
    to.flow_word = flow.who.word;
    to.where = {flow.where.port, flow.where.vlan};
    to.next_hop = flow.next_hop.index;
    to.next_hop_revision = flow.next_hop.revision;
    to.association = flow.association.index;
    to.association_revision = flow.association.revision;
    store_le16(to.source_port, static_cast<u16>(flow.to.ports >> 16));
    store_le16(to.destination_port, static_cast<u16>(flow.to.ports));
    to_wire(to.source, flow.to.source);
    to_wire(to.destination, flow.to.destination);
  }
}

// --- the world --------------------------------------------------------------------------------------------

struct c_firewall {
  const octep_ops* ops;

  template <tuple_type Tuple>
  OCTEP_OUT_OF_LINE void ask(const Tuple& t, instant now, firewall_answer<Tuple>& out) noexcept {
    octep_tuple asked;
    octep_state said{};
    to_c(t, asked);
    ops->find_state(ops->context, &asked, now.us, &said);
    from_c(said, out);
  }
  firewall_answer<tuple4> find(const tuple4& t, instant now) noexcept {
    firewall_answer<tuple4> out;
    ask(t, now, out);
    return out;
  }
  firewall_answer<tuple6> find(const tuple6& t, instant now) noexcept {
    firewall_answer<tuple6> out;
    ask(t, now, out);
    return out;
  }
  bool alive(const array<state_id, 2>& ids, instant now) noexcept {
    const octep_u64 of[2] = {ids[0].value, ids[1].value};
    return ops->states_alive(ops->context, of, now.us) != 0;
  }
  microseconds remaining(const array<state_id, 2>& ids, instant now) noexcept {
    const octep_u64 of[2] = {ids[0].value, ids[1].value};
    return {ops->states_remaining(ops->context, of, now.us)};
  }
  void restamp(const array<state_id, 2>& ids, instant now) noexcept {
    const octep_u64 of[2] = {ids[0].value, ids[1].value};
    ops->restamp_states(ops->context, of, now.us);
  }
  void relax(const array<state_id, 2>& ids, instant now) noexcept {
    const octep_u64 of[2] = {ids[0].value, ids[1].value};
    ops->relax_states(ops->context, of, now.us);
  }
};

struct c_next_hops {
  const octep_ops* ops;

  template <tuple_type Tuple>
  OCTEP_SELDOM next_hop_answer ask(const next_hop_question<Tuple>& q) noexcept {
    octep_hop_question asked{};
    octep_hop said{};
    asked.family = static_cast<u8>(Tuple::which);
    asked.route = q.route.handle;
    asked.from = {q.from.port, q.from.vlan};
    asked.other = {q.other.port, q.other.vlan};
    to_wire(asked.destination, q.destination);
    to_wire(asked.source, q.source);
    next_hop_answer out;
    out.why = reason_of(ops->resolve(ops->context, &asked, &said), reason::flow_nonhop_no_route);
    out.hop.port = said.port;
    out.hop.vlan = said.vlan;
    out.hop.mtu = said.mtu;
    for (u32 i = 0; i < OCTEP_MAC_BYTES; ++i) {
      out.hop.source_mac[i] = said.source_mac[i];
      out.hop.destination_mac[i] = said.destination_mac[i];
    }
    out.association = said.association;
    return out;
  }
  next_hop_answer resolve(const next_hop_question<tuple4>& q) noexcept { return ask(q); }
  next_hop_answer resolve(const next_hop_question<tuple6>& q) noexcept { return ask(q); }
};

struct c_associations {
  const octep_ops* ops;
  void pass_over(u32 kernel, u64 numbers) noexcept { ops->pass_over(ops->context, kernel, numbers); }
  void account(u32 kernel, const association_traffic& more) noexcept {
    ops->account(ops->context, kernel, more.packets, more.bytes);
  }
};

struct c_guard {
  const octep_ops* ops;
  void enter() noexcept { ops->section_enter(ops->context); }
  void leave() noexcept { ops->section_leave(ops->context); }
};

struct c_events {
  const octep_ops* ops;
  OCTEP_OUT_OF_LINE void operator()(const event& e) noexcept {
    octep_event out{};
    out.kind = static_cast<u8>(e.kind);
    out.by = static_cast<u8>(e.by);
    out.why = static_cast<u8>(e.why);
    out.command = static_cast<u8>(e.what);
    out.refused = e.code == answer_code::refused;
    out.direction = e.direction;
    out.names_tuple = e.names_tuple;
    out.at_us = e.at.us;
    out.until_us = e.until.us;
    out.tag = e.tag;
    out.connection = e.connection.index;
    out.revision = e.connection.revision;
    out.count = e.count;
    if (e.names_tuple && e.which == family::ipv4) to_c(e.v4, out.tuple);
    if (e.names_tuple && e.which == family::ipv6) to_c(e.v6, out.tuple);
    ops->event(ops->context, &out);
  }
};

struct c_world {
  c_firewall firewall;
  c_next_hops next_hops;
  c_associations associations;
  c_guard guard;
  c_events events;
  device_facts device;
  const octep_ops* ops;

  void kick() noexcept { ops->kick(ops->context); }
};

// The default design on the recorded devices, which forward no IPv6.
struct kernel_policies {
  static constexpr limits geometry = default_policies::geometry;
  using atomics = default_policies::atomics;
  using hash = default_policies::hash;
  using choice = default_policies::choice;
  using tags = default_policies::tags;
  using refusals = default_policies::refusals;
  using make_budget = default_policies::make_budget;
  static constexpr u32 rings = default_policies::rings;
  static constexpr walk_counts walk_budget = default_policies::walk_budget;
  static constexpr bool walk_resumes = default_policies::walk_resumes;
  static constexpr bool walk_end_clears_marks = default_policies::walk_end_clears_marks;
  static constexpr u32 walk_slice = default_policies::walk_slice;
  static constexpr full_table room = default_policies::room;
  static constexpr bool ipv6 = false;
};
using kernel_engine = engine<c_world, kernel_policies>;
constexpr u32 recorded_places = limits{}.places;
static_assert(OCTEP_RINGS == default_policies::rings);

[[nodiscard]] const device_facts* device_of(u32 number) noexcept {
  return number == OCTEP_XGS3300 ? &xgs3300 : number == OCTEP_XGS136 ? &xgs136 : nullptr;
}

[[nodiscard]] start_options options_of(const octep_options& o) noexcept {
  start_options start;
  start.connections = o.connections;
  start.next_hops = o.next_hops;
  start.ipv6_connections = o.ipv6_connections != 0;
  start.associations = o.associations;
  return start;
}

[[nodiscard]] bool whole(const octep_ops& o) noexcept {
  return o.size == sizeof(octep_ops) && o.kick != nullptr && o.section_enter != nullptr && o.section_leave != nullptr &&
         o.find_state != nullptr && o.states_alive != nullptr && o.relax_states != nullptr &&
         o.states_remaining != nullptr && o.restamp_states != nullptr && o.resolve != nullptr &&
         o.pass_over != nullptr && o.account != nullptr && o.event != nullptr;
}

[[nodiscard]] bool aligned(const void* p) noexcept {
  return p != nullptr && reinterpret_cast<usize>(p) % arena::alignment == 0;
}

OCTEP_SELDOM u32 choose(const octep_slot_image& in, const octep_tuple& t, tick now) noexcept {
  slot_image<tuple4, recorded_places, oldest_goes::ranks> slot;
  u32 glance = 0;
  tuple4 tuple;
  for (u32 i = 0; i < recorded_places; ++i) {
    const octep_place_image& place = in.place[i];
    if (place.state == OCTEP_PLACE_EMPTY) continue;
    from_c(place.tuple, tuple);
    // What was written is not counted here, and every tag is alike: only the place matters.
    const packed_arrival frame{arrival{identity::make(1, 0), {}, {}, false, {place.tick_ms}}};
    (void)slot.admit(i, tuple, 0, frame, 31, glance);
    if (place.state == OCTEP_PLACE_READ) slot.mark_read(i, glance);
  }
  from_c(t, tuple);
  return choose_in<oldest_goes>(slot, glance, tuple, 0, now).place;
}

}  // namespace

struct octep_core {
  c_world world;
  kernel_engine engine;
};

extern "C" {

octep_u64 octep_core_bytes(void) noexcept { return sizeof(octep_core); }

OCTEP_SELDOM octep_u64 octep_arena_bytes(const octep_options* o) noexcept { return kernel_engine::bytes_for(options_of(*o)); }

OCTEP_SELDOM int octep_create(void* block, octep_u64 block_bytes, void* memory, octep_u64 memory_bytes,
                              const octep_options* o, const octep_ops* ops, octep_u64 now_us, octep_core** out) noexcept {
  if (o->version != OCTEP_ABI_VERSION) return OCTEP_BAD_VERSION;
  if (!whole(*ops)) return OCTEP_BAD_OPS;
  const device_facts* const device = device_of(o->device);
  if (device == nullptr || o->ipv6_connections != 0 || o->connections == 0 || o->connections > device->connections ||
      o->next_hops == 0 || o->next_hops > device->next_hops || o->associations > device->associations)
    return OCTEP_BAD_OPTION;
  if (!aligned(block) || block_bytes < sizeof(octep_core)) return OCTEP_NO_ROOM;
  if (!aligned(memory) || memory_bytes < kernel_engine::bytes_for(options_of(*o))) return OCTEP_NO_ROOM;
  auto* const core = new (block) octep_core{{{ops}, {ops}, {ops}, {ops}, {ops}, *device, ops}, {}};
  arena from{memory, memory_bytes};
  if (!core->engine.init(core->world, options_of(*o), keyed_mix{o->hash_seed}, from, {now_us})) return OCTEP_NO_ROOM;
  *out = core;
  return OCTEP_OK;
}

octep_u8 octep_punt(octep_core* core, octep_u32 ring, const octep_u8* frame, octep_u32 contiguous, octep_u32 wire_length,
                    const octep_metadata* from, octep_u64 now_us) noexcept {
  const punt_metadata named{{from->flow_word}, from->port, {from->association_word}};
  return static_cast<u8>(
      core->engine.punt(ring % default_policies::rings, {frame, contiguous, wire_length}, named, {now_us}).why);
}

octep_u8 octep_punt_prefixed(octep_core* core, octep_u32 ring, const octep_u8* bytes, octep_u32 contiguous,
                             octep_u32 wire_length, octep_u64 now_us) noexcept {
  return static_cast<u8>(
      core->engine.punt_prefixed(ring % default_policies::rings, {bytes, contiguous, wire_length}, {now_us}).why);
}

OCTEP_SELDOM void octep_next(octep_core* core, octep_u64 now_us, octep_step* out) noexcept {
  const step s = core->engine.next({now_us});
  *out = {};
  out->kind = s.what == step::kind::post ? OCTEP_POST : s.what == step::kind::wait ? OCTEP_WAIT : OCTEP_IDLE;
  out->tag = s.tag;
  out->until_us = s.until.us;
  if (s.what == step::kind::post) to_c(*s.post, out->command);
}

OCTEP_SELDOM void octep_answered(octep_core* core, octep_u64 tag, const octep_answer* said, octep_u64 now_us) noexcept {
  answer a;
  a.code = said->refused != 0 ? answer_code::refused : answer_code::done;
  // Unknown is not gone: a record is freed only when its entry is not valid.
  a.entry = said->entry == OCTEP_ENTRY_RECLAIMED ? entry_state::reclaimed
            : said->entry == OCTEP_ENTRY_PENDING ? entry_state::pending
                                                 : entry_state::valid;
  a.entry_revision = said->entry_revision;
  a.identical = said->identical;
  a.lives = said->lives != 0;
  a.stamp = said->stamp;
  a.traffic = {said->packets, said->bytes};
  core->engine.answered(tag, a, {now_us});
}

OCTEP_SELDOM int octep_set(octep_core* core, octep_u32 number, octep_u32 value, octep_u64 now_us) noexcept {
  if (number >= setting_count) return OCTEP_NO_SUCH;
  switch (core->engine.set(static_cast<setting>(number), value, {now_us})) {
    case set_result::below: return OCTEP_BELOW;
    case set_result::above: return OCTEP_ABOVE;
    case set_result::ok: break;
  }
  return OCTEP_OK;
}

OCTEP_SELDOM octep_u32 octep_get(const octep_core* core, octep_u32 number) noexcept {
  return number < setting_count ? core->engine.values()[static_cast<setting>(number)] : 0;
}

OCTEP_SELDOM void octep_request_discard(octep_core* core) noexcept { core->engine.request_discard(); }

OCTEP_SELDOM void octep_changed(octep_core* core) noexcept { core->engine.changed(); }
OCTEP_SELDOM void octep_states_gone(octep_core* core) noexcept { core->engine.states_gone(); }
OCTEP_SELDOM void octep_far_side_reset(octep_core* core, octep_u64 now_us) noexcept { core->engine.far_side_reset({now_us}); }
OCTEP_SELDOM void octep_far_side_gone(octep_core* core, octep_u64 now_us) noexcept { core->engine.far_side_gone({now_us}); }

OCTEP_SELDOM int octep_association_added(octep_core* core, octep_u32 kernel, octep_u32 encrypts) noexcept {
  return core->engine.association_added(kernel, encrypts != 0) ? OCTEP_OK : OCTEP_NO_ROOM;
}
OCTEP_SELDOM int octep_association_gone(octep_core* core, octep_u32 kernel, octep_u32 successor) noexcept {
  return core->engine.association_gone(kernel, successor) ? OCTEP_OK : OCTEP_NO_SUCH;
}

// IPv6 connections are none of this unit's: no tuple of theirs is held or made.
OCTEP_SELDOM int octep_state_gone(octep_core* core, const octep_tuple* t) noexcept {
  tuple4 tuple;
  from_c(*t, tuple);
  return t->family == OCTEP_IPV4 && core->engine.state_gone(tuple) ? OCTEP_OK : OCTEP_NO_SUCH;
}
OCTEP_SELDOM int octep_remove(octep_core* core, const octep_tuple* t) noexcept {
  tuple4 tuple;
  from_c(*t, tuple);
  return t->family == OCTEP_IPV4 && core->engine.remove(tuple) ? OCTEP_OK : OCTEP_NO_SUCH;
}
OCTEP_SELDOM int octep_remove_host(octep_core* core, octep_u32 number, const octep_u8* address) noexcept {
  if (number != OCTEP_IPV4) return OCTEP_NO_SUCH;
  return core->engine.remove_host(family::ipv4, {load_le32(address), 0, 0, 0}) ? OCTEP_OK : OCTEP_NO_ROOM;
}
OCTEP_SELDOM int octep_keep_out(octep_core* core, const octep_tuple* t) noexcept {
  tuple4 tuple;
  from_c(*t, tuple);
  if (t->family != OCTEP_IPV4) return OCTEP_NO_SUCH;
  return core->engine.keep_out(tuple) ? OCTEP_OK : OCTEP_NO_ROOM;
}
OCTEP_SELDOM int octep_let_in(octep_core* core, const octep_tuple* t) noexcept {
  tuple4 tuple;
  from_c(*t, tuple);
  return t->family == OCTEP_IPV4 && core->engine.let_in(tuple) ? OCTEP_OK : OCTEP_NO_SUCH;
}

OCTEP_SELDOM octep_u32 octep_held(const octep_core* core) noexcept { return core->engine.table().held(); }

OCTEP_SELDOM int octep_setting(octep_u32 number, octep_setting_text* out) noexcept {
  if (number >= setting_count) return OCTEP_NO_SUCH;
  const setting_row& r = row(static_cast<setting>(number));
  *out = {r.name, r.unit, r.meaning, r.falling_edge, r.least, r.most, r.initial, 0};
  return OCTEP_OK;
}

// Counters are numbered through: rings, passes, reasons.
OCTEP_SELDOM int octep_counter(octep_u32 number, octep_counter_text* out) noexcept {
  counter_text t{};
  if (number < ring_counter_count)
    t = text(static_cast<ring_counter>(number));
  else if (number < ring_counter_count + pass_counter_count)
    t = text(static_cast<pass_counter>(number - ring_counter_count));
  else if (number + 1 < ring_counter_count + pass_counter_count + reason_count)
    t = text(static_cast<reason>(number + 1 - ring_counter_count - pass_counter_count));  // `none` is nobody's
  else
    return OCTEP_NO_SUCH;
  *out = {t.name, t.unit, t.moved_by};
  return OCTEP_OK;
}

OCTEP_SELDOM octep_u64 octep_counter_value(const octep_core* core, octep_u32 number) noexcept {
  usize at = number;
  if (at < ring_counter_count) return core->engine.counted(static_cast<ring_counter>(at));
  at -= ring_counter_count;
  if (at < pass_counter_count) return core->engine.counters().value(static_cast<pass_counter>(at));
  at -= pass_counter_count;
  return at + 1 < reason_count ? core->engine.counted(static_cast<reason>(at + 1)) : 0;
}

OCTEP_SELDOM int octep_reason(octep_u32 number, octep_reason_text* out) noexcept {
  if (number >= reason_count) return OCTEP_NO_SUCH;
  const reason_row& r = row(static_cast<reason>(number));
  *out = {r.name, r.sentence, r.change};
  return OCTEP_OK;
}

OCTEP_SELDOM octep_u32 octep_places(void) noexcept { return recorded_places; }

OCTEP_SELDOM octep_u32 octep_choose(const octep_slot_image* slot, const octep_tuple* t, octep_u32 now_ms) noexcept {
  return t->family == OCTEP_IPV4 ? choose(*slot, *t, {now_ms}) : OCTEP_PLACES_MAX;
}

}  // extern "C"
