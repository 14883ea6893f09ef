// What 1,022, 65,536 and 2,000,000 connections cost: memory by part, filling, taking out and making, deadlines.
//
//   scale_bench [--quick] [--json]
//
// The tables alone, over memory brought from outside, as the engine uses them; nanoseconds are of this machine and this
// minute. What one command channel sustains is arithmetic: 25 us a command, at most three for a make and three for a take-out.
// --quick: without 2,000,000. --json: the same rows, for programs.
#include <octep/deadlines.hpp>
#include <octep/octep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace octep;

class block {
 public:
  explicit block(usize bytes) : bytes_{bytes}, at_{::operator new(bytes, align)} {}
  ~block() { ::operator delete(at_, align); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  [[nodiscard]] arena cut() const { return {at_, bytes_}; }

 private:
  static constexpr std::align_val_t align{arena::alignment};
  usize bytes_;
  void* at_;
};

// Nanoseconds of each of `count` calls, and of the longest.
struct timed {
  double each = 0;
  double longest = 0;
};
template <class F>
timed time_calls(u32 count, F&& call) {
  using clock = std::chrono::steady_clock;
  const auto ns = [](clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); };
  timed t;
  const auto start = clock::now();
  auto last = start;
  for (u32 i = 0; i < count; ++i) {
    call(i);
    const auto now = clock::now();
    t.longest = std::max(t.longest, ns(now - last));
    last = now;
  }
  t.each = ns(last - start) / count;
  return t;
}

class rows {
 public:
  rows(u32 capacity, bool json) : capacity_{capacity}, json_{json} {}
  void add(std::string_view name, double value, std::string_view unit) {
    if (json_)
      text_ += fmt::format("{}{{\"held\":{},\"row\":\"{}\",\"value\":{:.1f},\"unit\":\"{}\"}}", text_.empty() ? "" : ",\n",
                           capacity_, name, value, unit);
    else
      text_ += fmt::format("{:>9}  {:<40} {:>16.1f} {}\n", capacity_, name, value, unit);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  u32 capacity_;
  bool json_;
  std::string text_;
};

std::string measure(u32 capacity, bool json) {
  rows out{capacity, json};
  using hot_cell = hot_table<>::cell;
  const usize buckets = hot_table<>::buckets_for(capacity);
  const auto bytes = [&](std::string_view name, usize n) {
    out.add(name, static_cast<double>(n), "bytes");
    out.add(std::string{name} + ", a connection", static_cast<double>(n) / capacity, "bytes");
  };
  bytes("connections, IPv4 only", connections::bytes_for(capacity, false));
  bytes("connections, with IPv6", connections::bytes_for(capacity, true));
  bytes("hot table", arena::bytes_for<hot_cell>(buckets));
  bytes("deadlines", deadlines::bytes_for(capacity));

  const block table_memory{connections::bytes_for(capacity, false)};
  const block queue_memory{deadlines::bytes_for(capacity)};
  connections table;
  deadlines queue;
  hot_table<> hot;
  arena from = table_memory.cut();
  arena from_queue = queue_memory.cut();
  const auto cells = std::make_unique<hot_cell[]>(buckets);
  hot.init({cells.get(), buckets});
  if (!table.init(from, capacity, false) || !queue.init(from_queue, capacity)) std::abort();

  const keyed_mix mix;
  std::mt19937_64 random{capacity};
  const auto make = [&](u32) {
    const tuple4 t = tuple4::make(static_cast<u32>(random()), static_cast<u32>(random()), static_cast<u32>(random()),
                                  protocol::tcp);
    const tuple4 back = reverse(t);
    const u32 hash[2] = {mix(t), mix(back)};
    const u32 index = table.allocate<tuple4>({t, back}, hash[0], hash[1]);
    if (index == connections::none) std::abort();
    hot.add(hash[0]);
    hot.add(hash[1]);
    queue.set(index, {random() % from_s(86'400).count});
  };
  const auto take_out = [&](u32 index) {
    hot.remove(table.hash_of(index, 0));
    hot.remove(table.hash_of(index, 1));
    table.release(index);
    queue.drop(index);
  };
  const auto both = [&](std::string_view name, timed t) {
    out.add(name, t.each, "ns");
    out.add(std::string{name} + ", longest", t.longest, "ns");
  };
  both("fill: one connection", time_calls(capacity, make));

  u32 perhaps = 0;
  constexpr u32 strangers = 1'000'000;
  for (u32 i = 0; i < strangers; ++i) perhaps += hot.perhaps(static_cast<u32>(random()));
  out.add("strangers that read as perhaps held", 100.0 * perhaps / strangers, "percent");

  const u32 pairs = std::min(capacity, 200'000U);
  both("churn: a take-out and a make", time_calls(pairs, [&](u32 i) {
         take_out(static_cast<u32>(random() % capacity));
         make(i);
       }));
  both("a deadline comes and is set again", time_calls(pairs, [&](u32) {
         const instant at = queue.next();
         queue.set(queue.pop_due(at), at + from_s(43'200));
       }));

  constexpr double command_us = 25;  // coprocessor.md
  out.add("fill through one channel, three commands each", capacity * 3 * command_us / 1e6, "s");
  out.add("taken out and made, at most", 1e6 / (6 * command_us), "pairs/s");
  return out.text();
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option{argv[i]};
    if (option == "--quick") {
      quick = true;
    } else if (option == "--json") {
      json = true;
    } else {
      fmt::print(stderr, "scale_bench [--quick] [--json]\n");
      return 2;
    }
  }
  std::string text;
  for (const u32 capacity : {1'022U, 65'536U, 2'000'000U})
    if (!quick || capacity < 1'000'000) text += (json && !text.empty() ? ",\n" : "") + measure(capacity, json);
  if (json)
    fmt::print("{{\"rows\":[{}]}}\n", text);
  else
    fmt::print("{}", text);
  return 0;
}
