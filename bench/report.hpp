// What comes out: a line for each target, and the same as JSON.
#pragma once

#include <octep/base.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/interleaved.hpp"

namespace octep::bench {

struct options {
  bool quick = false;
  bool check = false;
  bool help = false;
  u32 repeat = 1;
  double handicap = 1;              // octep's figures times this: shows that a check can fail
  std::string json;                 // empty: none; "-": standard output, and the table goes to standard error
  std::vector<std::string> only;    // empty: all

  [[nodiscard]] u32 rounds(u32 full) const { return quick ? (full + 2) / 3 : full; }
};

// A ratio to a rival, or to a bound where there is none: then the rival is called after the bound.
struct line {
  std::string id;
  std::string what;
  std::string unit;
  double figure = 0;
  std::string rival;
  double rival_figure = 0;
  ratio against;
  double target = 0;  // 0: shown, not held against anything
  std::string note = {};
  double known = 0;  // a miss that docs/bench.md explains: a check fails beyond this instead of beyond twice the target

  [[nodiscard]] bool is_target() const { return target != 0; }
  [[nodiscard]] bool holds() const { return against.median <= target; }
  // What no noise explains.
  [[nodiscard]] bool far_off() const { return is_target() && against.median > (known != 0 ? known : 2 * target); }
};

// "P1" covers "P1" and "P1-64-uniform", and not "P10".
[[nodiscard]] bool covers(std::string_view wanted, std::string_view id);

class report {
 public:
  explicit report(const options& o);

  // Whether anything below this id was asked for, "P1" for instance, or "P1-64".
  [[nodiscard]] bool wants(std::string_view id) const;

  void head() const;
  void begin_run(u32 number);
  // Prints it, unless nobody asked.
  void add(line l);
  // Of a race: its `ours` of that name against its best rival.
  void add(std::string id, std::string what, const race& r, std::string_view ours, double target, std::string note = {});
  // Against a bound: the rival is the bound.
  void add_bound(std::string id, std::string what, std::string unit, double figure, double bound, std::string note = {});
  void remark(const std::string& text) const;

  // Prints what came of each target over all runs, writes the JSON. Exit status.
  [[nodiscard]] int finish() const;

 private:
  [[nodiscard]] bool write_json() const;
  [[nodiscard]] const line& median_of(const std::string& id) const;

  const options& o_;
  std::FILE* out_;
  std::vector<std::string> order_;                // ids as they came first
  std::map<std::string, std::vector<line>> by_id_;  // a line a run
};

}  // namespace octep::bench
