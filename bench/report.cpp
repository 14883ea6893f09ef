#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/machine.hpp"
#include "bench/rivals.hpp"

namespace octep::bench {

bool covers(std::string_view wanted, std::string_view id) {
  return id.substr(0, wanted.size()) == wanted && (id.size() == wanted.size() || id[wanted.size()] == '-');
}

namespace {

bool by_more_than_twice(const line& l) { return l.against.median > 2 * l.target; }

}  // namespace

report::report(const options& o) : o_{o}, out_{o.json == "-" ? stderr : stdout} {}

bool report::wants(std::string_view id) const {
  return o_.only.empty() || std::any_of(o_.only.begin(), o_.only.end(), [&](const std::string& wanted) {
           return covers(wanted, id) || covers(id, wanted);
         });
}

void report::head() const {
  for (const auto& [name, text] : machine()) fmt::print(out_, "{:10} {}\n", name, text);
  if (const auto missing = rivals_missing(); !missing.empty())
    fmt::print(out_, "{:10} {} (not installed: ratios are against the others)\n", "missing", fmt::join(missing, ", "));
  if (o_.handicap != 1) fmt::print(out_, "{:10} octep's figures are multiplied by {}\n", "HANDICAP", o_.handicap);
}

void report::begin_run(u32 number) {
  if (o_.repeat > 1) fmt::print(out_, "\nrun {} of {}", number, o_.repeat);
  fmt::print(out_, "\n{:21} {:46} {:>9}  {:36} {:>9}  {:>5} {:13} {:>6}\n", "target", "what", "octep", "best rival", "its",
             "ratio", "(its rounds)", "limit");
}

void report::add(line l) {
  if (!wants(l.id)) return;
  l.figure *= o_.handicap;
  for (double* r : {&l.against.median, &l.against.least, &l.against.most}) *r *= o_.handicap;
  const auto figure = [&](double v) { return v >= 1'000 ? fmt::format("{:.0f}", v) : fmt::format("{:.2f}", v); };
  const std::string spread =
      l.against.least == l.against.most ? "" : fmt::format("({:.2f}-{:.2f})", l.against.least, l.against.most);
  const std::string limit = l.is_target() ? fmt::format("{:.2f}", l.target) : "-";
  const char* const says = !l.is_target() ? "" : l.holds() ? "holds" : by_more_than_twice(l) ? "MISSED BY MORE THAN TWICE" : "MISSED";
  fmt::print(out_, "{:21} {:46} {:>9}  {:36} {:>9}  {:5.2f} {:13} {:>6} {}{}{}\n", l.id,
             l.unit.empty() ? l.what : fmt::format("{}, {}", l.what, l.unit), figure(l.figure), l.rival,
             figure(l.rival_figure), l.against.median, spread, limit, says, says[0] != 0 && !l.note.empty() ? "; " : "",
             l.note);
  std::fflush(out_);
  auto& runs = by_id_[l.id];
  if (runs.empty()) order_.push_back(l.id);
  runs.push_back(std::move(l));
}

void report::add(std::string id, std::string what, const race& r, std::string_view ours, double target, std::string note) {
  const auto& mine = r.named(ours);
  const auto& rival = r.best_rival();
  add(line{std::move(id), std::move(what), "ns", mine.median(), rival.name, rival.median(), race::between(mine, rival),
           target, std::move(note)});
}

void report::add_bound(std::string id, std::string what, std::string unit, double figure, double bound, std::string note) {
  const double of = figure / bound;
  add(line{std::move(id), std::move(what), std::move(unit), figure, "bound", bound, {of, of, of}, 1, std::move(note)});
}

void report::remark(const std::string& text) const { fmt::print(out_, "{:21} {}\n", "", text); }

const line& report::median_of(const std::string& id) const {
  std::vector<const line*> runs;
  for (const line& l : by_id_.at(id)) runs.push_back(&l);
  std::sort(runs.begin(), runs.end(), [](auto* a, auto* b) { return a->against.median < b->against.median; });
  return *runs[(runs.size() - 1) / 2];
}

int report::finish() const {
  u32 targets = 0;
  u32 held = 0;
  std::vector<std::string> missed;
  std::vector<std::string> far;
  for (const std::string& id : order_) {
    const auto& runs = by_id_.at(id);
    if (!runs[0].is_target()) continue;
    ++targets;
    const auto misses = std::count_if(runs.begin(), runs.end(), [](const line& l) { return !l.holds(); });
    if (misses == 0) ++held;
    if (misses != 0)
      missed.push_back(runs.size() == 1 ? id : fmt::format("{} ({} of {} runs)", id, misses, runs.size()));
    // The median of the runs: one that was disturbed does not count.
    if (median_of(id).far_off()) far.push_back(id);
  }
  fmt::print(out_, "\n{} of {} targets hold{}{}\n", held, targets, missed.empty() ? "" : "; missed: ", fmt::join(missed, ", "));
  if (!far.empty()) fmt::print(out_, "worse than twice its target: {}\n", fmt::join(far, ", "));
  if (!o_.json.empty() && !write_json()) return 1;
  return o_.check && !far.empty() ? 1 : 0;
}

bool report::write_json() const {
  nlohmann::ordered_json all;
  for (const auto& [name, text] : machine()) all["machine"][name] = text;
  all["quick"] = o_.quick;
  all["runs"] = o_.repeat;
  if (o_.handicap != 1) all["handicap"] = o_.handicap;
  all["targets"] = nlohmann::ordered_json::array();
  all["shown"] = nlohmann::ordered_json::array();
  for (const std::string& id : order_) {
    const line& l = median_of(id);
    const auto& runs = by_id_.at(id);
    nlohmann::ordered_json row;
    row["id"] = l.id;
    row["figure"] = l.figure;
    row["rival"] = l.rival;
    row["rival_figure"] = l.rival_figure;
    row["ratio"] = l.against.median;
    if (l.is_target()) {
      row["target"] = l.target;
      row["holds"] = std::all_of(runs.begin(), runs.end(), [](const line& of) { return of.holds(); });
    }
    row["what"] = l.what;
    row["unit"] = l.unit;
    row["least_ratio"] = l.against.least;
    row["most_ratio"] = l.against.most;
    if (!l.note.empty()) row["note"] = l.note;
    if (l.known != 0) row["known"] = l.known;
    for (const line& of : runs) row["ratios"].push_back(of.against.median);
    all[l.is_target() ? "targets" : "shown"].push_back(row);
  }
  const std::string text = all.dump(2) + "\n";
  if (o_.json == "-") {
    std::fputs(text.c_str(), stdout);
    return true;
  }
  std::ofstream file{o_.json};
  file << text;
  file.close();
  if (file) return true;
  fmt::print(stderr, "octep_bench: cannot write {}\n", o_.json);
  return false;
}

}  // namespace octep::bench
