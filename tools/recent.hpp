// Values by key, of the keys that came last: a fixed table of sets. A full set forgets what it was told first.
//
// What it refuses: growing. What that buys: memory that no capture can choose.
// Concurrency: one thread.
#pragma once

#include <octep/base.hpp>

#include <vector>

namespace octep::tools {

// `hash` is the key's, each time the same.
template <class Key, class Value, usize Sets, usize Ways>
class recent {
 public:
  // Null: never told, or forgotten. Until the next `put`.
  [[nodiscard]] const Value* find(u64 hash, const Key& key) const {
    for (const entry& e : sets_[hash % Sets].entries)
      if (e.used && e.key == key) return &e.value;
    return nullptr;
  }
  void put(u64 hash, const Key& key, const Value& value) {
    set& s = sets_[hash % Sets];
    for (entry& e : s.entries)
      if (e.used && e.key == key) {
        e.value = value;
        return;
      }
    s.entries[s.next++ % Ways] = {key, value, true};
  }

 private:
  struct entry {
    Key key{};
    Value value{};
    bool used = false;
  };
  struct set {
    entry entries[Ways];
    u32 next = 0;  // whose place is taken next
  };

  std::vector<set> sets_ = std::vector<set>(Sets);
};

}  // namespace octep::tools
