#include "tools/replay.hpp"

#include "tools/capture.hpp"
#include "tools/connections_csv.hpp"
#include "tools/interrupt.hpp"
#include "tools/nat_pairs.hpp"
#include "tools/progress.hpp"
#include "tools/replay_html.hpp"
#include "tools/replay_loop.hpp"
#include "tools/replay_why.hpp"
#include "tools/sightings.hpp"
#include "tools/text.hpp"
#include "tools/trace.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace octep::tools {
namespace {

const char* const not_modelled =
    "The firewall's own rules, tunnels, and what a device hands up for its length or its last hop: everything may pass, and every "
    "way out takes every frame. A next hop is a hardware address that the capture shows: what is behind one router is one.";

// A box and what came of the frames that went through it.
struct lane {
  std::string name;
  std::unique_ptr<sim::appliance> box;
  std::unique_ptr<replay_loop> loop;
};

// The box as asked, then those that are compared with it. Fewer: `error` says why.
std::vector<lane> lanes_of(const replay_options& options, std::string& error) {
  std::vector<compared_box> all{{{}, options.box}};
  all.insert(all.end(), options.compared.begin(), options.compared.end());
  std::vector<lane> lanes;
  for (const compared_box& each : all) {
    std::unique_ptr<sim::appliance> box = sim::appliance::make(each.box, error);
    if (!box) break;
    auto loop = std::make_unique<replay_loop>(*box, each.box.nat);
    lanes.push_back({each.name, std::move(box), std::move(loop)});
  }
  return lanes;
}

// What the models' laws and the sums' say after `taken` frames; nothing: they hold.
std::optional<std::string> contradiction_in(const std::vector<lane>& lanes, u64 taken) {
  for (const lane& each : lanes)
    if (auto law = each.loop->contradicts(taken)) return "octep contradicts itself: " + *law;
  return {};
}

// What became of reading.
struct reading {
  capture::got ended = capture::got::end;
  bool interrupted = false;
  instant last;  // the last frame's
  u64 taken = 0;
  u64 left_out = 0, left_out_bytes = 0;
  std::optional<std::string> broken;  // a law that does not hold
};

// Silence is made of polls, and long silence of many: Ctrl-C is heard within it. Nothing is left to poll for after a day or so, so
// that each stride may be twice the last.
void pass_time(const std::vector<lane>& lanes, instant from, instant to, const interrupt_watch& stop) {
  microseconds stride{3'600'000'000};
  for (instant at = from + stride; at < to && !stop.asked(); at = at + stride) {
    for (const lane& each : lanes) each.box->advance(at);
    stride = microseconds{2 * stride.count};
  }
}

reading read_through(capture& from, const replay_options& options, const interrupt_watch& stop, const std::vector<lane>& lanes,
                     blind_spots& blind) {
  // Pairing a NAT's sides must not miss a connection's first frame, so it remembers more.
  sightings sights{options.nat_of ? sightings::many_places : sightings::places};
  std::optional<nat_pairs> pairs;
  if (options.nat_of) pairs.emplace(*options.nat_of);
  progress bar{stderr, from.size()};
  observed_frame seen;
  sighting how;
  reading r;
  while (!stop.asked() && (r.ended = from.next(seen.frame)) == capture::got::frame) {
    if (options.at && *options.at < seen.frame.at) break;
    pass_time(lanes, r.last, seen.frame.at, stop);
    if (stop.asked()) break;
    r.last = seen.frame.at;
    bar.at(from.frames(), [&from] { return from.position(); });
    observe(seen);
    if (seen.candidate()) {
      sights.look(seen, how);
      if (!pairs || !pairs->joins(how)) blind.sighted(how);
      if (pairs && pairs->leaves_out(seen, how)) {
        ++r.left_out;
        r.left_out_bytes += seen.frame.view.wire_length;
        continue;
      }
    }
    for (const lane& each : lanes) each.loop->take(seen);
    ++r.taken;
    // The models' laws take time to ask, so they are asked at every doubling.
    if (is_power_of_two(r.taken)) r.broken = contradiction_in(lanes, r.taken);
    if (r.broken) break;
  }
  // A read that waited for a pipe was broken off, which libpcap takes for an error of the file.
  r.interrupted = stop.asked();
  return r;
}

void add_warnings(replay_sums& sums, const capture& from, const reading& read) {
  if (read.interrupted) sums.warnings.emplace_back("interrupted: this is the report of what was read until then");
  if (read.ended == capture::got::cut && !read.interrupted) sums.warnings.push_back(from.message());
  const u64 n = from.overlong();
  if (n == 1) sums.warnings.emplace_back("one record holds more bytes than it says the frame had; the rest is not looked at");
  if (n > 1)
    sums.warnings.push_back(
        fmt::format("{} records hold more bytes than they say their frames had; the rest is not looked at", grouped(n)));
}

// The story hears of the loop's events and frames, beside whoever heard of them before.
void listen(replay_why& story, replay_loop& loop) {
  loop.on_event = [&story, also = loop.on_event](const event& e) {
    story.hear(e);
    if (also) also(e);
  };
  loop.on_tuple = [&story](const sim::wide_tuple& of, const sim::wide_tuple& arrives, bool forwarded) { story.frame(of, arrives, forwarded); };
}

// What a replay writes beside its report, if it was asked to.
class side_files {
 public:
  // Empty: what was asked for is open.
  [[nodiscard]] std::string open(const replay_options& options) {
    std::string error;
    if (!options.trace.empty() && !(trace_file_ = output_file::create(options.trace, error))) return "--trace " + error;
    if (!options.csv.empty() && !(csv_file_ = output_file::create(options.csv, error))) return "--csv " + error;
    if (!options.html.empty() && !has_charts())
      return "--html " + options.html + ": this octep was built without its charting library; build it again where CMake reaches the npm "
             "registry, or with OCTEP_CHART_JS=FILE";
    if (!options.html.empty() && !(html_file_ = output_file::create(options.html, error))) return "--html " + error;
    if (trace_file_) trace_.emplace(*trace_file_);
    if (csv_file_) csv_.emplace(*csv_file_);
    return {};
  }
  void listen_to(replay_loop& loop) {
    if (trace_) {
      loop.on_event = [this](const event& e) { trace_->hear(e); };
      loop.on_frame = [this](bool forwarded, instant at) { trace_->frame(forwarded, at); };
    }
    if (csv_) loop.on_over = [this](const connection& c) { csv_->add(c); };
  }
  // Empty: all of it is written. `page` makes the report's page, if one was asked for.
  [[nodiscard]] std::string keep(instant end, const std::function<std::string()>& page) {
    std::string error;
    if (html_file_) html_file_->write(page());
    if (html_file_ && !html_file_->keep(error)) return "--html " + error;
    if (trace_) trace_->finish(end);
    if (trace_file_ && !trace_file_->keep(error)) return "--trace " + error;
    if (csv_file_ && !csv_file_->keep(error)) return "--csv " + error;
    return {};
  }

 private:
  std::optional<output_file> trace_file_, csv_file_, html_file_;
  std::optional<trace> trace_;
  std::optional<connections_csv> csv_;
};

}  // namespace

const char* what_is_not_modelled() noexcept { return not_modelled; }

std::string sentence_about(const connection& c) {
  if (!c.made && !c.forwarded) return row(c.refusal).sentence;
  if (c.frames_forwarded == 0 && c.made && *c.made < c.last_frame)
    return c.reset || c.fin[0] || c.fin[1] ? "It was made in hardware, and what came of it after that was for the host, such as its end."
                                           : "It was made in hardware, and what came of it after that was for the host.";
  if (c.frames_forwarded == 0) return "It was made in hardware, and no frame of it came after that.";
  if (!c.made) return "It took over the place of one that was in hardware with the same addresses and ports.";
  return fmt::format("It was made in hardware {} after its first frame; hardware forwarded {} of its bytes.",
                     duration(c.made->since(c.first_frame).count), percent(c.bytes_forwarded, c.bytes_forwarded + c.bytes_punted));
}

outcome replay_command(const arguments& given) {
  auto parsed = parse_replay_options(given);
  if (const outcome* const answer = std::get_if<outcome>(&parsed)) return *answer;
  const replay_options& options = std::get<replay_options>(parsed);

  std::string error;
  const interrupt_watch stop;
  std::optional<capture> from = capture::open(options.file, error);
  if (!from && stop.asked()) return refused(status_interrupted, "interrupted before the capture began");
  if (!from) return refused(status_input, error);
  std::vector<lane> lanes = lanes_of(options, error);
  if (lanes.size() != options.compared.size() + 1) return refused(status_usage, error);
  replay_loop& first = *lanes.front().loop;

  side_files beside;
  if (const std::string wrong = beside.open(options); !wrong.empty()) return refused(status_input, wrong);
  beside.listen_to(first);
  std::optional<replay_why> story;
  if (options.why) listen(story.emplace(*options.why, options.box), first);
  blind_spots blind;
  first.watch = &blind;

  reading read = read_through(*from, options, stop, lanes, blind);
  if (read.broken) return refused(status_broken, *read.broken);
  if (read.ended == capture::got::bad && !read.interrupted) return refused(status_input, from->message());
  const instant ends = read.last;
  if (options.at) {
    pass_time(lanes, ends, *options.at, stop);
    if (stop.asked()) return refused(status_interrupted, "interrupted before --at was reached");
    read.last = *options.at;
    for (const lane& each : lanes) each.box->advance(read.last);
  }
  replay_sums& sums = first.finish();
  std::vector<compared_sums> compared;
  for (usize i = 1; i < lanes.size(); ++i) compared.push_back({lanes[i].name, lanes[i].loop->finish()});
  if (const auto law = contradiction_in(lanes, read.taken)) return refused(status_broken, *law);
  sums.seconds = from->seconds();
  sums.interrupted = read.interrupted;
  sums.left_out = read.left_out;
  sums.left_out_bytes = read.left_out_bytes;
  sums.cannot_tell = blind.found({from->went_back(), from->set_back(), from->set_back_seconds(), sums.seconds == 0 ? from->frames() : 0});
  add_warnings(sums, *from, read);
  if (options.nat_of && read.left_out == 0) sums.warnings.emplace_back("--nat-of: no frame was seen on both sides of that address");
  if (options.at && ends < *options.at && read.ended != capture::got::frame)
    sums.warnings.push_back(fmt::format("the capture ends {:.3f} s after its first frame, before --at", static_cast<double>(ends.us) / 1e6));

  const auto page = [&] {
    return report_html(report_json(sums, compared, options), report_text(sums, compared, options, {}), options);
  };
  outcome answer{read.interrupted ? status_interrupted : status_done, {}, {}};
  // The report took as long to make as what could not be written beside it.
  if (std::string wrong = beside.keep(read.last, page); !wrong.empty()) answer = refused(status_input, std::move(wrong));
  if (story)
    answer.out = options.json ? story->json(read.last) : story->text(read.last);
  else
    answer.out = options.json ? report_json(sums, compared, options) : report_text(sums, compared, options, screen_of(stdout));
  for (const std::string& warning : sums.warnings) answer.complaints.push_back("warning: " + warning);
  return answer;
}

}  // namespace octep::tools
