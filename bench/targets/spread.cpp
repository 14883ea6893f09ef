// P6, the spread: the default hash over 1,000 keys and every pattern of test/spread.hpp, against a random function at the
// same load. The two families side by side on two threads: nothing here is timed.
#include "test/spread.hpp"

#include <octep/engine/policies.hpp>

#include <future>

#include "bench/targets/targets.hpp"

namespace octep::bench {
namespace {

constexpr u32 keys = 1'000;
constexpr u32 draws = 100'000;

template <tuple_type Tuple>
spread::verdict judge(u32 draws_of_large) {
  std::mt19937_64 random{1};
  std::vector<default_policies::hash> hashes;
  for (u32 i = 0; i < keys; ++i) hashes.emplace_back(random());
  spread::verdict v;
  u64 seed = 7;
  for (const spread::pattern& p : spread::patterns(Tuple::which == octep::family::ipv6))
    v.take(p, spread::measure<Tuple>(hashes, p, p.flows > spread::slots ? draws_of_large : draws, ++seed));
  return v;
}

void show(report& out, const char* which, const spread::verdict& v) {
  const auto add = [&](const char* what, const char* text, double of, const spread::pattern& worst) {
    out.add(line{fmt::format("P6-{}-{}", what, which), fmt::format("{}, worst pattern", text), "", of, "a random function", 1,
                 {of, of, of}, 1.05, spread::name_of(worst)});
  };
  add("chi2", "chi-square a degree", v.chi_square, v.worst_chi_square);
  add("lost", "share without a place", v.lost, v.worst_lost);
}

}  // namespace

void measure_spread(report& out, const options& o) {
  if (!out.wants("P6-chi2") && !out.wants("P6-lost")) return;
  // Sets of 256 flows take most of the time, and lose so many that a fifth of the draws says as much. With few flows it
  // would not: a lost share would be four in a hundred off by chance. Seeds are fixed: each run says the same.
  const u32 large = o.quick ? draws / 5 : draws;
  auto four = std::async(std::launch::async, [large] { return judge<tuple4>(large); });
  const spread::verdict six = judge<tuple6>(large);
  show(out, "ipv4", four.get());
  show(out, "ipv6", six);
}

}  // namespace octep::bench
