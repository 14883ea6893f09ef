#include "bench/dpdk/dpdk.hpp"

#include <cstdlib>
#include <memory>
#include <sched.h>

#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_jhash.h>
#include <rte_thash.h>

#include "bench/remembered.hpp"
#include "bench/rivals.hpp"

namespace octep::bench {
namespace {

void begin_dpdk() {
  static const bool begun = [] {
    // No huge pages, no devices, nothing left in the file system.
    std::vector<std::string> words{"octep_bench", "--no-huge",     "--no-shconf", "--no-pci", "-m",
                                   "2048",        "--no-telemetry", "--log-level=3", "--lcores", "0"};
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    // It binds the thread to a core; nobody else here is bound.
    cpu_set_t before;
    CPU_ZERO(&before);
    const bool known = sched_getaffinity(0, sizeof before, &before) == 0;
    const bool done = rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
    return done && (!known || sched_setaffinity(0, sizeof before, &before) == 0);
  }();
  if (!begun) {
    std::fputs("octep_bench: DPDK does not start on this machine\n", stderr);
    std::exit(1);
  }
}

class rte_map {
 public:
  explicit rte_map(u32 entries) {
    begin_dpdk();
    static u32 number = 0;
    const std::string name = "octep" + std::to_string(number++);
    rte_hash_parameters p{};
    p.name = name.c_str();
    p.entries = std::max(entries, 64U);
    p.key_len = sizeof(tuple4);
    p.hash_func = rte_jhash;  // never asked: every call brings the hash
    table_ = rte_hash_create(&p);
    if (table_ == nullptr) {
      std::fputs("octep_bench: no memory for rte_hash\n", stderr);
      std::exit(1);
    }
  }
  rte_map(const rte_map&) = delete;
  rte_map& operator=(const rte_map&) = delete;
  ~rte_map() { rte_hash_free(table_); }

  // A position, the same for as long as the key is there.
  [[nodiscard]] u32 put(const tuple4& t) const {
    const i32 at = rte_hash_add_key_with_hash(table_, &t, mix_(t));
    if (at < 0) std::abort();
    return static_cast<u32>(at);
  }
  [[nodiscard]] i32 find(const tuple4& t) const { return rte_hash_lookup_with_hash(table_, &t, mix_(t)); }
  void find_all(std::span<const tuple4> asked, i32* positions) const {
    const void* keys[32];
    hash_sig_t hashes[32];
    for (usize i = 0; i < asked.size(); ++i) {
      keys[i] = &asked[i];
      hashes[i] = mix_(asked[i]);
    }
    rte_hash_lookup_with_hash_bulk(table_, keys, hashes, static_cast<u32>(asked.size()), positions);
  }
  // Positions may be as many as entries and one, and more with caches of several cores; one is used here.
  [[nodiscard]] static usize positions_of(u32 entries) { return usize{entries} + 1'024; }

 private:
  rte_hash* table_;
  keyed_mix mix_{hash_key};
};

}  // namespace

lap dpdk_write(const stream& s) {
  struct state {
    explicit state(u32 flows) : map{flows * 2}, records(rte_map::positions_of(flows * 2)) {}
    exchange_lock lock;
    rte_map map;
    std::vector<remembered> records;
    u64 sent = 0;
  };
  const auto it = std::make_shared<state>(static_cast<u32>(s.flows().size()));
  arrival frame;
  frame.who = identity::make(7, 1);
  frame.where = {1, 0};
  for (const tuple4& t : s.flows()) it->records[it->map.put(t)].take(t.proto, frame, 4, false);
  return [it, &s, frame](u64 turn) mutable {
    u64 sum = 0;
    for (const tuple4& t : s.window(turn)) {
      frame.at = tick{static_cast<u32>(it->sent++ >> 6)};
      it->lock.lock();
      remembered& r = it->records[it->map.put(t)];
      sum += sum_of(r.take(t.proto, frame, due_log2, r.state != 0));
      it->lock.unlock();
    }
    return sum;
  };
}

dpdk_look_up dpdk_hold(u32 connections) {
  struct state {
    explicit state(u32 entries) : map{entries}, names(rte_map::positions_of(entries)) {}
    rte_map map;
    std::vector<u32> names;
    [[nodiscard]] u32 name_at(i32 position) const { return position < 0 ? ~u32{0} : names[static_cast<usize>(position)]; }
  };
  const auto it = std::make_shared<state>(connections * 2 + connections / 2);  // a full bucket refuses: some room
  for (u32 i = 0; i < connections; ++i) {
    it->names[it->map.put(flow_of(i, 1))] = i * 2;
    it->names[it->map.put(reverse(flow_of(i, 1)))] = i * 2 + 1;
  }
  return {[it](const stream& asked) -> lap {
            return [it, &asked](u64 turn) {
              u64 sum = 0;
              for (const tuple4& t : asked.window(turn)) sum += it->name_at(it->map.find(t));
              return sum;
            };
          },
          [it](const stream& asked) -> lap {
            return [it, &asked](u64 turn) {
              u64 sum = 0;
              i32 positions[32];
              const auto window = asked.window(turn);
              for (usize at = 0; at < window.size(); at += 32) {
                it->map.find_all(window.subspan(at, 32), positions);
                for (const i32 p : positions) sum += it->name_at(p);
              }
              return sum;
            };
          }};
}

lap dpdk_jhash(const std::vector<tuple4>& over, u32 times) {
  return [&over, times](u64) {
    u64 sum = 0;
    for (u32 i = 0; i < times; ++i) {
      for (const tuple4& t : over) sum += rte_jhash(&t, sizeof t, 1) >> 26;
      asm volatile("" : : : "memory");
    }
    return sum;
  };
}

lap dpdk_toeplitz(const std::vector<tuple4>& over, u32 times) {
  static constexpr u8 key[40] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67};  // any key: only time counts
  return [&over, times](u64) {
    u64 sum = 0;
    for (u32 i = 0; i < times; ++i) {
      for (const tuple4& t : over) {
        u32 words[3] = {t.source, t.destination, t.ports};
        sum += rte_softrss_be(words, 3, key) >> 26;
      }
      asm volatile("" : : : "memory");
    }
    return sum;
  };
}

}  // namespace octep::bench
