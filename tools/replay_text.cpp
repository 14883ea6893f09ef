// The report for people: 80 columns, and every heading says what its figures mean.
#include "tools/replay.hpp"
#include "tools/text.hpp"
#include "tools/tuple_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace octep::tools {
namespace {

constexpr usize explained_reasons = 5;
constexpr u64 longest_bar = 40;

struct counted_reason {
  reason why;
  u64 count;
};

// Those that counted, most first; equal ones in the order of the enumeration.
std::vector<counted_reason> ranked(const by_reason& counts) {
  std::vector<counted_reason> all;
  for (usize i = 0; i < reason_count; ++i)
    if (counts[i] != 0) all.push_back({static_cast<reason>(i), counts[i]});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return b.count < a.count; });
  return all;
}

class page {
 public:
  void line(std::string_view text = {}) {
    text_ += text;
    text_ += '\n';
  }
  void heading(std::string_view what, std::string_view means) {
    line();
    line(what);
    paragraph(means, 2);
  }
  void paragraph(std::string_view text, usize indent) { line(std::string(indent, ' ') + wrapped(text, indent)); }
  // A label, a count and its share.
  void row(std::string_view label, u64 n, u64 of, std::string_view rest = {}) {
    line(fmt::format("  {:<24}{:>13} {:>9}{}", label, grouped(n), percent(n, of), rest));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_head(page& to, const replay_sums& sums, const replay_options& options) {
  const auto& box = options.box;
  to.line(options.file == "-" ? "standard input" : one_line(options.file));
  to.line(fmt::format("  {} frame{}, {} bytes on the wire, {}", grouped(sums.frames), plural(sums.frames),
                      grouped(sums.bytes), long_duration(sums.seconds)));
  to.line(fmt::format("  through a model {}: {} slots of {} places, by {}, hash {}, {}", box.device.name,
                      box.slots, box.places, name(sim::appliance::choice_of(box)), sim::name(box.hash), box.nat ? "NAT" : "no NAT"));
}

void write_frames(page& to, const replay_sums& sums) {
  to.heading("FRAMES",
             "Forwarded: hardware knew the connection, and the host never saw the frame. Punted: the frame went to the host, "
             "which learns connections from such frames.");
  to.line(fmt::format("  {:<24}{:>13} {:>9}{:>19}", "", "frames", "", "bytes"));
  const auto with_bytes = [&](const char* what, u64 frames, u64 bytes) {
    to.row(what, frames, sums.frames, fmt::format("{:>19} {:>9}", grouped(bytes), percent(bytes, sums.bytes)));
  };
  with_bytes("forwarded", sums.forwarded, sums.forwarded_bytes);
  with_bytes("punted", sums.punted, sums.punted_bytes);
  to.row("  candidates", sums.candidates, sums.frames, "  frames that octep learns from");
  for (const counted_reason& r : ranked(sums.not_candidate)) {
    to.row(fmt::format("  {}", name(r.why)), r.count, sums.frames);
    to.paragraph(row(r.why).sentence, 6);
  }
}

// Eight steps of ASCII, from nothing to all.
char step_of(u64 part, u64 whole) {
  constexpr std::string_view steps = " .:-=+*#";
  if (part == 0 || whole == 0) return ' ';
  return steps[1 + static_cast<usize>(static_cast<double>(part) / static_cast<double>(whole) * 6.999)];
}

void write_over_time(page& to, const replay_sums& sums) {
  const time_line& all = sums.over_time;
  if (all.size() < 2) return;
  to.heading("OVER TIME", fmt::format("Bytes, a character each {}, of the busiest one.", duration(all.length().count)));
  u64 most = 1;
  for (usize n = 0; n < all.size(); ++n) most = std::max(most, all[n].forwarded_bytes + all[n].punted_bytes);
  std::string forwarded, punted;
  for (usize n = 0; n < all.size(); ++n) {
    forwarded += step_of(all[n].forwarded_bytes, most);
    punted += step_of(all[n].punted_bytes, most);
  }
  to.line(fmt::format("  forwarded |{}|", forwarded));
  to.line(fmt::format("  punted    |{}|", punted));
}

void write_connections(page& to, const replay_sums& sums) {
  to.heading("CONNECTIONS", "TCP, UDP and ping, both directions together, as the capture shows them.");
  to.row("seen", sums.connections, sums.connections);
  to.row("made in hardware", sums.made, sums.connections);
  to.row("not made", sum(sums.not_made), sums.connections);
  if (sums.picked_up != 0) to.row("without their SYN", sums.picked_up, sums.connections, "  TCP that was open before");
}

void write_refusals(page& to, const replay_sums& sums) {
  const std::vector<counted_reason> all = ranked(sums.not_made);
  if (all.empty()) return;
  to.heading("WHY NOT", "Connections that were not made, by the last thing that stood in the way of each.");
  const u64 of = sum(sums.not_made);
  to.line(fmt::format("  {:<24}{:>13} {:>9}{:>14}{:>16}", "", "connections", "", "frames", "bytes"));
  for (usize i = 0; i < all.size(); ++i) {
    const reason_row& about = row(all[i].why);
    const usize why = static_cast<usize>(all[i].why);
    to.row(about.name, all[i].count, of,
           fmt::format("{:>14}{:>16}", grouped(sums.not_made_frames[why]), grouped(sums.not_made_bytes[why])));
    if (i >= explained_reasons) continue;
    to.paragraph(about.sentence, 6);
    to.paragraph(fmt::format("To change it: {}", about.change), 6);
  }
}

// One true sentence each.
std::string what_of(const connection& c) {
  if (!c.made && !c.forwarded) return row(c.refusal).sentence;
  if (c.frames_forwarded == 0) return "It was made in hardware, and no frame of it came after that.";
  if (!c.made) return "It took over the place of one that was in hardware with the same addresses and ports.";
  return fmt::format("It was in hardware from {} after its first frame on, which forwarded {} of its bytes.",
                     duration(c.made->since(c.first_frame).count), percent(c.bytes_forwarded, c.bytes_forwarded + c.bytes_punted));
}

void write_worst(page& to, const replay_sums& sums) {
  if (sums.worst.empty()) return;
  to.heading("WORST", "Connections of which the host had the most bytes.");
  for (const connection& c : sums.worst) {
    to.line(fmt::format("  {}", to_text(c.from_opener)));
    to.paragraph(fmt::format("{} bytes in {} frame{}. {}", grouped(c.bytes_punted), grouped(c.frames_punted), plural(c.frames_punted),
                             what_of(c)),
                 6);
  }
}

void write_time_to_made(page& to, const replay_sums& sums) {
  const time_histogram& times = sums.time_to_made;
  if (times.count() == 0) return;
  to.heading("TIME TO MADE", "From a connection's first punted frame until hardware had both directions of it.");
  to.line(fmt::format("  median {}, 99 in 100 within {}, {} connection{}", duration(*times.percentile(50)),
                      duration(*times.percentile(99)), grouped(times.count()), plural(times.count())));
  u64 most = 1;
  const auto buckets = times.powers_of_two();
  for (const auto& bucket : buckets) most = std::max(most, bucket.count);
  for (const auto& bucket : buckets) {
    const u64 length = (bucket.count * longest_bar + most - 1) / most;
    const std::string line = fmt::format("  {:>9} to {:>9} ms {:>9}  {}", grouped(bucket.from_ms), grouped(bucket.below_ms),
                                         grouped(bucket.count), std::string(length, '#'));
    to.line(std::string_view{line}.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void write_tail(page& to, const replay_sums& sums) {
  if (!sums.warnings.empty()) {
    to.line();
    to.line("WARNINGS");
    for (const std::string& warning : sums.warnings) to.paragraph(one_line(warning), 2);
  }
  to.line();
  to.line("NOT MODELLED YET");
  to.paragraph(what_is_not_modelled(), 2);
}

}  // namespace

std::string report_text(const replay_sums& sums, const replay_options& options) {
  page to;
  write_head(to, sums, options);
  write_frames(to, sums);
  write_over_time(to, sums);
  write_connections(to, sums);
  write_refusals(to, sums);
  write_worst(to, sums);
  write_time_to_made(to, sums);
  write_tail(to, sums);
  return to.take();
}

}  // namespace octep::tools
