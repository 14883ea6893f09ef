#include "sim/association_engine.hpp"

namespace octep::sim {

// --- the engine -------------------------------------------------------------------------------------------

const association_engine::place* association_engine::living(handle which) const {
  if (which.index >= places_.size()) return nullptr;
  const place& p = places_[which.index];
  return p.used && p.revision == which.revision ? &p : nullptr;
}

association_engine::place* association_engine::living(handle which) {
  return const_cast<place*>(static_cast<const association_engine*>(this)->living(which));
}

answer_code association_engine::install(handle at, u32 last_number) {
  if (at.index >= places_.size() || places_[at.index].used || at.revision == 0) return answer_code::refused;
  place& p = places_[at.index];
  p.used = true;
  p.silent = true;
  p.revision = at.revision;
  p.last_number = last_number;
  return answer_code::done;
}

answer_code association_engine::remove(handle at) {
  place* const p = living(at);
  if (p == nullptr) return answer_code::refused;
  p->used = false;
  return answer_code::done;
}

std::optional<protected_traffic> association_engine::read(u32 index, instant now) {
  if (index >= places_.size()) return std::nullopt;
  place& p = places_[index];
  publish_if_quiet(p, now);
  return p.silent ? protected_traffic{} : p.published;
}

std::optional<u32> association_engine::encrypt(handle with, u32 bytes, instant now) {
  place* const p = living(with);
  // A number is never given out twice, so the last one ends it (RFC 4303, 3.3.3).
  if (p == nullptr || p->last_number == ~u32{0}) return std::nullopt;
  count(*p, bytes, now);
  return ++p->last_number;
}

bool association_engine::decrypt(handle with, u32 bytes, instant now) {
  place* const p = living(with);
  if (p == nullptr) return false;
  count(*p, bytes, now);
  return true;
}

void association_engine::count(place& p, u32 bytes, instant now) {
  publish_if_quiet(p, now);
  p.silent = false;
  p.last = now;
  ++p.total.packets;
  p.total.bytes += bytes;
  if (p.total.packets - p.published.packets >= counters_published_every) p.published = p.total;
}

void association_engine::publish_if_quiet(place& p, instant now) {
  if (counters_published_after <= now.since(p.last)) p.published = p.total;
}

void association_engine::restart() { places_.assign(places_.size(), {}); }

// --- the kernel -------------------------------------------------------------------------------------------

u32 association_table::add(u32 tunnel, bool encrypts) {
  ++changes_;
  const u32 spi = next_spi_++;
  kernel_association& a = by_spi_[spi];
  a.spi = spi;
  a.tunnel = tunnel;
  a.encrypts = encrypts;
  return spi;
}

bool association_table::remove(u32 spi) {
  if (by_spi_.erase(spi) == 0) return false;
  ++changes_;
  return true;
}

void association_table::cover(u32 tunnel, bool on) {
  ++changes_;
  covered_[tunnel] = on;
}

bool association_table::covers(u32 tunnel) const {
  const auto it = covered_.find(tunnel);
  return it != covered_.end() && it->second;
}

std::optional<u64> association_table::take_number(u32 spi) {
  const auto it = by_spi_.find(spi);
  if (it == by_spi_.end()) return std::nullopt;
  return ++it->second.sequence;
}

bool association_table::pass_over(u32 spi, u64 numbers) {
  const auto it = by_spi_.find(spi);
  if (it == by_spi_.end()) return false;
  it->second.sequence += numbers;
  return true;
}

bool association_table::account(u32 spi, protected_traffic more) {
  const auto it = by_spi_.find(spi);
  if (it == by_spi_.end()) return false;
  it->second.lifetime.packets += more.packets;
  it->second.lifetime.bytes += more.bytes;
  return true;
}

const kernel_association* association_table::find(u32 spi) const {
  const auto it = by_spi_.find(spi);
  return it == by_spi_.end() ? nullptr : &it->second;
}

const kernel_association* association_table::current(u32 tunnel, bool encrypts) const {
  const kernel_association* youngest = nullptr;
  for (const auto& [spi, a] : by_spi_)
    if (a.tunnel == tunnel && a.encrypts == encrypts) youngest = &a;
  return youngest;
}

const kernel_association* association_table::successor(u32 spi) const {
  const kernel_association* const a = find(spi);
  if (a == nullptr) return nullptr;
  const kernel_association* const youngest = current(a->tunnel, a->encrypts);
  return youngest == a ? nullptr : youngest;
}

}  // namespace octep::sim
