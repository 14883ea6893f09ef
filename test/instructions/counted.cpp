// counted WHAT: does one thing to the engine a thousand times, inside calls of `measured`, whose instructions a tool counts.
//
// What a clock on a shared machine cannot hold, a count of instructions can: it is the same each time. It covers the engine
// with the default design as a kernel has it, and a world that answers at once. counted.py runs it and knows the figures.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/bench_engine.hpp"

// With all that it calls, the only function that is counted.
extern "C" [[gnu::noinline]] void measured(void (*once)(void*), void* with) { once(with); }

namespace octep::bench {
namespace {

constexpr u32 times = 1'000;

template <class F>
void count(F once) {
  measured([](void* f) { (*static_cast<F*>(f))(); }, &once);
}

// Neighbouring hosts and ports towards one server.
std::vector<frame_bytes> frames_of(u32 flows) {
  std::vector<frame_bytes> all;
  for (u32 i = 0; i < flows; ++i) {
    const u32 ports = join_ports(port_word(static_cast<u16>(40'000 + i)), port_word(443));
    all.push_back(frame_of(tuple4::make(0x0a | (i / 7) << 8, 0x0700'63c6, ports, protocol::tcp)));
  }
  return all;
}

void punt(bench_engine& core, const frame_bytes& f, u16 port) {
  core.pass(12);
  (void)core->punt(0, {f.bytes, sizeof f.bytes, sizeof f.bytes}, {identity::make(7, 1), port, {}}, core.now());
}

// A frame whose tuple the table holds: nearly every frame.
void punt_known() {
  bench_engine core;
  const auto frames = frames_of(64);
  for (const frame_bytes& f : frames) punt(core, f, 1);
  for (u32 i = 0; i < times; ++i) count([&] { punt(core, frames[i % 64], 1); });
}

// A stranger's, where everybody in the slot waits to be read: the dearest choice.
void punt_stranger() {
  bench_engine core;
  const auto frames = frames_of(9'000);
  for (u32 i = 0; i < 8'000; ++i) punt(core, frames[i], 1);
  for (u32 i = 0; i < times; ++i) count([&] { punt(core, frames[8'000 + i], 1); });
}

// A poll that finds nothing.
void walk_quiet() {
  bench_engine core;
  for (u32 i = 0; i < times; ++i) {
    core.pass(1'000'000);
    count([&] { core.poll(); });
  }
}

// A poll that finds 256 candidates of which the firewall knows nothing.
void walk_of_refusals() {
  bench_engine core;
  const auto frames = frames_of(256);
  for (u32 i = 0; i < times; ++i) {
    for (const frame_bytes& f : frames) punt(core, f, 1);
    core.pass(1'000'000);
    count([&] { core.poll(); });
  }
}

// A poll that makes one connection: two candidates read, the commands and their answers. The walk is in it.
void make() {
  bench_engine core;
  core.let_firewall_know(true);
  const auto frames = frames_of(times);
  for (const frame_bytes& opener : frames) {
    frame_bytes responder = opener;
    std::swap_ranges(responder.bytes + 26, responder.bytes + 30, responder.bytes + 30);
    std::swap_ranges(responder.bytes + 34, responder.bytes + 36, responder.bytes + 36);
    punt(core, opener, 1);
    punt(core, responder, 2);
    core.pass(1'000'000);
    count([&] { core.poll(); });
  }
  if (core->table().held() != times) {
    std::fprintf(stderr, "counted: %u connections were made, not %u\n", core->table().held(), times);
    std::exit(1);
  }
}

struct choice {
  const char* name;
  void (*run)();
};
constexpr choice choices[] = {{"punt_known", punt_known},
                              {"punt_stranger", punt_stranger},
                              {"walk_quiet", walk_quiet},
                              {"walk_of_256_refusals", walk_of_refusals},
                              {"make", make}};

}  // namespace
}  // namespace octep::bench

int main(int argc, char** argv) {
  for (const auto& c : octep::bench::choices)
    if (argc == 2 && std::strcmp(argv[1], c.name) == 0) return c.run(), 0;
  std::fputs("usage: counted punt_known|punt_stranger|walk_quiet|walk_of_256_refusals|make\n", stderr);
  return 2;
}
