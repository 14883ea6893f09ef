// Traffic of many flows at once, in the order of virtual time.
//
// What it is: sources of datagrams and their answers, merged by a heap of their next instants, sent into one appliance. A frame
// costs no event of the appliance's queue: scenarios with strangers send a hundred thousand of them a run.
// What it refuses: TCP, loss, congestion. What is measured is when a connection is made.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include "sim/appliance.hpp"

namespace octep::sim::scenarios {

enum class pace : u8 {
  together,  // in rounds: one program sends to each of its flows in turn, and its timer is late for all of them alike
  even,      // strictly periodic
  varied,    // once in each period, anywhere in it
  loose,     // each gap between half and one and a half of the period
};

struct traffic {
  tuple4 opener;
  instant begins;
  microseconds period = drive_period;
  pace how = pace::together;
  bool answered = true;
  bool translated = false;  // the answer arrives as the firewall says
  u64 exchanges = ~u64{0};
  u64 opening = 0;  // so many of them first at drive_period, together
  // Where set, every exchange is a tuple of its own.
  std::function<tuple4()> fresh;
};

class driver {
 public:
  driver(appliance& box, u64 seed) : box_{box}, seed_{seed}, random_{seed, 11} {}

  usize add(traffic t);
  // Its next exchange is its last.
  void stop(usize which) { sources_[which].stopped = true; }
  // Sends until `until`, or until `over` holds after a frame. False: time is up.
  bool run(instant until, const std::function<bool()>& over = {});

 private:
  struct sender {
    traffic plan;
    bool stopped = false;
  };
  struct due {
    instant at;
    u64 order;
    usize which;
    u64 exchange;  // ~0: the answer of the last one

    [[nodiscard]] bool operator>(const due& b) const noexcept { return b.at == at ? order > b.order : b.at < at; }
  };
  static constexpr u64 answer = ~u64{0};

  [[nodiscard]] instant time_of(const traffic& t, u64 exchange, instant now);
  void send(const traffic& t, u32 direction, const tuple4& opener, instant now);

  appliance& box_;
  u64 seed_;
  generator random_;
  std::vector<sender> sources_;
  std::priority_queue<due, std::vector<due>, std::greater<>> queue_;
  u64 order_ = 0;
};

}  // namespace octep::sim::scenarios
