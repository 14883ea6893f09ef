// A replay's memory follows the connections that live at one time: a long capture costs what a short one does.
//
// Both come from bench/replay/generate.cpp through a pipe, so nothing is written. How long the long one is says
// OCTEP_REPLAY_MEGABYTES; the preset `slow` asks for ten gigabytes.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <octep/base.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include <spawn.h>

extern char** environ;

namespace octep::tools {
namespace {

constexpr u64 megabyte = 1'000'000;
// What a record of the generator's takes in a file.
constexpr u64 snap = 100, record_bytes = 16 + snap;

pid_t start(std::vector<std::string> words, int input, int output) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  pid_t child = -1;
  if (posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environ) != 0) child = -1;
  posix_spawn_file_actions_destroy(&files);
  return child;
}

struct ended {
  bool well = false;
  u64 peak_kb = 0;  // of resident memory
};

ended wait_for(pid_t child) {
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return {};
  return {WIFEXITED(status) && WEXITSTATUS(status) == 0, static_cast<u64>(used.ru_maxrss)};
}

// A thousand connections at a time, twelve frames each, a frame a millisecond: after a hundred megabytes the far side has used
// each of its ids, connections that were closed have been forgotten, and whatever grows from there follows the file.
u64 peak_kb(u64 bytes) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_GE(nothing, 0);
  const pid_t writes = start({OCTEP_REPLAY_GENERATE, "--frames", std::to_string(bytes / record_bytes), "--flows", "1000",
                              "--life", "12", "--gap-us", "1000", "--snap", std::to_string(snap)},
                             nothing, ends[1]);
  const pid_t reads = start({OCTEP_COMMAND, "replay", "-"}, ends[0], nothing);
  for (const int file : {ends[0], ends[1], nothing}) close(file);
  const ended replay = wait_for(reads);
  EXPECT_TRUE(wait_for(writes).well) << "the generator failed, or the replay stopped reading";
  EXPECT_TRUE(replay.well);
  return replay.peak_kb;
}

TEST(ReplayMemory, IsTheSameForALongCaptureAndAShortOne) {
  const char* const asked = std::getenv("OCTEP_REPLAY_MEGABYTES");
  const u64 megabytes = asked == nullptr ? 200 : std::strtoull(asked, nullptr, 10);
  ASSERT_GE(megabytes, 200U) << "OCTEP_REPLAY_MEGABYTES";
  const u64 short_one = peak_kb(100 * megabyte);
  const u64 long_one = peak_kb(megabytes * megabyte);
  fmt::print("peak resident memory: {} KB for 100 MB, {} KB for {} MB\n", short_one, long_one, megabytes);
  // Connections come by chance, so the most at a time is a little more where there are more times.
  const u64 margin = short_one / 20;
  EXPECT_LE(long_one, short_one + margin);
}

}  // namespace
}  // namespace octep::tools
