// The report for people: every heading says what its figures mean. 80 columns of ASCII; on a wider terminal sentences stand beside
// their rows.
#include "tools/replay.hpp"
#include "tools/advice.hpp"
#include "tools/text.hpp"
#include "tools/tuple_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace octep::tools {
namespace {

constexpr usize explained_reasons = 8;
constexpr u64 longest_bar = 40;
constexpr usize longest_line = 120;  // of a sentence: longer ones are hard to read

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
  explicit page(const screen& on) : on_{on} {}

  [[nodiscard]] const screen& on() const noexcept { return on_; }
  void line(std::string_view text = {}) {
    text_ += text.substr(0, text.find_last_not_of(' ') + 1);
    text_ += '\n';
  }
  void heading(std::string_view what, std::string_view means) {
    line();
    line(what);
    paragraph(means, 2);
  }
  void paragraph(std::string_view text, usize indent) {
    line(std::string(indent, ' ') + wrapped(text, indent, std::min(on_.width, longest_line)));
  }
  // Beside what stands in `row`, where there is room for it; below, where there is not.
  void row_and_sentence(const std::string& row, std::string_view sentence) {
    if (on_.wide()) {
      line(row + "  " + wrapped(sentence, row.size() + 2, on_.width));
    } else {
      line(row);
      paragraph(sentence, 6);
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  screen on_;
  std::string text_;
};

// A label, a count and its share.
std::string row_of(std::string_view label, u64 n, u64 of, std::string_view rest = {}) {
  return fmt::format("  {:<24}{:>13} {:>9}{}", label, grouped(n), percent(n, of), rest);
}

void write_head(page& to, const replay_sums& sums, const replay_options& options) {
  const auto& box = options.box;
  to.line(options.file == "-" ? "standard input" : one_line(options.file));
  const u64 frames = sums.frames + sums.left_out;
  to.line(fmt::format("  {} frame{}, {} bytes on the wire, {}", grouped(frames), plural(frames),
                      grouped(sums.bytes + sums.left_out_bytes), long_duration(sums.seconds)));
  if (options.nat_of)
    to.paragraph(fmt::format("{} of them, {} bytes, are others behind the NAT of {}: left out", grouped(sums.left_out),
                             grouped(sums.left_out_bytes), std::visit([](const auto& a) { return address_text(a); }, *options.nat_of)),
                 2);
  to.line(fmt::format("  through a model {}: {} slots of {} places, by {}, hash {}, {}", box.device.name,
                      box.slots, box.places, name(sim::appliance::choice_of(box)), sim::name(box.hash), box.nat ? "NAT" : "no NAT"));
  const usize n = sums.cannot_tell.size();
  if (n != 0) to.line(fmt::format("  {} thing{} that this capture cannot tell {} at the end", n, plural(n), n == 1 ? "is" : "are"));
}

// Figures, what the reason is, and what would change it.
void write_reason(page& to, const std::string& figures, reason why, const device_facts& device) {
  const std::string change = fmt::format("To change it: {}", advice(why, device));
  if (to.on().wide()) return to.row_and_sentence(figures, fmt::format("{} {}", row(why).sentence, change));
  to.row_and_sentence(figures, row(why).sentence);
  to.paragraph(change, 6);
}

void write_frames(page& to, const replay_sums& sums, const device_facts& device) {
  to.heading("FRAMES",
             "Forwarded: hardware knew the connection, and the host never saw the frame. Punted: the frame went to the host, "
             "which learns connections from such frames.");
  to.line(fmt::format("  {:<24}{:>13} {:>9}{:>19}", "", "frames", "", "bytes"));
  const auto figures_of = [&](std::string_view what, u64 frames, u64 bytes) {
    return row_of(what, frames, sums.frames, fmt::format("{:>19} {:>9}", grouped(bytes), percent(bytes, sums.bytes)));
  };
  to.line(figures_of("forwarded", sums.forwarded, sums.forwarded_bytes));
  to.line(figures_of("punted", sums.punted, sums.punted_bytes));
  const u64 candidate_bytes = sums.punted_bytes - sum(sums.not_candidate_bytes);
  to.row_and_sentence(figures_of("  candidates", sums.candidates, candidate_bytes), "Frames that octep learns from.");
  const auto bytes_of = [&sums](reason why) { return sums.not_candidate_bytes[static_cast<usize>(why)]; };
  std::vector<counted_reason> others = ranked(sums.not_candidate);  // a frame may have no bytes
  std::stable_sort(others.begin(), others.end(), [&](const auto& a, const auto& b) { return bytes_of(a.why) > bytes_of(b.why); });
  for (const counted_reason& r : others)
    write_reason(to, figures_of(fmt::format("  {}", name(r.why)), r.count, bytes_of(r.why)), r.why, device);
}

// Eight steps, from nothing to all.
std::string_view step_of(u64 part, u64 whole, bool utf8) {
  static constexpr std::string_view ascii[] = {" ", ".", ":", "-", "=", "+", "*", "#"};
  static constexpr std::string_view blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "█"};
  if (part == 0 || whole == 0) return " ";
  const usize n = 1 + static_cast<usize>(static_cast<double>(part) / static_cast<double>(whole) * 6.999);
  return utf8 ? blocks[n] : ascii[n];
}

void write_over_time(page& to, const replay_sums& sums) {
  constexpr usize beside = 14;  // "  forwarded |" and "|"
  const usize room = to.on().width - beside;
  const usize in_one = (sums.over_time.size() + room - 1) / room;
  if (sums.over_time.size() < 2) return;
  const std::vector<time_span> spans = sums.over_time.by(in_one);
  const std::string each = duration(sums.over_time.length().count * in_one);
  to.heading("OVER TIME", fmt::format("A character for each {}, of the most that any of them had; share: forwarded, of what came in that time.", each));
  const auto line = [&](const char* label, const auto& part, const auto& whole) {
    std::string bar;
    for (const time_span& s : spans) bar += step_of(part(s), whole(s), to.on().utf8);
    to.line(fmt::format("  {:<9} |{}|", label, bar));
  };
  const auto lines = [&](const char* what, u64 time_span::*forwarded, u64 time_span::*punted) {
    u64 most = 1;
    for (const time_span& s : spans) most = std::max(most, s.*forwarded + s.*punted);
    to.line(fmt::format("  {}, up to {}", what, grouped(most)));
    line("forwarded", [&](const time_span& s) { return s.*forwarded; }, [&](const time_span&) { return most; });
    line("punted", [&](const time_span& s) { return s.*punted; }, [&](const time_span&) { return most; });
    line("share", [&](const time_span& s) { return s.*forwarded; }, [&](const time_span& s) { return s.*forwarded + s.*punted; });
  };
  lines("bytes", &time_span::forwarded_bytes, &time_span::punted_bytes);
  lines("frames", &time_span::forwarded, &time_span::punted);
}

void write_connections(page& to, const replay_sums& sums) {
  const auto frames_of = [&sums](reason why) { return sums.not_candidate[static_cast<usize>(why)]; };
  const u64 hidden = frames_of(reason::pppoe) + frames_of(reason::tunnel) + frames_of(reason::fragment) + frames_of(reason::superframe);
  to.heading("CONNECTIONS", fmt::format("TCP, UDP and ping, both directions together, as the capture shows them.{}",
                                        hidden == 0 ? "" : " Those in tunnels, PPPoE, fragments or merged frames are not among them: see above."));
  to.line(row_of("seen", sums.connections, sums.connections));
  to.line(row_of("made in hardware", sums.made, sums.connections));
  to.line(row_of("not made", sum(sums.not_made), sums.connections));
  if (sums.picked_up != 0) to.line(row_of("without their SYN", sums.picked_up, sums.connections, "  TCP that was open before"));
}

// What became of connections in hardware, and what the tables had no room for.
void write_hardware(page& to, const replay_sums& sums) {
  const hardware_sums& h = sums.hardware;
  const auto event = [&](const char* what, u64 n, const char* means) {
    to.line(fmt::format("  {:<24}{:>13}  {}", what, grouped(n), means));
  };
  to.heading("IN HARDWARE", "What happened to connections there. One may be made more than once.");
  event("made", h.made, "");
  event("most at one time", h.most, "");
  event("given back", h.given_back, "to the host: it ends, or repeats itself");
  event("revived", h.revived, "told to go on after it");
  event("held back", h.held_back, "kept out for a while: too soon again");
  event("taken out", h.taken_out, "over, idle, or not revived");
  event("commands", sums.counted("cmd_posted"), "");
  if (sums.counted("cmd_refused") != 0) event("  refused", sums.counted("cmd_refused"), "");
  to.heading("FORGOTTEN", "What made room for something else. A candidate is a frame that octep learns from.");
  event("candidates", sums.counted("cand_pushed"), "");
  event("  unread", sums.counted("cand_evicted"), "gone before any pass had read them");
  event("  still of use", sums.counted("cand_evicted_read"), "read, and not made yet");
  if (sums.counted("hold_forgot") != 0) event("holds", sums.counted("hold_forgot"), "connections kept out no longer");
}

void write_refusals(page& to, const replay_sums& sums, const device_facts& device) {
  const std::vector<counted_reason> by_bytes = ranked(sums.not_made_bytes), by_frames = ranked(sums.not_made_frames);
  if (by_bytes.empty()) return;
  to.heading("WHY NOT",
             "What the host had of connections that were not made, by the last thing that stood in the way of each: most bytes first, "
             "beside the frames their rank by frames. Every connection is counted, so the ranking has no error.");
  constexpr const char* columns = "  {:<22}{:>16}{:>10}{:>12}{:>5}{:>13}";
  to.line(fmt::format(columns, "", "bytes", "", "frames", "rank", "connections"));
  const u64 all_bytes = sum(sums.not_made_bytes);
  for (usize i = 0; i < by_bytes.size(); ++i) {
    const reason_row& about = row(by_bytes[i].why);
    const usize why = static_cast<usize>(by_bytes[i].why);
    const auto rank = std::find_if(by_frames.begin(), by_frames.end(), [&](const auto& r) { return r.why == by_bytes[i].why; });
    const std::string figures = fmt::format(columns, about.name, grouped(by_bytes[i].count), percent(by_bytes[i].count, all_bytes),
                                            grouped(sums.not_made_frames[why]), rank - by_frames.begin() + 1, grouped(sums.not_made[why]));
    if (explained_reasons <= i)
      to.line(figures);
    else
      write_reason(to, figures, by_bytes[i].why, device);
  }
  if (by_bytes.size() > explained_reasons) to.paragraph("`octep definitions reasons` says what the others mean.", 6);
  if (sums.made == 0) return;
  to.row_and_sentence(fmt::format(columns, "(made)", grouped(sums.made_bytes), "", grouped(sums.made_frames), "", grouped(sums.made)),
                      "What the host had of those that were made: before it, and after a give-back.");
}

void write_worst(page& to, const replay_sums& sums) {
  if (sums.worst.empty()) return;
  to.heading("WORST", "Connections of which the host had the most bytes.");
  usize widest = 0;
  for (const connection& c : sums.worst) widest = std::max(widest, to_text(c.from_opener).size());
  for (const connection& c : sums.worst)
    to.row_and_sentence(fmt::format("  {:<{}}", to_text(c.from_opener), to.on().wide() ? widest : 0),
                        fmt::format("{} bytes in {} frame{}. {}", grouped(c.bytes_punted), grouped(c.frames_punted),
                                    plural(c.frames_punted), sentence_about(c)));
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
    std::string bar;
    for (u64 n = (bucket.count * longest_bar + most - 1) / most; n != 0; --n) bar += step_of(1, 1, to.on().utf8);
    to.line(fmt::format("  {:>9} to {:>9} ms {:>9}  {}", grouped(bucket.from_ms), grouped(bucket.below_ms), grouped(bucket.count), bar));
  }
}

// Boxes side by side; as many at a time as the width takes.
void write_compared(page& to, const replay_sums& sums, const std::vector<compared_sums>& compared) {
  if (compared.empty()) return;
  to.heading("COMPARED", "The same frames through one more box for each column, in one pass over the capture.");
  struct column {
    std::string_view name;
    const replay_sums* of;
  };
  std::vector<column> all{{"as asked", &sums}};
  for (const compared_sums& c : compared) all.push_back({c.name, &c.sums});
  const auto time = [](const replay_sums& s, u64 percentile) {
    const auto us = s.time_to_made.percentile(percentile);
    return us ? duration(*us) : std::string{"-"};
  };
  const std::pair<const char*, std::function<std::string(const replay_sums&)>> rows[] = {
      {"bytes forwarded", [](const replay_sums& s) { return percent(s.forwarded_bytes, s.bytes); }},
      {"frames forwarded", [](const replay_sums& s) { return percent(s.forwarded, s.frames); }},
      {"frames to the host", [](const replay_sums& s) { return grouped(s.punted); }},
      {"connections made", [](const replay_sums& s) { return grouped(s.made); }},
      {"time to made, median", [&](const replay_sums& s) { return time(s, 50); }},
      {"99 in 100 within", [&](const replay_sums& s) { return time(s, 99); }},
      {"given back", [](const replay_sums& s) { return grouped(s.hardware.given_back); }},
      {"held back", [](const replay_sums& s) { return grouped(s.hardware.held_back); }},
      {"most at one time", [](const replay_sums& s) { return grouped(s.hardware.most); }},
      {"commands", [](const replay_sums& s) { return grouped(s.counted("cmd_posted")); }},
  };
  constexpr usize labels = 24, least_column = 12;
  // The first stands in every block, for the others to be held against.
  for (usize next = 1; next < all.size();) {
    std::vector<column> block{all[0]};
    usize used = labels + least_column;
    do {
      used += std::max(all[next].name.size() + 2, least_column);
      block.push_back(all[next++]);
    } while (next < all.size() && used + std::max(all[next].name.size() + 2, least_column) <= to.on().width);
    const auto line = [&](std::string_view label, const std::function<std::string(const column&)>& of) {
      std::string text = fmt::format("  {:<{}}", label, labels - 2);
      for (const column& c : block) text += fmt::format("{:>{}}", of(c), std::max(c.name.size() + 2, least_column));
      to.line(text);
    };
    if (block[1].name != all[1].name) to.line();
    line("", [](const column& c) { return std::string{c.name}; });
    for (const auto& [label, of] : rows) line(label, [&of = of](const column& c) { return of(*c.of); });
  }
}

void write_tail(page& to, const replay_sums& sums) {
  if (!sums.cannot_tell.empty()) {
    to.heading("WHAT THIS CAPTURE CANNOT TELL", "What the way it was taken leaves out of the figures above.");
    for (const blind_spot& spot : sums.cannot_tell) to.line("- " + wrapped(spot.sentence, 2, std::min(to.on().width, longest_line)));
  }
  if (!sums.warnings.empty()) {
    to.line();
    to.line("WARNINGS");
    for (const std::string& warning : sums.warnings) to.paragraph(one_line(warning), 2);
  }
  to.heading("NOT MODELLED", what_is_not_modelled());
}

}  // namespace

std::string report_text(const replay_sums& sums, const std::vector<compared_sums>& compared, const replay_options& options,
                        const screen& on) {
  page to{on};
  write_head(to, sums, options);
  write_compared(to, sums, compared);
  write_frames(to, sums, options.box.device);
  write_over_time(to, sums);
  write_connections(to, sums);
  write_refusals(to, sums, options.box.device);
  write_worst(to, sums);
  write_time_to_made(to, sums);
  write_hardware(to, sums);
  write_tail(to, sums);
  return to.take();
}

}  // namespace octep::tools
