// An atomics policy that asks before every access, and a scheduler that answers in every possible way.
//
// `explore` runs a few small threads of a scenario again and again, each time in another order of their accesses, until
// it has been through all of them: a depth-first walk over the choices "who goes next". One thread runs at a time
// (ucontext fibers), so the orders are sequentially consistent ones, the same on every run, and a failure names its
// schedule.
//
// Two faults can be switched on, to see that a test would notice:
//   try_always_succeeds   compare_exchange takes what is not there: a word that keeps nobody out
//   release_runs_ahead    what is written to guarded values becomes visible to other threads one step AFTER the next
//                         store_release: the reordering that the release forbids
//
// Rules for scenarios: bodies are finite whatever the order (no waiting loops), throw nothing, and are the same every
// time they are run. Not for use under ThreadSanitizer, which knows no fibers: real threads are for that.
#pragma once

#include <octep/atomic.hpp>

#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define OCTEP_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OCTEP_TEST_ASAN 1
#endif
#endif
#if defined(OCTEP_TEST_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

namespace octep::test {

enum class atomics_fault { none, try_always_succeeds, release_runs_ahead };

// The threads of one run and whose turn it is. One explorer at a time in a process.
class scheduler {
 public:
  using body = std::function<void()>;

  // Called by cells and guarded values before every access. Outside of a run it does nothing: set-up and checks are not
  // scheduled.
  static void ask() {
    if (running_ != nullptr) running_->turn();
  }

  // Writes of the running thread that other threads do not see yet (release_runs_ahead).
  static std::vector<std::pair<void*, body>>* pending() {
    return running_ == nullptr ? nullptr : &running_->threads_[running_->current_].unseen;
  }
  // They become visible at the thread's next access, or when it ends: after a store_release that should have waited.
  static void show_later() {
    if (running_ != nullptr) running_->threads_[running_->current_].show_at_next = true;
  }

  // Runs the bodies in the order that `path` says, and beyond it always the first possibility. Appends what it met.
  struct step {
    unsigned taken;
    unsigned possible;
  };
  void run(const std::vector<body>& bodies, std::vector<step>& path) {
    path_ = &path;
    met_ = 0;
    // Before the first thread is entered: none of them may move in memory afterwards.
    if (threads_.empty()) threads_ = std::vector<thread>(bodies.size());
    if (threads_.size() != bodies.size()) std::abort();
    alive_ = bodies.size();
    for (std::size_t i = 0; i < bodies.size(); ++i) threads_[i].start(bodies[i]);
    running_ = this;
    current_ = bodies.size();
    // A thread that ends comes back here; the next is chosen among those that are left.
    while (alive_ > 0) {
      const std::size_t next = choose(bodies.size());
      current_ = next;
      switch_from_main(threads_[next]);
    }
    running_ = nullptr;
  }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  struct thread {
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    const body* what = nullptr;
    bool done = true;
    bool entering = false;
    bool show_at_next = false;
    std::vector<std::pair<void*, body>> unseen;

    void start(const body& b) {
      what = &b;
      done = false;
      entering = true;
      show_at_next = false;
      unseen.clear();
      if (stack) return;  // it waits where its last body ended
      stack.reset(new char[stack_bytes]);
      getcontext(&context);
      context.uc_stack.ss_sp = stack.get();
      context.uc_stack.ss_size = stack_bytes;
      context.uc_link = nullptr;
      makecontext(&context, &scheduler::enter, 0);
    }
    void show() {
      for (auto& [where, write] : unseen) write();
      unseen.clear();
      show_at_next = false;
    }
  };

  // A thread's whole life: one body after the other, one for every run.
  static void enter() {
    entered();
    for (;;) {
      scheduler& s = *running_;
      thread& me = s.threads_[s.current_];
      (*me.what)();
      if (me.show_at_next) s.turn();
      me.done = true;
      --s.alive_;
      s.switch_to_main(me);
    }
  }

  // The running thread is about to access something: it goes on, or another has its turn first.
  void turn() {
    const std::size_t me = current_;
    // Who was just chosen to begin has its turn already.
    if (std::exchange(threads_[me].entering, false)) return;
    const std::size_t next = choose(threads_.size());
    if (next != me) {
      current_ = next;
      switch_between(threads_[me], threads_[next]);
    }
    if (threads_[me].show_at_next) threads_[me].show();
  }

  // The possibilities in a fixed order: the running thread first (it needs no switch), then the others by number.
  std::size_t choose(std::size_t threads) {
    possible_.clear();
    if (current_ < threads && !threads_[current_].done) possible_.push_back(current_);
    for (std::size_t i = 0; i < threads; ++i)
      if (i != current_ && !threads_[i].done) possible_.push_back(i);
    if (possible_.size() == 1) return possible_[0];
    if (met_ == path_->size()) path_->push_back({0, static_cast<unsigned>(possible_.size())});
    const step& s = (*path_)[met_++];
    if (s.possible != possible_.size()) {
      std::fprintf(stderr, "scheduler: a scenario is not the same every time it is run\n");
      std::abort();
    }
    return possible_[s.taken];
  }

#if defined(OCTEP_TEST_ASAN)
  // AddressSanitizer wants to hear of every stack that is left and entered. A scheduler enters its first thread from
  // the main stack, so the bounds of that one are known before anybody goes back to it.
  static void entered() {
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (!running_->left_main_) return;
    running_->main_bottom_ = bottom;
    running_->main_size_ = size;
  }
  void switch_from_main(thread& to) {
    left_main_ = true;
    go(main_, to.context, to.stack.get(), stack_bytes);
  }
  void switch_between(thread& from, thread& to) {
    left_main_ = false;
    go(from.context, to.context, to.stack.get(), stack_bytes);
  }
  void switch_to_main(thread& from) { go(from.context, main_, main_bottom_, main_size_); }
  static void go(ucontext_t& from, ucontext_t& to, const void* bottom, std::size_t size) {
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, bottom, size);
    swapcontext(&from, &to);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
  }
  const void* main_bottom_ = nullptr;
  std::size_t main_size_ = 0;
  bool left_main_ = false;
#else
  static void entered() {}
  void switch_from_main(thread& to) { swapcontext(&main_, &to.context); }
  void switch_to_main(thread& from) { swapcontext(&from.context, &main_); }
  void switch_between(thread& from, thread& to) { swapcontext(&from.context, &to.context); }
#endif

  inline static scheduler* running_ = nullptr;

  ucontext_t main_{};
  std::vector<thread> threads_;
  std::vector<std::size_t> possible_;
  std::vector<step>* path_ = nullptr;
  std::size_t met_ = 0;
  std::size_t current_ = 0;
  std::size_t alive_ = 0;
};

// What a scenario is made of: threads, and a check when all of them have ended. The check returns what is wrong, or
// nothing.
struct scenario {
  std::vector<scheduler::body> threads;
  std::function<std::string()> check;
};

struct exploration {
  u64 interleavings = 0;
  bool complete = false;  // every one of them
  u64 wrong = 0;
  std::string first_wrong;  // what was wrong, and the schedule: at each choice, which possibility
};

// `make` sets a fresh scenario up; it is called once for every interleaving. `stop_at_first`: enough to see that
// something is wrong.
template <class Make>
exploration explore(Make&& make, u64 limit, bool stop_at_first = true) {
  exploration result;
  scheduler runner;
  std::vector<scheduler::step> path;
  for (;;) {
    const scenario s = make();
    runner.run(s.threads, path);
    ++result.interleavings;
    if (const std::string wrong = s.check(); !wrong.empty()) {
      if (++result.wrong == 1) {
        result.first_wrong = wrong + " after schedule";
        for (const scheduler::step& at : path) result.first_wrong += ' ' + std::to_string(at.taken);
      }
      if (stop_at_first) return result;
    }
    while (!path.empty() && path.back().taken + 1 == path.back().possible) path.pop_back();
    if (path.empty()) {
      result.complete = true;
      return result;
    }
    ++path.back().taken;
    if (result.interleavings == limit) return result;
  }
}

// The policy. `WatchGuarded`: guarded values ask too, so that what happens under a word is torn apart as well; without
// it only the accesses of atomic cells are ordered, which are fewer by far.
template <atomics_fault Fault = atomics_fault::none, bool WatchGuarded = true>
struct scheduled_atomics {
  template <class T>
  class cell {
   public:
    constexpr cell() noexcept = default;
    constexpr explicit cell(T initial) noexcept : value_{initial} {}
    cell(const cell&) = delete;
    cell& operator=(const cell&) = delete;

    [[nodiscard]] T load_relaxed() const noexcept { return asked(); }
    [[nodiscard]] T load_acquire() const noexcept { return asked(); }
    void store_relaxed(T to) noexcept { asked() = to; }
    void store_release(T to) noexcept {
      asked() = to;
      if (Fault == atomics_fault::release_runs_ahead) scheduler::show_later();
    }
    [[nodiscard]] T exchange_acq_rel(T to) noexcept { return std::exchange(asked(), to); }
    [[nodiscard]] T exchange_acquire(T to) noexcept {
      // The fault: whoever tries is told that the cell was free, with nothing in it.
      const T was = std::exchange(asked(), to);
      return was == to && Fault == atomics_fault::try_always_succeeds ? T{} : was;
    }
    [[nodiscard]] bool compare_exchange_relaxed(T& expected, T desired) noexcept {
      T& value = asked();
      if (value != expected) {
        expected = value;
        return false;
      }
      value = desired;
      return true;
    }

   private:
    T& asked() const noexcept {
      scheduler::ask();
      return value_;
    }
    mutable T value_{};
  };

  // What a word guards (octep/slot_word.hpp).
  template <class T>
  class guarded_value {
   public:
    constexpr guarded_value() noexcept = default;
    guarded_value(const guarded_value&) = delete;
    operator T() const noexcept {
      if (WatchGuarded) scheduler::ask();
      if (Fault == atomics_fault::release_runs_ahead)
        if (auto* pending = scheduler::pending())
          for (auto it = pending->rbegin(); it != pending->rend(); ++it)
            if (it->first == this) return mine_;
      return value_;
    }
    guarded_value& operator=(T to) noexcept {
      if (WatchGuarded) scheduler::ask();
      if (Fault == atomics_fault::release_runs_ahead) {
        if (auto* pending = scheduler::pending()) {
          mine_ = to;
          pending->emplace_back(this, [this, to] { value_ = to; });
          return *this;
        }
      }
      value_ = to;
      return *this;
    }
    guarded_value& operator=(const guarded_value& from) noexcept { return *this = static_cast<T>(from); }

   private:
    T value_{};
    T mine_{};  // what its writer sees meanwhile; one writer at a time
  };

  template <class T>
  using guarded = guarded_value<T>;
};

static_assert(atomics_policy<scheduled_atomics<>>);

}  // namespace octep::test
