#include "sim/fast_path.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/crc32c.hpp"

namespace octep::sim {

namespace {

u32 ring_of(const wide_tuple& t) { return crc32c(t) % punt_rings; }
static_assert(punt_rings <= 256);

u64 scatter(ingress where, const wide_tuple& tuple) { return sim::scatter(sim::scatter(tuple), where.word()); }

}  // namespace

fast_path::fast_path(const fast_path_options& options)
    : options_{options},
      random_{options.seed, 1},
      look_phase_us_{random_.below(microflow_look_every.count)},
      wire_queue_{options.wire_frame_ns, options.queue_room},
      kn_queue_{options.kn_frame_ns, options.queue_room},
      entries_(options.connections),
      tracked_(options.connections),
      hops_(options.next_hops),
      engine_{options.associations} {}

// --- frames -----------------------------------------------------------------------------------------------

verdict fast_path::arrive(const wire_frame& frame, instant now) {
  verdict v;
  arrive(v, frame, now);
  return v;
}

void fast_path::arrive(verdict& v, const wire_frame& frame, instant now) {
  advance(now);
  counters_.add(device_counter::rx_wire);
  if (!frame.is_flow) return punt(v, device_counter::kn_no_flow, 0, now);

  microflow_record* const m = look_up_or_create(frame.where, frame.tuple, now);
  if (m == nullptr) return punt(v, device_counter::kn_no_microflow, ring_of(frame.tuple), now);
  m->view.last_frame = now;
  v.who = m->view.who;
  v.has_microflow = true;

  const device_counter why = usable(*m);
  switch (why) {
    case device_counter::from_wire_to_wire: break;
    case device_counter::kn_conn_reclaim_pending:
    case device_counter::kn_fw_rev_mismatch:
      // Its own first such frame condemns it; nothing refreshes or lengthens that.
      if (m->terminal_at == never) {
        m->terminal_at = now + microflow_terminal;
        m->view.condemned = true;
        watch(*m);
      }
      return punt(v, why, m->view.ring, now);
    default: return punt(v, why, m->view.ring, now);
  }
  if (frame.ttl <= 1) return punt(v, device_counter::kn_ttl, m->view.ring, now);
  if (frame.ip_bytes > hops_[m->view.next_hop.index].hop.mtu) return punt(v, device_counter::kn_mtu, m->view.ring, now);
  if (const device_counter gives_back = track(*m, frame); gives_back != device_counter::from_wire_to_wire)
    return punt(v, gives_back, m->view.ring, now);
  forward(v, *m, frame, now);
}

// from_wire_to_wire, or why a frame of this microflow is punted.
device_counter fast_path::usable(const microflow_record& m) const {
  if (!m.view.active) return device_counter::kn_mflow_not_active;
  const entry_view& e = entries_[m.view.connection.index];
  if (e.revision != m.view.connection.revision) return device_counter::kn_fw_rev_mismatch;
  if (e.state != entry_state::valid) return device_counter::kn_conn_reclaim_pending;
  if (hop(m.view.next_hop) == nullptr) return device_counter::kn_next_hop_mismatch;
  return device_counter::from_wire_to_wire;
}

// from_wire_to_wire, or why this frame gives its connection back. It is punted itself, but met a usable entry: its microflow is
// condemned by the next one.
device_counter fast_path::track(const microflow_record& m, const wire_frame& frame) {
  entry_view& e = entries_[m.view.connection.index];
  if (!options_.gives_back.on() || !e.block.track_tcp) return device_counter::from_wire_to_wire;
  const auto found =
      tracked_[m.view.connection.index].meet(options_.gives_back, m.view.direction, frame.tcp, e.identical);
  if (found == tcp_finding::goes_on) return device_counter::from_wire_to_wire;
  e.state = entry_state::pending;
  return found == tcp_finding::repeats ? device_counter::kn_tcp_max_retrans : device_counter::kn_tcp_flags;
}

void fast_path::punt(verdict& v, device_counter why, u32 ring, instant now) {
  const std::optional<instant> done = kn_queue_.join(now);
  v.is = done ? verdict::what::punted : verdict::what::dropped;
  v.why = done ? why : device_counter::drop_kn_overrun;
  v.done = done.value_or(now);
  v.ring = ring;
  counters_.add(v.why);
  move_queues(now);
}

void fast_path::forward(verdict& v, microflow_record& m, const wire_frame& frame, instant now) {
  const entry_view& e = entries_[m.view.connection.index];
  v.connection = m.view.connection;
  v.hop = hops_[m.view.next_hop.index].hop;
  v.leaves = frame.tuple;
  if (e.block.translates) {
    v.leaves.source = m.view.to.source;
    v.leaves.destination = m.view.to.destination;
    v.leaves.ports = m.view.to.ports;
  }
  if (m.view.association.revision != 0) {
    v.association = {m.view.association.index - 1, m.view.association.revision};
    const std::optional<u32> number = engine_.encrypt(v.association, frame.bytes, now);
    if (!number) {
      v.is = verdict::what::dropped;
      v.why = device_counter::drop_ipsec;
      counters_.add(v.why);
      return;
    }
    v.number = *number;
  }
  m.view.stamp = now;

  const std::optional<instant> done = wire_queue_.join(now);
  v.is = done ? verdict::what::forwarded : verdict::what::dropped;
  const auto way = v.association.revision != 0 ? device_counter::from_wire_to_ipsec_encr : device_counter::from_wire_to_wire;
  v.why = done ? way : device_counter::drop_wire_overrun;
  v.done = done.value_or(now);
  counters_.add(v.why);
  move_queues(now);
}

std::optional<instant> fast_path::host_sends(instant now) {
  advance(now);
  const std::optional<instant> done = wire_queue_.join(now);
  counters_.add(done ? device_counter::from_kn : device_counter::drop_host_overrun);
  move_queues(now);
  return done;
}

// --- microflows and their ends ----------------------------------------------------------------------------

u32 fast_path::place_of(ingress where, const wide_tuple& tuple) const {
  return by_key_.find(scatter(where, tuple), [&](u32 place) {
    const microflow_view& m = records_[place].view;
    return m.tuple == tuple && m.where == where;
  });
}

fast_path::microflow_record* fast_path::look_up_or_create(ingress where, const wide_tuple& tuple, instant now) {
  if (const u32 place = place_of(where, tuple); place != place_index::nowhere) return &records_[place];

  // The ids that were never used stand in front of the free list, so taking them first keeps it first in, first out.
  u32 id = 0;
  if (ids_.size() < options_.microflows) {
    ids_.emplace_back();
    id = static_cast<u32>(ids_.size());
  } else if (!free_.empty()) {
    id = free_.front();
    free_.pop_front();
  } else {
    return nullptr;
  }
  id_record& kept = ids_[id - 1];
  kept.place = records_.take();
  kept.revision = static_cast<u8>((kept.revision + 1U) & identity::revision_mask);
  microflow_record& m = records_[kept.place];
  m.patience = {random_.between(microflow_silence_least.count, microflow_silence_most.count)};
  m.terminal_at = never;
  m.queued_for = never;
  m.view = {};
  m.view.tuple = tuple;
  m.view.where = where;
  m.view.who = identity::make(id, kept.revision);
  m.view.ring = static_cast<u8>(ring_of(tuple));
  m.view.last_frame = now;
  by_key_.insert(scatter(where, tuple), kept.place);
  watch(m);
  return &m;
}

instant fast_path::due(const microflow_record& m) const noexcept {
  const instant silent = m.view.active ? never : look_at_or_after(m.view.last_frame + m.patience);
  return least(silent, m.terminal_at);
}

instant fast_path::look_at_or_after(instant t) const noexcept {
  const u64 every = microflow_look_every.count;
  const u64 past = (t.us + every - look_phase_us_) % every;
  return past == 0 ? t : instant{t.us + every - past};
}

// Sees to it that `advance` meets the microflow no later than its end.
void fast_path::watch(microflow_record& m) {
  const instant end = due(m);
  if (!(end < m.queued_for)) return;
  m.queued_for = end;
  deadlines_.push({end, m.view.who.id()});
}

void fast_path::bury_the_silent(instant now) {
  while (!deadlines_.empty() && deadlines_.top().at <= now) {
    const deadline d = deadlines_.top();
    deadlines_.pop();
    const u32 place = ids_[d.id - 1].place;
    if (place == place_index::nowhere || !(records_[place].queued_for == d.at)) continue;
    microflow_record& m = records_[place];
    m.queued_for = never;
    if (due(m) <= now) {
      bury(m);
    } else {
      watch(m);
    }
  }
}

void fast_path::bury(microflow_record& m) {
  id_record& kept = ids_[m.view.who.id() - 1];
  by_key_.erase(scatter(m.view.where, m.view.tuple), kept.place);
  records_.give_back(kept.place);
  kept.place = place_index::nowhere;
  free_.push_back(m.view.who.id());
}

void fast_path::bury_all() {
  for (const id_record& id : ids_)
    if (id.place != place_index::nowhere) bury(records_[id.place]);
  deadlines_ = {};
}

void fast_path::restart(instant now) {
  advance(now);
  by_key_.clear();
  records_.clear();
  ids_.clear();  // with the revisions: the first identities come again
  free_.clear();
  deadlines_ = {};
  entries_.assign(entries_.size(), {});
  hops_.assign(hops_.size(), {});
  engine_.restart();
}

// --- commands ---------------------------------------------------------------------------------------------

answer fast_path::execute(const command& what, instant now) {
  advance(now);
  answer a;
  switch (what.kind) {
    case command_kind::next_hop_set:
      if (what.target.index >= hops_.size()) {
        a.code = answer_code::refused;
      } else {
        hops_[what.target.index] = {true, what.target.revision, what.hop};
      }
      break;
    case command_kind::next_hop_release: a.code = release(what.target); break;
    case command_kind::create: a.code = create(what); break;
    case command_kind::program: a.code = program(what); break;
    case command_kind::deactivate: a.code = deactivate(what.microflows[0].who); break;
    case command_kind::read_microflow: read_microflow(what.microflows[0].who, a); break;
    case command_kind::reclaim: a.code = reclaim(what.target); break;
    case command_kind::read_entry:
      if (what.target.index >= entries_.size()) {
        a.code = answer_code::refused;
      } else {
        const entry_view& e = entries_[what.target.index];
        a.entry = e.state;
        a.entry_revision = e.revision;
        a.identical = e.identical;
      }
      break;
    case command_kind::discard:
      bury_all();
      for (entry_view& e : entries_) e.state = entry_state::reclaimed;
      break;
    case command_kind::association_add:
      a.code = engine_.install(what.target, number_of_ ? static_cast<u32>(number_of_(what.kernel)) : 0);
      break;
    case command_kind::association_delete: a.code = engine_.remove(what.target); break;
    case command_kind::association_read: read_association(what.target.index, now, a); break;
    default: a.code = answer_code::refused; break;
  }
  return a;
}

bool fast_path::in_range(identity who) const noexcept { return who.names_flow() && who.id() <= options_.microflows; }

fast_path::microflow_record* fast_path::named(identity who) {
  const u32 place = in_range(who) && who.id() <= ids_.size() ? ids_[who.id() - 1].place : place_index::nowhere;
  return place != place_index::nowhere && records_[place].view.who == who ? &records_[place] : nullptr;
}

answer_code fast_path::create(const command& what) {
  const handle at = what.block.connection;
  if (at.index >= entries_.size()) return answer_code::refused;
  // Whatever is there: the far side tests neither state nor revision, which is what makes a revive one command.
  entries_[at.index] = {entry_state::valid, at.revision, 0, what.block};
  tracked_[at.index] = {};
  for (u8 direction = 0; direction < 2; ++direction) {
    const microflow& told = what.microflows[direction];
    if (told.who.word == 0) continue;
    if (!in_range(told.who)) return answer_code::refused;
    // Where nobody has that name the answer says nothing of it.
    if (microflow_record* const m = named(told.who)) point(*m, at, direction, told);
  }
  return answer_code::done;
}

// A terminal timer that runs goes on: no command lengthens it.
void fast_path::point(microflow_record& m, handle connection, u8 direction, const microflow& told) {
  m.view.active = true;
  m.view.connection = connection;
  m.view.direction = direction;
  m.view.next_hop = told.next_hop;
  m.view.to = told.to;
  m.view.association = told.association;
}

answer_code fast_path::program(const command& what) {
  const microflow& told = what.microflows[0];
  if (!in_range(told.who) || what.target.index >= entries_.size() || what.direction > 1) return answer_code::refused;
  if (microflow_record* const m = named(told.who)) point(*m, what.target, what.direction, told);
  return answer_code::done;
}

void fast_path::read_microflow(identity who, answer& a) {
  if (!in_range(who)) {
    a.code = answer_code::refused;
  } else if (const microflow_record* const m = named(who)) {
    a.lives = true;
    a.stamp = m->view.stamp_word();
  }
}

answer_code fast_path::deactivate(identity who) {
  if (!in_range(who)) return answer_code::refused;
  if (microflow_record* const m = named(who)) {
    m->view.active = false;
    watch(*m);
  }
  return answer_code::done;
}

answer_code fast_path::reclaim(handle connection) {
  if (connection.index >= entries_.size()) return answer_code::refused;
  entry_view& e = entries_[connection.index];
  if (e.state == entry_state::reclaimed || e.revision != connection.revision) return answer_code::refused;
  e.state = entry_state::reclaimed;
  return answer_code::done;
}

answer_code fast_path::release(handle next_hop) {
  if (hop(next_hop) == nullptr) return answer_code::refused;
  hops_[next_hop.index].set = false;
  return answer_code::done;
}

void fast_path::read_association(u32 index, instant now, answer& a) {
  const std::optional<protected_traffic> read = engine_.read(index, now);
  if (!read) a.code = answer_code::refused;
  else a.traffic = {read->packets, read->bytes};
}

bool fast_path::give_back(u32 index, u8 identical) {
  entry_view& e = entries_.at(index);
  if (e.state != entry_state::valid) return false;
  e.state = entry_state::pending;
  e.identical = identical;
  return true;
}

// --- looking ----------------------------------------------------------------------------------------------

const next_hop* fast_path::hop(handle which) const {
  if (which.index >= hops_.size()) return nullptr;
  const hop_record& h = hops_[which.index];
  return h.set && h.revision == which.revision ? &h.hop : nullptr;
}

const microflow_view* fast_path::find(ingress where, const wide_tuple& tuple) const {
  const u32 place = place_of(where, tuple);
  return place == place_index::nowhere ? nullptr : &records_[place].view;
}

const microflow_view* fast_path::find(identity who) const {
  const u32 place = in_range(who) && who.id() <= ids_.size() ? ids_[who.id() - 1].place : place_index::nowhere;
  return place != place_index::nowhere && records_[place].view.who == who ? &records_[place].view : nullptr;
}

std::vector<microflow_view> fast_path::microflows() const {
  std::vector<microflow_view> all;
  for (const id_record& id : ids_)
    if (id.place != place_index::nowhere) all.push_back(records_[id.place].view);
  return all;
}

std::vector<microflow_view> fast_path::active_microflows() const {
  std::vector<microflow_view> all;
  for (const id_record& id : ids_)
    if (id.place != place_index::nowhere && records_[id.place].view.active) all.push_back(records_[id.place].view);
  return all;
}

bool fast_path::conserved(std::string* why) const {
  return counters_.conserved(wire_queue_.size(), kn_queue_.size(), why);
}

bool fast_path::consistent(std::string* why) const {
  const auto fails = [why](std::string sentence) {
    if (why != nullptr) *why = std::move(sentence);
    return false;
  };
  usize living = 0;
  for (usize i = 0; i < ids_.size(); ++i) {
    if (ids_[i].place == place_index::nowhere) continue;
    const microflow_record& m = records_[ids_[i].place];
    ++living;
    if (m.view.who.id() != i + 1) return fails(fmt::format("record {} has id {}", i + 1, m.view.who.id()));
    if (place_of(m.view.where, m.view.tuple) != ids_[i].place)
      return fails(fmt::format("id {} is not found by its own key", i + 1));
    if (m.view.active && m.view.connection.index >= entries_.size())
      return fails(fmt::format("id {} names entry {}", i + 1, m.view.connection.index));
  }
  if (living != by_key_.size()) return fails(fmt::format("{} live, {} are looked up", living, by_key_.size()));
  if (living + free_.size() != ids_.size())
    return fails(fmt::format("{} live and {} are free of {}", living, free_.size(), ids_.size()));
  std::vector<u32> ids(free_.begin(), free_.end());
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) return fails("an id is free twice");
  for (const u32 id : ids)
    if (ids_[id - 1].place != place_index::nowhere) return fails(fmt::format("id {} lives and is free", id));
  return true;
}

}  // namespace octep::sim
