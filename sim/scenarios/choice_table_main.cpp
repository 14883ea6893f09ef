// choice_table: the tables of docs/choice.md, with every seed of the campaign.
//
//   choice_table [--quick] [--threads N] [DESIGN...]
#include <cstdlib>
#include <string_view>

#include <cstdio>
#include <fmt/format.h>

#include "sim/scenarios/table.hpp"

int main(int argc, char** argv) {
  using namespace octep::sim::scenarios;
  sample_sizes n = sample_sizes::campaign();
  octep::u32 threads = 1;
  std::vector<const design*> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word{argv[i]};
    if (word == "--quick") {
      n = sample_sizes::quick();
    } else if (word == "--threads" && i + 1 < argc) {
      threads = static_cast<octep::u32>(std::strtoul(argv[++i], nullptr, 10));
    } else if (const design* d = find_design(argv[i]); d != nullptr) {
      wanted.push_back(d);
    } else {
      fmt::print(stderr, "usage: choice_table [--quick] [--threads N] [DESIGN...]\ndesigns:");
      for (const design& known : designs()) fmt::print(stderr, " {}", known.name);
      fmt::print(stderr, "\n");
      return 2;
    }
  }
  n.threads = threads == 0 ? 1 : threads;
  if (wanted.empty())
    for (const design& d : designs()) wanted.push_back(&d);
  std::vector<results> all;
  for (const design* d : wanted) all.push_back(judge(*d, n));
  fmt::print("{}", tables(all));
  return 0;
}
