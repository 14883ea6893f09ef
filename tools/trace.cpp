#include "tools/trace.hpp"

#include "tools/tuple_text.hpp"

#include <fmt/format.h>

namespace octep::tools {
namespace {

constexpr u64 counter_us = 10'000;

std::string tuple_of(const event& e) { return to_text(sim::tuple_of(e)); }

u64 key_of(const handle& h) { return u64{h.index} << 16 | h.revision; }

// A span on a track. Names are of our own alphabet: nothing needs escaping.
std::string span_of(u32 track, const std::string& name, instant from, instant to, const std::string& args = {}) {
  return fmt::format(R"({{"ph":"X","pid":1,"tid":{},"name":"{}","ts":{},"dur":{}{}}})", track, name, from.us, to.since(from).count,
                     args.empty() ? "" : fmt::format(R"(,"args":{{{}}})", args));
}

// A connection's span has an id of its own, and so has a hold's, so that any number of them may overlap.
std::string with_id(char phase, const char* category, u64 key, const std::string& name, instant at, const std::string& args = {}) {
  return fmt::format(R"({{"ph":"{}","pid":1,"tid":0,"cat":"{}","id":"{:x}","name":"{}","ts":{}{}}})", phase, category, key, name, at.us,
                     args.empty() ? "" : fmt::format(R"(,"args":{{{}}})", args));
}

std::string of_connection(char phase, u64 key, const std::string& name, instant at, const std::string& args = {}) {
  return with_id(phase, "connection", key, name, at, args);
}

std::string mark(u32 track, const std::string& name, instant at, const std::string& args) {
  return fmt::format(R"({{"ph":"i","s":"t","pid":1,"tid":{},"name":"{}","ts":{},"args":{{{}}}}})", track, name, at.us, args);
}

}  // namespace

trace::trace(output_file& to) : to_{&to} {
  to.write("[");
  put(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"octep"}})");
  name_track(polls, "polls");
  name_track(runs, "runs");
  name_track(commands, "commands");
  name_track(refusals, "not made");
}

void trace::put(const std::string& object) {
  to_->write(first_ ? "\n" : ",\n");
  first_ = false;
  to_->write(object);
}

void trace::name_track(u32 id, const char* name) {
  put(fmt::format(R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_name","args":{{"name":"{1}"}}}})", id, name));
  put(fmt::format(R"({{"ph":"M","pid":1,"tid":{0},"name":"thread_sort_index","args":{{"sort_index":{0}}}}})", id));
}

void trace::counters(instant at) {
  if (!moved_) return;
  put(fmt::format(R"({{"ph":"C","pid":1,"name":"frames","ts":{},"args":{{"forwarded":{},"punted":{}}}}})", tick_.us, forwarded_,
                  punted_));
  // Silence is a value too: without it the last one would stand until the next frame.
  if (tick_.us + counter_us < at.us / counter_us * counter_us)
    put(fmt::format(R"({{"ph":"C","pid":1,"name":"frames","ts":{},"args":{{"forwarded":0,"punted":0}}}})", tick_.us + counter_us));
  forwarded_ = punted_ = 0;
  moved_ = false;
}

void trace::frame(bool forwarded, instant at) {
  const instant tick{at.us / counter_us * counter_us};
  if (!(tick == tick_)) counters(at);
  tick_ = tick;
  moved_ = true;
  ++(forwarded ? forwarded_ : punted_);
}

void trace::hear(const event& e) {
  const u64 key = key_of(e.connection);
  const auto on_connection = [&](const char* what) {
    if (const auto of = held_.find(key); of != held_.end()) put(of_connection('n', key, what, e.at));
  };
  switch (e.kind) {
    case event_kind::poll_begins: in_poll_ = true, poll_began_ = e.at; break;
    case event_kind::poll_ends:
      if (in_poll_) put(span_of(polls, "poll", poll_began_, e.at));
      in_poll_ = false;
      break;
    case event_kind::run_begins: in_run_ = true, run_began_ = e.at; break;
    case event_kind::run_ends:
      if (in_run_) put(span_of(runs, "run", run_began_, e.at));
      in_run_ = false;
      break;
    case event_kind::command_posted: posted_ = e.what, posted_at_ = e.at; break;
    case event_kind::command_answered:
      if (posted_ == command_kind::none) break;
      put(span_of(commands, name(posted_), posted_at_, e.at,
                  fmt::format(R"("answer":"{}")", e.code == answer_code::done ? "done" : "refused")));
      posted_ = command_kind::none;
      break;
    case event_kind::made:
      held_[key] = tuple_of(e);
      put(of_connection('b', key, held_[key], e.at));
      break;
    case event_kind::taken_out:
      if (const auto of = held_.find(key); of != held_.end()) {
        put(of_connection('e', key, of->second, e.at, fmt::format(R"("why":"{}")", name(e.why))));
        held_.erase(of);
      }
      break;
    case event_kind::given_back: on_connection("given back"); break;
    case event_kind::revived: on_connection("revived"); break;
    case event_kind::attached: on_connection("attached"); break;
    case event_kind::repointed: on_connection("repointed"); break;
    case event_kind::refused:
      put(mark(refusals, name(e.why), e.at, fmt::format(R"("tuple":"{}","frames":{})", tuple_of(e), e.count)));
      break;
    case event_kind::held_back:
      ++holds_;
      put(with_id('b', "hold", holds_, tuple_of(e), e.at, fmt::format(R"("why":"{}","level":{})", name(e.why), e.count)));
      put(with_id('e', "hold", holds_, tuple_of(e), e.until));
      break;
    case event_kind::discarded:
    case event_kind::far_side_reset: {
      for (const auto& [of, tuple] : held_) put(of_connection('e', of, tuple, e.at, fmt::format(R"("why":"{}")", name(e.kind))));
      held_.clear();
      break;
    }
    default: break;
  }
}

void trace::finish(instant at) {
  counters(at);
  if (in_poll_) put(span_of(polls, "poll", poll_began_, at));
  if (in_run_) put(span_of(runs, "run", run_began_, at));
  for (const auto& [key, tuple] : held_) put(of_connection('e', key, tuple, at));
  held_.clear();
  to_->write("\n]\n");
}

}  // namespace octep::tools
