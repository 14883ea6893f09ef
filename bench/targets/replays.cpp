// P7: a replay against what only reads the same capture, and against what prints a line a frame of it.
//
// Processes, each from its start to its end, of one capture that this run generates and that is in the page cache. Where they
// are is known to whoever built this program (bench/CMakeLists.txt).
#include "bench/targets/targets.hpp"

#ifdef OCTEP_BENCH_OCTEP

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <spawn.h>

extern char** environ;

namespace octep::bench {
namespace {

constexpr u64 frames = 1'000'000;

// False: it could not be started, or did not end with status 0.
bool run(std::vector<std::string> words, const char* output = "/dev/null") {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, argv[0], &files, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  return started && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct capture_file {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("octep_bench_{}.pcap", getpid());
  ~capture_file() { std::filesystem::remove(path); }
};

}  // namespace

void measure_replays(report& out, const options& o) {
  const capture_file capture;
  if (!run({OCTEP_BENCH_GENERATE, "--frames", std::to_string(frames)}, capture.path.c_str())) {
    out.remark(fmt::format("P7: {} cannot be written", capture.path));
    std::exit(1);
  }
  const auto enter = [&](race& r, role as, const std::string& name, std::vector<std::string> words) {
    r.enter(as, name, [name, words = std::move(words)](u64) -> u64 {
      if (run(words)) return frames;
      fmt::print(stderr, "octep_bench: {} failed\n", words[0]);
      std::exit(1);
    });
  };
  const bool has_tcpdump = run({"tcpdump", "--version"});
  if (!has_tcpdump) out.remark("P7-tcpdump: tcpdump is not installed");

  race r{frames};
  enter(r, role::ours, "octep replay", {OCTEP_BENCH_OCTEP, "replay", capture.path});
  enter(r, role::rival, "pcap_next_ex", {OCTEP_BENCH_READ_LOOP, capture.path});
  if (has_tcpdump) enter(r, role::shown, "tcpdump -nr", {"tcpdump", "-nr", capture.path});
  r.run(o.quick ? 1 : 2, o.rounds(9));  // tcpdump takes its seconds

  const race::contestant& ours = r.named("octep replay");
  const auto add = [&](const char* id, const char* rival, double target, double known) {
    const race::contestant& other = r.named(rival);
    line l{id, "replay of 1,000,000 frames, 10,000 flows", "ns", ours.median(), rival, other.median(),
           race::between(ours, other), target};
    l.known = known;
    out.add(l);
  };
  add("P7-read", "pcap_next_ex", 2, 24);
  if (has_tcpdump) add("P7-tcpdump", "tcpdump -nr", 0.2, 0);
}

}  // namespace octep::bench

#else

namespace octep::bench {

void measure_replays(report& out, const options&) { out.remark("P7: built without the octep command"); }

}  // namespace octep::bench

#endif
