#include "sim/scenarios/table.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include <fmt/format.h>

namespace octep::sim::scenarios {

namespace {

// f(1) to f(seeds), in that order. Runs share nothing, so threads change no result.
template <class F>
auto over_seeds(u64 seeds, u32 threads, F&& f) {
  using result = decltype(f(u64{1}));
  std::vector<result> all(seeds);
  std::atomic<u64> next{0};
  const auto work = [&] {
    for (;;) {
      const u64 i = next.fetch_add(1);
      if (i >= seeds) return;
      all[i] = f(i + 1);
    }
  };
  std::vector<std::thread> others;
  for (u32 i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  return all;
}

// One number of each result.
template <class R, class F>
sample each(const std::vector<R>& all, F&& of) {
  std::vector<double> values;
  for (const R& r : all) values.push_back(static_cast<double>(of(r)));
  return sample{std::move(values)};
}

constexpr phase phases[] = {phase::locked, phase::varied};

// --- words ----------------------------------------------------------------------------------------------

std::string number(double x, int decimals) { return x == never_s ? "never" : fmt::format("{:.{}f}", x, decimals); }

std::string median_and_most(const sample& s, int decimals) {
  if (s.least() == never_s) return "never";
  if (s.least() == s.most()) return number(s.most(), decimals);
  return fmt::format("{} / {}", number(s.median(), decimals), number(s.most(), decimals));
}

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

std::string seconds(const sample& s) {
  if (s.share_never() == 1) return "never";
  const std::string quick = fmt::format("{} / {}", number(s.median(), 1), number(s.part(0.95), 1));
  return s.share_never() == 0 ? quick : fmt::format("{}, {} never", quick, percent(s.share_never()));
}

std::string polls(const sample& s) {
  if (s.share_never() == 1) return "never";
  if (s.share_never() > 0) return fmt::format("{}, {} never", number(s.median(), 0), percent(s.share_never()));
  return median_and_most(s, 0);
}

std::string name_of(const design& d) { return d.is_default ? fmt::format("**{}**", d.name) : d.name; }

}  // namespace

sample_sizes sample_sizes::campaign() { return {}; }

sample_sizes sample_sizes::quick() {
  sample_sizes n;
  n.sharing = 10;
  n.nine_hundred = 1;
  n.hostile = 2;
  n.hostile_patience_s = 6;
  n.claimers = 2;
  n.scans = 4;
  n.mix = 1;
  return n;
}

sample::sample(std::vector<double> values) : values_{std::move(values)} { std::sort(values_.begin(), values_.end()); }

double sample::part(double share) const {
  const double at = std::ceil(share * static_cast<double>(values_.size()));
  return values_[at < 1 ? 0 : static_cast<usize>(at) - 1];
}

double sample::share_never() const {
  const auto n = std::count(values_.begin(), values_.end(), never_s);
  return static_cast<double>(n) / static_cast<double>(values_.size());
}

double sample::mean() const {
  double sum = 0;
  for (const double v : values_) sum += v;
  return sum / static_cast<double>(values_.size());
}

namespace {

// 1: by the first poll after it was settled, or before.
double polls_until_made(const pair_made& p) {
  return p.ever() ? static_cast<double>(p.polls + (p.before_a_poll ? 1 : 0)) : never_s;
}

}  // namespace

results judge(const design& d, const sample_sizes& n) {
  results out;
  out.of = &d;
  for (usize i = 0; i < 5; ++i) {
    const auto all = over_seeds(n.sharing, n.threads,
                                [&](u64 seed) { return flows_in_one_slot(d, results::shared_by[i], true, seed); });
    out.slowest[i] = each(all, [](const sharing& s) { return s.slowest(); });
    out.evicted[i] = each(all, [](const sharing& s) { return s.evicted; });
    out.made[i] = each(all, [](const sharing& s) { return s.made(); });
  }
  const auto colliding =
      over_seeds(n.sharing, n.threads, [&](u64 seed) { return self_colliding_through_nat(d, seed); });
  out.colliding_found = each(colliding, [](const sharing& s) { return s.made_at.size(); });
  out.colliding_made = each(colliding, [](const sharing& s) { return s.made(); });
  out.colliding_slowest = each(colliding, [](const sharing& s) { return s.slowest(); });

  const auto many = over_seeds(n.nine_hundred, n.threads, [&](u64 seed) { return opened_fifty_at_a_time(d, seed); });
  out.stopped_growing = each(many, [](const nine_hundred& r) { return r.stopped_growing_at; });
  out.held = each(many, [](const nine_hundred& r) { return r.held; });
  out.made_nothing = each(many, [](const nine_hundred& r) { return r.tries_that_made_nothing; });
  out.evicted_while_held = each(many, [](const nine_hundred& r) { return r.evicted_while_held; });

  for (usize own = 0; own < 2; ++own) {
    const auto slowest_of = [&](u32 flows) {
      return each(over_seeds(n.sharing, n.threads, [&](u64 seed) { return flows_in_one_slot(d, flows, own == 0, seed); }),
                  [](const sharing& s) { return s.slowest(); });
    };
    out.twelve[own] = slowest_of(12);
    out.sixteen[own] = slowest_of(16);
  }

  for (usize how = 0; how < 2; ++how) {
    for (usize h = 0; h < 3; ++h) {
      const u64 seeds = results::beside[h] > 12 ? (n.hostile + 3) / 4 : n.hostile;
      out.polls[h][how] = each(over_seeds(seeds, n.threads,
                                          [&](u64 seed) {
                                            return pair_beside(d, results::beside[h], phases[how], n.hostile_patience_s, seed);
                                          }),
                               polls_until_made);
    }
    const auto under = [&](u32 a_second, bool aimed) {
      return each(over_seeds(n.scans, n.threads,
                             [&](u64 seed) { return pair_under_scan(d, a_second, aimed, phases[how], seed); }),
                  [](const pair_made& p) { return p.seconds; });
    };
    out.scan[how] = under(strangers_a_second, false);
    out.slot[how] = under(aimed_a_second, true);
  }

  for (usize c = 0; c < 3; ++c) {
    const u64 seeds = results::claimers[c] > 40 ? (n.claimers + 1) / 2 : n.claimers;
    out.claimed[c] = each(over_seeds(seeds, n.threads,
                                     [&](u64 seed) {
                                       return pair_beside_claimers(d, results::claimers[c], n.hostile_patience_s, seed);
                                     }),
                          polls_until_made);
  }

  for (usize e = 0; e < 2; ++e)
    out.under_echoes[e] = each(
        over_seeds(n.claimers, n.threads, [&](u64 seed) { return pair_under_echoes(d, results::echoes[e], seed); }),
        [](const pair_made& p) { return p.seconds; });

  const auto scans = over_seeds(n.sharing, n.threads, [&](u64 seed) { return scan_of_few_frames(d, seed); });
  out.scan_tries = each(scans, [](const asked& a) { return a.tries; });
  const auto floods = over_seeds(n.sharing, n.threads, [&](u64 seed) { return flood_to_a_silent_address(d, seed); });
  out.flood_tries = each(floods, [](const asked& a) { return a.tries; });
  out.flood_made = each(floods, [](const asked& a) { return a.made; });
  auto all_asked = over_seeds(n.sharing, n.threads, [&](u64 seed) { return refused_and_back(d, seed); });
  all_asked.insert(all_asked.end(), floods.begin(), floods.end());
  out.of_a_tuple = each(all_asked, [](const asked& a) { return a.most_of_a_tuple; });
  out.of_a_slot = each(all_asked, [](const asked& a) { return a.most_of_a_slot; });
  out.between_polls = each(all_asked, [](const asked& a) { return a.most_between_polls; });
  // Not a vector of bool: threads write neighbouring results.
  out.beside_refused =
      each(over_seeds(n.sharing, n.threads, [&](u64 seed) { return u32{made_beside_a_refused_tuple(d, seed)}; }),
           [](u32 made) { return made; });

  const auto mixes = over_seeds(n.mix, n.threads, [&](u64 seed) { return zipf_and_strangers(d, seed); });
  out.share_made = each(mixes, [](const mixed& m) { return m.share_made; });
  out.ten_busiest = each(mixes, [](const mixed& m) { return m.ten_busiest_s; });
  return out;
}

std::string tables(const std::vector<results>& all) {
  std::string out;
  const auto line = [&out](const std::string& text) { out += text + "\n"; };
  line("| policy | 12 flows | 16 flows | N2 h=3 | h=12 | h=40 | scan | slot | mix |");
  line("|---|---|---|---|---|---|---|---|---|");
  for (const results& r : all)
    line(fmt::format("| {}: {} | {} | {} | {} | {} | {} | {} | {} | {} / {} |", name_of(*r.of), r.of->what,
                     median_and_most(r.twelve[1], 2), median_and_most(r.sixteen[1], 2), polls(r.polls[0][0]),
                     polls(r.polls[1][0]), polls(r.polls[2][0]), seconds(r.scan[0]), seconds(r.slot[0]),
                     fmt::format("{:.1f} %", r.share_made.mean() * 100), number(r.ten_busiest.mean(), 2)));
  line("");
  line("| policy, phase varied | N2 h=3 | h=12 | h=40 | scan | slot |");
  line("|---|---|---|---|---|---|");
  for (const results& r : all)
    line(fmt::format("| {} | {} | {} | {} | {} | {} |", name_of(*r.of), polls(r.polls[0][1]), polls(r.polls[1][1]),
                     polls(r.polls[2][1]), seconds(r.scan[1]), seconds(r.slot[1])));
  line("");
  line("| policy, polls beside claimers | 12 | 40 | 200 | seconds under 100 echoes a second | 1,000 |");
  line("|---|---|---|---|---|---|");
  for (const results& r : all)
    line(fmt::format("| {} | {} | {} | {} | {} | {} |", name_of(*r.of), polls(r.claimed[0]), polls(r.claimed[1]),
                     polls(r.claimed[2]), seconds(r.under_echoes[0]), seconds(r.under_echoes[1])));
  line("");
  line("| policy | R8: 3 | 4 | 5 | 8 | 12 | overwritten 3 / 4 / 5 / 8 / 12 | R9 |");
  line("|---|---|---|---|---|---|---|---|");
  for (const results& r : all) {
    std::string row = fmt::format("| {} |", name_of(*r.of));
    for (usize i = 0; i < 5; ++i)
      row += r.slowest[i].share_never() > 0.5
                 ? fmt::format(" {:.0f} of {} in 8 s |", r.made[i].median(), results::shared_by[i])
                 : fmt::format(" {} |", median_and_most(r.slowest[i], 2));
    std::string evicted;
    for (usize i = 0; i < 5; ++i)
      evicted += fmt::format("{}{:.0f}", i == 0 ? "" : " / ", r.evicted[i].median());
    row += fmt::format(" {} |", evicted);
    line(row + (r.colliding_made.most() == 0
                    ? " none made |"
                    : fmt::format(" {} to {}: {} |", r.colliding_found.least(), r.colliding_found.most(),
                                  median_and_most(r.colliding_slowest, 2))));
  }
  line("");
  line("| policy | R12: stopped growing | held | attempts for nothing | R16: scan | flood | most a tuple | most a slot | most a second | "
       "made beside a refused tuple |");
  line("|---|---|---|---|---|---|---|---|---|---|");
  for (const results& r : all)
    line(fmt::format("| {} | {} s | {} | {:.0f} | {:.0f} | {:.0f} ({:.0f} made) | {:.0f} | {:.0f} | {:.0f} | {} |",
                     name_of(*r.of), number(r.stopped_growing.median(), 0), number(r.held.median(), 0),
                     r.made_nothing.median(), r.scan_tries.most(), r.flood_tries.median(), r.flood_made.most(),
                     r.of_a_tuple.most(), r.of_a_slot.most(), r.between_polls.most(), percent(r.beside_refused.mean())));
  return out;
}

}  // namespace octep::sim::scenarios
