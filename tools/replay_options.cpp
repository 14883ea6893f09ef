#include "tools/replay_options.hpp"

#include "tools/output_file.hpp"
#include "tools/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace octep::tools {
namespace {

constexpr std::array devices{xgs3300, xgs136};
constexpr std::array hashes{sim::hash_kind::recorded, sim::hash_kind::fold, sim::hash_kind::keyed, sim::hash_kind::fault};

// As given, all still text: messages about values are ours.
struct raw_options {
  std::string file;
  std::string device = xgs3300.name;
  std::vector<std::string> set;
  std::vector<std::string> compare;
  std::optional<std::string> slots;
  std::optional<std::string> places;
  std::optional<std::string> choice;
  std::optional<std::string> hash;
  std::optional<std::string> seed;
  std::optional<std::string> trace;
  std::optional<std::string> csv;
  std::optional<std::string> html;
  std::optional<std::string> why;
  std::optional<std::string> at;
  std::optional<std::string> nat_of;
  bool nat = false;
  bool compare_device = false;
  bool json = false;
};

std::string in_words(const settings& values, const setting_row& r) {
  const std::string unit = *r.unit == '\0' ? "" : fmt::format(" {}", r.unit);
  return fmt::format("{} (from {} to {}{}, {} unless set)", r.name, r.least, r.most, unit, values[r.is]);
}

usize edits_between(std::string_view a, std::string_view b) {
  std::vector<usize> line(b.size() + 1);
  std::iota(line.begin(), line.end(), usize{0});
  for (usize i = 0; i < a.size(); ++i) {
    usize diagonal = line[0];
    line[0] = i + 1;
    for (usize j = 0; j < b.size(); ++j) {
      const usize replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = line[j + 1];
      line[j + 1] = std::min({replaced, line[j] + 1, diagonal + 1});
    }
  }
  return line.back();
}

std::string unknown_setting(std::string_view name) {
  const auto nearest = std::min_element(std::begin(setting_rows), std::end(setting_rows), [&](const auto& a, const auto& b) {
    return edits_between(name, a.name) < edits_between(name, b.name);
  });
  const bool likely = edits_between(name, nearest->name) <= 2;
  return fmt::format("there is no setting `{}`; {}`octep help settings` lists them", name,
                     likely ? fmt::format("perhaps {}? ", nearest->name) : "");
}

// Empty: `into` holds one of the choices.
std::string choose(std::string_view option, const std::optional<std::string>& text, const std::vector<u32>& choices, u32& into) {
  if (!text) return {};
  const auto n = parse_number(*text);
  if (n && std::find(choices.begin(), choices.end(), *n) != choices.end()) {
    into = static_cast<u32>(*n);
    return {};
  }
  return fmt::format("{} {}: one of {} is possible", option, *text, fmt::join(choices, ", "));
}

// "12.5", to a microsecond.
std::optional<instant> parse_seconds(std::string_view text) {
  const usize point = text.find('.');
  const auto whole = parse_number(text.substr(0, point));
  if (!whole || *whole > 1'000'000'000) return {};
  std::string rest{point == std::string_view::npos ? "0" : text.substr(point + 1)};
  if (rest.size() > 6) return {};
  rest.resize(6, '0');
  const auto us = parse_number(rest);
  if (!us) return {};
  return instant{*whole * 1'000'000 + *us};
}

// A device's tables and its own initial settings, which --set outranks. Empty: done.
std::string apply_device(const device_facts& device, const raw_options& raw, sim::appliance_options& box) {
  box.device = device;
  box.connections = device.connections;
  box.next_hops = device.next_hops;
  box.values = initial_settings(device);
  for (const std::string& assignment : raw.set)
    if (const std::string wrong = apply_setting(assignment, box.values); !wrong.empty())
      return fmt::format("--set {}: {}", assignment, wrong);
  return {};
}

std::string apply(const raw_options& raw, sim::appliance_options& box) {
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return raw.device == d.name; });
  if (device == devices.end()) return fmt::format("--device {}: known are xgs3300 and xgs136", raw.device);
  if (std::string wrong = apply_device(*device, raw, box); !wrong.empty()) return wrong;
  if (std::string wrong = choose("--slots", raw.slots, sim::appliance::slot_choices(), box.slots); !wrong.empty()) return wrong;
  if (std::string wrong = choose("--places", raw.places, sim::appliance::place_choices(), box.places); !wrong.empty())
    return wrong;
  if (raw.choice) {
    if (*raw.choice == name(sim::choice_kind::oldest))
      box.choice = sim::choice_kind::oldest;
    else if (*raw.choice == name(sim::choice_kind::rank))
      box.choice = sim::choice_kind::rank;
    else
      return fmt::format("--choice {}: known are rank and oldest", *raw.choice);
    if (*box.choice == sim::choice_kind::rank && box.places != 16)
      return fmt::format("--choice rank: needs --places 16, not {}", box.places);
  }
  if (raw.hash) {
    const auto hash = std::find_if(hashes.begin(), hashes.end(), [&](sim::hash_kind k) { return *raw.hash == sim::name(k); });
    if (hash == hashes.end()) return fmt::format("--hash {}: known are recorded, fold, keyed and fault", *raw.hash);
    box.hash = *hash;
  }
  if (raw.seed) {
    const auto seed = parse_number(*raw.seed);
    if (!seed) return fmt::format("--seed {}: a number from 0 to {} is possible", *raw.seed, std::numeric_limits<u64>::max());
    box.seed = *seed;
  }
  box.nat = raw.nat || raw.nat_of;
  box.judges_numbers = false;
  return {};
}

// One box for each setting that is to be compared, and for each other device. Empty: done.
std::string apply_compared(const raw_options& raw, replay_options& options) {
  for (const std::string& assignment : raw.compare) {
    const auto same = [&](const compared_box& other) { return other.name == assignment; };
    if (std::any_of(options.compared.begin(), options.compared.end(), same))
      return fmt::format("--compare {}: that column is there already", assignment);
    compared_box& other = options.compared.emplace_back(compared_box{assignment, options.box});
    if (const std::string wrong = apply_setting(assignment, other.box.values); !wrong.empty())
      return fmt::format("--compare {}: {}", assignment, wrong);
  }
  if (!raw.compare_device) return {};
  for (const device_facts& device : devices) {
    if (raw.device == device.name) continue;
    compared_box& other = options.compared.emplace_back(compared_box{fmt::format("device {}", device.name), options.box});
    if (std::string wrong = apply_device(device, raw, other.box); !wrong.empty()) return wrong;
  }
  return {};
}

// Each output is a file of its own, and none is the capture. Empty: so it is.
std::string check_outputs(const raw_options& raw) {
  struct place {
    std::string path, is;
  };
  std::vector<place> taken{{raw.file == "-" ? "/dev/stdin" : raw.file, "the capture"}, {"/dev/stdout", "where the report goes"}};
  const std::array outputs{std::pair{"--trace", &raw.trace}, std::pair{"--csv", &raw.csv}, std::pair{"--html", &raw.html}};
  for (const auto& [option, path] : outputs) {
    if (!*path) continue;
    if ((*path)->empty()) return fmt::format("{}: the file's name is empty", option);
    for (const place& other : taken)
      if (same_file(**path, other.path)) return fmt::format("{} {}: that is {}; name another file", option, **path, other.is);
    taken.push_back({**path, fmt::format("what {} writes", option)});
  }
  return {};
}

}  // namespace

std::string apply_setting(std::string_view assignment, settings& values) {
  const usize equals = assignment.find('=');
  if (equals == std::string_view::npos) return "a setting is given as NAME=VALUE";
  const std::string_view name = assignment.substr(0, equals);
  const auto row = std::find_if(std::begin(setting_rows), std::end(setting_rows), [&](const auto& r) { return name == r.name; });
  if (row == std::end(setting_rows)) return unknown_setting(name);
  const auto value = parse_number(assignment.substr(equals + 1));
  const bool fits = value && *value <= std::numeric_limits<u32>::max();
  if (!fits || values.set(row->is, static_cast<u32>(*value)) != set_result::ok)
    return fmt::format("{} is a number from {} to {}{}{}", row->name, row->least, row->most, *row->unit == '\0' ? "" : " ",
                       row->unit);
  return {};
}

std::string settings_help() {
  std::string text = "Settings, for --set NAME=VALUE:\n\n";
  for (const setting_row& r : setting_rows) {
    text += fmt::format("  {}\n", in_words(settings{}, r));
    text += fmt::format("      {}\n", wrapped(r.meaning, 6));
    text += fmt::format("      {}\n", wrapped(fmt::format("When lowered: {}", r.falling_edge), 6));
  }
  text += fmt::format("\nA device may start with its own: run_gap_ms is {} on {} and {} on {}.\n", xgs3300.run_gap_ms,
                      xgs3300.name, xgs136.run_gap_ms, xgs136.name);
  return text;
}

std::variant<replay_options, outcome> parse_replay_options(const arguments& given) {
  raw_options raw;
  CLI::App app{"Sends a capture through octep and a model coprocessor, and says what hardware\nwould have forwarded.",
               "octep replay"};
  app.get_formatter()->column_width(20);
  const auto option = [&](const char* named, auto& into, const char* takes, const std::string& means) {
    return app.add_option(named, into, means)->type_name(takes);
  };
  option("FILE", raw.file, " ", "a pcap or pcapng capture; - is standard input")->required();
  option("--device", raw.device, "NAME", "xgs3300 (the default) or xgs136");
  option("--set", raw.set, "NAME=VALUE", "a setting, see `octep help settings`; repeatable")
      ->expected(1)
      ->allow_extra_args(false)  // the next word is not another of them
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  option("--slots", raw.slots, "N",
         fmt::format("slots of the candidate table: {} ({})", fmt::join(sim::appliance::slot_choices(), ", "),
                     sim::appliance_options{}.slots));
  option("--places", raw.places, "N",
         fmt::format("places of a slot: {} ({})", fmt::join(sim::appliance::place_choices(), ", "),
                     sim::appliance_options{}.places));
  option("--choice", raw.choice, "NAME", "who makes room in a slot: rank (16 places) or oldest");
  option("--hash", raw.hash, "NAME", "recorded, fold, keyed (the default) or fault");
  option("--seed", raw.seed, "N", "of the keyed hash and of the models' chance (1)");
  app.add_flag("--nat", raw.nat, "the box translates every opener's address");
  option("--nat-of", raw.nat_of, "ADDRESS", "the NAT whose outside is in the capture too: pair both sides");
  option("--compare", raw.compare, "NAME=VALUE", "a column beside: with this setting; repeatable")
      ->expected(1)
      ->allow_extra_args(false)  // the next word is not another of them
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--compare-device", raw.compare_device, "a column beside: through the other device");
  option("--trace", raw.trace, "FILE", "write a trace for Perfetto or chrome://tracing");
  option("--csv", raw.csv, "FILE", "write a line a connection");
  option("--html", raw.html, "FILE", "write the report as one page with charts");
  option("--why", raw.why, "TUPLE", "say why this connection is, or is not, in hardware");
  option("--at", raw.at, "SECONDS", "as it is so long after the first frame; with --why");
  app.add_flag("--json", raw.json, "print one JSON object");

  try {
    app.parse(arguments{given.rbegin(), given.rend()});
  } catch (const CLI::CallForHelp&) {
    return outcome{status_done, app.help(), {}};
  } catch (const CLI::ParseError& wrong) {
    return refused(status_usage, fmt::format("{}; see `octep help replay`", one_line(wrong.what())));
  }
  replay_options options;
  options.file = raw.file;
  options.json = raw.json;
  options.trace = raw.trace.value_or("");
  options.csv = raw.csv.value_or("");
  options.html = raw.html.value_or("");
  if (raw.why) {
    std::string error;
    options.why = parse_tuple(*raw.why, error);
    if (!options.why) return refused(status_usage, one_line("--why: " + error));
  }
  if (raw.at) {
    if (!raw.why) return refused(status_usage, "--at says when, and --why is missing");
    options.at = parse_seconds(*raw.at);
    if (!options.at) return refused(status_usage, one_line(fmt::format("--at {}: seconds, such as 12.5", *raw.at)));
  }
  if (raw.nat_of) {
    options.nat_of = parse_address(*raw.nat_of);
    if (!options.nat_of) return refused(status_usage, one_line(fmt::format("--nat-of {}: an address, such as 203.0.113.5", *raw.nat_of)));
  }
  if (std::string wrong = apply(raw, options.box); !wrong.empty()) return refused(status_usage, one_line(wrong));
  if (std::string wrong = apply_compared(raw, options); !wrong.empty()) return refused(status_usage, one_line(wrong));
  if (std::string wrong = check_outputs(raw); !wrong.empty()) return refused(status_usage, one_line(wrong));
  if (options.why && !options.compared.empty())
    return refused(status_usage, "--why asks about one connection and --compare about all: one of them at a time");
  return options;
}

}  // namespace octep::tools
