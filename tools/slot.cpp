#include "tools/slot.hpp"

#include "tools/text.hpp"

#include <octep/device.hpp>
#include <octep/hot_table.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

namespace octep::tools {
namespace {

constexpr std::array hashes{sim::hash_kind::recorded, sim::hash_kind::fold, sim::hash_kind::keyed, sim::hash_kind::fault};
constexpr u32 most_slots = 1U << 20;
constexpr u32 most_connections = 1U << 26;  // hot_table::buckets_for
constexpr u32 every_port = 65'536;

static_assert(slot_options{}.connections == xgs3300.connections);

u32 hot_bits(const slot_options& o) { return bit_width(hot_table<>::buckets_for(o.connections)) - 1; }

template <tuple_type Tuple>
landing land(const Tuple& t, const sim::any_hash& hash, const slot_options& o) {
  const u32 h = hash(t);
  return {t, h, top_bits(h, bit_width(o.slots) - 1), top_bits(h, hot_bits(o))};
}

template <tuple_type Tuple>
placement place_one(const Tuple& t, const slot_options& o) {
  const sim::any_hash hash{o.hash, o.seed};
  placement p{land(t, hash, o), land(reverse(t), hash, o), {}, {}};
  for (u32 port = 0; port < every_port && (p.sharing.size() < o.find || p.both_in_one.size() < o.self); ++port) {
    Tuple other = t;
    other.ports = join_ports(port_word(static_cast<u16>(port)), t.destination_word());
    const u32 slot = land(other, hash, o).slot;
    if (p.sharing.size() < o.find && slot == p.arriving.slot && other != t) p.sharing.push_back(static_cast<u16>(port));
    if (p.both_in_one.size() < o.self && slot == land(reverse(other), hash, o).slot)
      p.both_in_one.push_back(static_cast<u16>(port));
  }
  return p;
}

bool is_echo_tuple(const any_tuple& t) {
  return std::visit([](const auto& one) { return is_echo(one.proto); }, t);
}

// Lines of ports behind an indent of four.
std::string ports_text(const std::string& title, const std::vector<u16>& ports, u32 asked) {
  std::string text = fmt::format("  {}", title);
  if (ports.size() < asked) text += ports.empty() ? ": there is none" : fmt::format(", all there are ({})", ports.size());
  text += '\n';
  if (!ports.empty()) text += fmt::format("    {}\n", wrapped(fmt::format("{}", fmt::join(ports, " ")), 4));
  return text;
}

std::string landing_text(const char* way, const landing& l) {
  return fmt::format("  {:<10} hash 0x{:08x}  slot {:<7} hot bucket {:<9} {}\n", way, l.hash, l.slot, l.hot_bucket,
                     to_text(l.tuple));
}

std::string report_text(const std::vector<placement>& all, const slot_options& o) {
  std::string text = fmt::format("hash {}{}, {} slots, {} hot buckets\n", sim::name(o.hash),
                                 o.hash == sim::hash_kind::keyed ? fmt::format(" under seed {}", o.seed) : "",
                                 grouped(o.slots), grouped(u64{1} << hot_bits(o)));
  std::map<u32, u32> by_slot;
  for (const placement& p : all) {
    ++by_slot[p.arriving.slot];
    const char* const what = is_echo_tuple(p.arriving.tuple) ? "identifiers" : "source ports";
    text += '\n' + landing_text("arrives", p.arriving) + landing_text("reverse", p.reversed);
    text += p.shares_slot() ? "  Its two directions share a slot.\n" : "  Its two directions have a slot each.\n";
    if (o.find != 0) text += ports_text(fmt::format("Other {} in slot {}", what, p.arriving.slot), p.sharing, o.find);
    if (o.self != 0)
      text += ports_text(fmt::format("{} with both directions in one slot",
                                     is_echo_tuple(p.arriving.tuple) ? "Identifiers" : "Source ports"),
                         p.both_in_one, o.self);
  }
  if (all.size() > 1) {
    std::vector<std::string> counts;
    for (const auto& [slot, n] : by_slot) counts.push_back(fmt::format("{} in slot {}", n, slot));
    text += fmt::format("\nOf the {} as they arrive: {}\n", all.size(), wrapped(fmt::format("{}", fmt::join(counts, ", ")), 2));
  }
  return text;
}

using json = nlohmann::ordered_json;

json landing_json(const landing& l) {
  return {{"tuple", to_text(l.tuple)}, {"hash", l.hash}, {"slot", l.slot}, {"hot_bucket", l.hot_bucket}};
}

std::string report_json(const std::vector<placement>& all, const slot_options& o) {
  json tuples = json::array();
  for (const placement& p : all) {
    json one{{"arrives", landing_json(p.arriving)}, {"reverse", landing_json(p.reversed)}, {"shares_slot", p.shares_slot()}};
    if (o.find != 0) one["same_slot"] = p.sharing;
    if (o.self != 0) one["both_in_one_slot"] = p.both_in_one;
    tuples.push_back(std::move(one));
  }
  const json whole{{"hash", sim::name(o.hash)},
                   {"seed", o.hash == sim::hash_kind::keyed ? json(o.seed) : json(nullptr)},
                   {"slots", o.slots},
                   {"hot_buckets", u64{1} << hot_bits(o)},
                   {"tuples", std::move(tuples)}};
  return whole.dump(2) + '\n';
}

// As given, all still text: messages about values are ours.
struct raw_options {
  std::vector<std::string> tuples;
  std::string hash = sim::name(slot_options{}.hash);
  std::string seed;
  std::string slots;
  std::string connections;
  std::string find;
  std::string self;
};

// Empty: `into` holds what was given, or what it held where nothing was.
template <class Number>
std::string take_number(const char* option, const std::string& text, u64 least, u64 most, Number& into) {
  if (text.empty()) return {};
  const std::optional<u64> n = parse_number(text);
  if (!n || *n < least || *n > most) return fmt::format("{} {}: a number from {} to {} is possible", option, text, least, most);
  into = static_cast<Number>(*n);
  return {};
}

std::string apply(const raw_options& raw, slot_options& o) {
  const auto hash = std::find_if(hashes.begin(), hashes.end(), [&](sim::hash_kind k) { return raw.hash == sim::name(k); });
  if (hash == hashes.end()) return fmt::format("--hash {}: known are recorded, fold, keyed and fault", raw.hash);
  o.hash = *hash;
  std::string wrong = take_number("--seed", raw.seed, 0, std::numeric_limits<u64>::max(), o.seed);
  if (wrong.empty()) wrong = take_number("--slots", raw.slots, 1, most_slots, o.slots);
  if (wrong.empty() && !is_power_of_two(o.slots)) wrong = fmt::format("--slots {}: a power of two is possible", raw.slots);
  if (wrong.empty()) wrong = take_number("--connections", raw.connections, 1, most_connections, o.connections);
  if (wrong.empty()) wrong = take_number("--find", raw.find, 1, every_port, o.find);
  if (wrong.empty()) wrong = take_number("--self", raw.self, 1, every_port, o.self);
  for (const std::string& text : raw.tuples) {
    if (!wrong.empty()) break;
    if (const auto tuple = parse_tuple(text, wrong)) o.tuples.push_back(*tuple);
  }
  return wrong;
}

}  // namespace

placement place(const any_tuple& tuple, const slot_options& options) {
  return std::visit([&](const auto& t) { return place_one(t, options); }, tuple);
}

std::variant<slot_options, outcome> parse_slot_options(const arguments& given) {
  raw_options raw;
  slot_options options;
  CLI::App app{"Says which slot and hot bucket a tuple falls into, and its reverse, and which ports fall there too.",
               "octep slot"};
  app.add_option("TUPLE", raw.tuples, "as the frame arrives: tcp:192.0.2.1:1234-198.51.100.7:443, "
                                      "udp:[2001:db8::1]:5-[2001:db8::2]:53, icmp:192.0.2.1-198.51.100.7:IDENTIFIER")
      ->required();
  app.add_option("--hash", raw.hash, "recorded, fold, keyed (the default) or fault");
  app.add_option("--seed", raw.seed, "of the keyed hash (1, as in a replay)");
  app.add_option("--slots", raw.slots, fmt::format("of the candidate table: a power of two up to {} ({})", most_slots, options.slots));
  app.add_option("--connections", raw.connections,
                 fmt::format("that can be held, which sizes the hot table ({})", options.connections));
  app.add_option("--find", raw.find, "list so many other source ports that fall into the tuple's slot");
  app.add_option("--self", raw.self, "list so many source ports whose two directions fall into one slot");
  app.add_flag("--json", options.json, "print one JSON object");
  app.footer("The reverse is the other direction when nothing is translated; through NAT, give it as a tuple of its own.\n"
             "For an echo the identifier stands in for the source port.");
  for (CLI::Option* const option : app.get_options()) option->type_name("");

  try {
    app.parse(arguments{given.rbegin(), given.rend()});
  } catch (const CLI::CallForHelp&) {
    return outcome{status_done, app.help(), {}};
  } catch (const CLI::ParseError& wrong) {
    return refused(status_usage, fmt::format("{}; see `octep help slot`", one_line(wrong.what())));
  }
  if (const std::string wrong = apply(raw, options); !wrong.empty()) return refused(status_usage, one_line(wrong));
  return options;
}

outcome slot_command(const arguments& given) {
  auto parsed = parse_slot_options(given);
  if (auto* instead = std::get_if<outcome>(&parsed)) return std::move(*instead);
  const auto& options = std::get<slot_options>(parsed);
  std::vector<placement> all;
  for (const any_tuple& tuple : options.tuples) all.push_back(place(tuple, options));
  return {status_done, options.json ? report_json(all, options) : report_text(all, options), {}};
}

}  // namespace octep::tools
