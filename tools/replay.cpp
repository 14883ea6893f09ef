#include "tools/replay.hpp"

#include "tools/capture.hpp"
#include "tools/connections_csv.hpp"
#include "tools/interrupt.hpp"
#include "tools/progress.hpp"
#include "tools/replay_loop.hpp"
#include "tools/replay_why.hpp"
#include "tools/text.hpp"
#include "tools/trace.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace octep::tools {
namespace {

const char* const not_modelled =
    "Give-backs for repeated acknowledgements: a replay reads the flags of TCP, not its numbers, so a lossy download shows more "
    "forwarded frames than a box would. FIN, SYN, RST and the firewall's timers end connections as they do there.";

void add_warnings(replay_sums& sums, const capture& from, bool cut) {
  const auto warn = [&](u64 n, const char* one, const char* more) {
    if (n == 1) sums.warnings.push_back(fmt::format("one {}", one));
    if (n > 1) sums.warnings.push_back(fmt::format("{} {}", grouped(n), more));
  };
  if (cut) sums.warnings.push_back(from.message());
  warn(from.went_back(), "frame is stamped earlier than the one before it, and counts at that one's time",
       "frames are stamped earlier than one before them, and count at that one's time");
  warn(from.overlong(), "record holds more bytes than it says the frame had; the rest is not looked at",
       "records hold more bytes than they say their frames had; the rest is not looked at");
  warn(sums.not_candidate[static_cast<usize>(reason::truncated)],
       "frame was not captured with its whole headers; a longer snap length keeps them",
       "frames were not captured with their whole headers; a longer snap length keeps them");
}

// What a replay writes beside its report, if it was asked to.
class side_files {
 public:
  // Empty: what was asked for is open.
  [[nodiscard]] std::string open(const replay_options& options) {
    std::string error;
    if (!options.trace.empty() && !(trace_file_ = output_file::create(options.trace, error))) return "--trace " + error;
    if (!options.csv.empty() && !(csv_file_ = output_file::create(options.csv, error))) return "--csv " + error;
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
  // Empty: all of it is written.
  [[nodiscard]] std::string keep(instant end) {
    std::string error;
    if (trace_) trace_->finish(end);
    if (trace_file_ && !trace_file_->keep(error)) return "--trace " + error;
    if (csv_file_ && !csv_file_->keep(error)) return "--csv " + error;
    return {};
  }

 private:
  std::optional<output_file> trace_file_, csv_file_;
  std::optional<trace> trace_;
  std::optional<connections_csv> csv_;
};

}  // namespace

const char* what_is_not_modelled() noexcept { return not_modelled; }

outcome replay_command(const arguments& given) {
  auto parsed = parse_replay_options(given);
  if (const outcome* const answer = std::get_if<outcome>(&parsed)) return *answer;
  const replay_options& options = std::get<replay_options>(parsed);

  std::string error;
  std::optional<capture> from = capture::open(options.file, error);
  if (!from) return refused(status_input, error);
  const std::unique_ptr<sim::appliance> box = sim::appliance::make(options.box, error);
  if (!box) return refused(status_usage, error);

  side_files beside;
  if (const std::string wrong = beside.open(options); !wrong.empty()) return refused(status_input, wrong);
  replay_loop through{*box, options.box.nat};
  beside.listen_to(through);
  std::optional<replay_why> story;
  if (options.why) {
    story.emplace(*options.why);
    through.on_event = [&story, also = through.on_event](const event& e) {
      story->hear(e);
      if (also) also(e);
    };
    through.on_tuple = [&story](const sim::wide_tuple& t, bool forwarded) { story->frame(t, forwarded); };
  }
  const interrupt_watch stop;
  progress bar{stderr, from->size()};
  captured_frame frame;
  capture::got got = capture::got::end;
  instant last;
  u64 taken = 0;
  while (!stop.asked() && (got = from->next(frame)) == capture::got::frame) {
    if (options.at && *options.at < frame.at) break;
    through.take(frame);
    ++taken;
    last = frame.at;
    bar.at(from->frames(), from->position());
    // The models' laws take time to ask, so they are asked at every doubling.
    if (!is_power_of_two(taken)) continue;
    if (const auto law = through.contradicts(taken)) return refused(status_broken, "octep contradicts itself: " + *law);
  }
  bar.clear();
  // A read that waited for a pipe was broken off, which libpcap takes for an error of the file.
  const bool interrupted = stop.asked();
  if (got == capture::got::bad && !interrupted) return refused(status_input, from->message());

  if (options.at) {
    last = *options.at;
    box->advance(last);
  }
  replay_sums& sums = through.finish();
  if (const auto law = through.contradicts(taken)) return refused(status_broken, "octep contradicts itself: " + *law);
  sums.seconds = from->seconds();
  sums.interrupted = interrupted;
  if (interrupted) sums.warnings.push_back("interrupted: this is the report of what was read until then");
  add_warnings(sums, *from, got == capture::got::cut && !interrupted);
  if (const std::string wrong = beside.keep(last); !wrong.empty()) return refused(status_input, wrong);
  const int status = interrupted ? status_interrupted : status_done;
  if (story) return {status, options.json ? story->json(last) : story->text(last), {}};
  outcome answer{status, options.json ? report_json(sums, options) : report_text(sums, options), {}};
  for (const std::string& warning : sums.warnings) answer.complaints.push_back("warning: " + warning);
  return answer;
}

}  // namespace octep::tools
