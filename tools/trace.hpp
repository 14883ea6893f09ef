// A replay as a trace: Chrome's trace-event JSON, which Perfetto and chrome://tracing show as tracks over time.
//
//   track         what stands on it
//   frames        two counters, forwarded and punted, each 10 ms in which one of them moved
//   polls, runs   from begin to end
//   commands      from post to answer, with its kind and what was answered
//   connections   one span each from made to taken out, by its tuple; give-backs, revives, attaches and repoints on it
//   not made      a mark each refused attempt, with its reason
//   holds         one span each, by its tuple, from the hold's begin to when its wait is over
//
// The array form, an event a line: its reader does without the closing bracket, so what a killed replay left behind is a trace too.
// Times are microseconds since the capture's first frame. What it refuses: memory. Every event is written as it comes, but for
// the counters of the 10 ms at hand and the spans that are open.
// Concurrency: one thread.
#pragma once

#include "tools/output_file.hpp"

#include <octep/events.hpp>

#include <map>
#include <string>

namespace octep::tools {

class trace {
 public:
  // Writes the head. `to` outlives it.
  explicit trace(output_file& to);

  void frame(bool forwarded, instant at);
  void hear(const event& e);
  // Ends what is open at `at`, and the array: the JSON is whole.
  void finish(instant at);

 private:
  enum track : u32 { polls = 1, runs, commands, refusals };

  void put(const std::string& object);
  void name_track(u32 id, const char* name);
  void counters(instant at);

  output_file* to_;
  bool first_ = true;
  instant tick_;
  bool moved_ = false;
  u64 forwarded_ = 0;
  u64 punted_ = 0;
  instant poll_began_, run_began_, posted_at_;
  bool in_poll_ = false, in_run_ = false;
  u64 holds_ = 0;
  command_kind posted_ = command_kind::none;
  std::map<u64, std::string> held_;  // by index and revision: the tuple of what is in hardware
};

}  // namespace octep::tools
