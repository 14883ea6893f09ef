// P9: what a consumer pays for octep.hpp, and what a kernel loads. Against bounds.
//
// Seconds of processor time, not of the clock: others may be at work. Where the compilers and the object are is known to
// whoever built this program (bench/CMakeLists.txt).
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <spawn.h>

#include "bench/targets/targets.hpp"

extern char** environ;

namespace octep::bench {
namespace {

// Seconds, or less than none where the compiler failed.
double compile_seconds(const std::string& compiler, const std::string& unit) {
  std::vector<std::string> words{compiler, "-std=c++20", "-O2", "-I", OCTEP_SOURCE_DIR "/include", "-c", unit, "-o", "/dev/null"};
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return -1;
  int status = 0;
  rusage used{};
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return -1;
  return static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) / 1e6;
}

// Code: what is loaded and executed. The definitions' sentences are constants, and grow with every setting.
u64 text_of(const std::string& object) {
  std::ifstream file{object, std::ios::binary};
  const std::string all{std::istreambuf_iterator<char>{file}, {}};
  Elf64_Ehdr head{};
  if (all.size() < sizeof head) return 0;
  all.copy(reinterpret_cast<char*>(&head), sizeof head);
  u64 sum = 0;
  for (u32 i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section{};
    const usize at = head.e_shoff + usize{i} * head.e_shentsize;
    if (at + sizeof section > all.size()) return 0;
    all.copy(reinterpret_cast<char*>(&section), sizeof section, at);
    if ((section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & SHF_EXECINSTR) != 0) sum += section.sh_size;
  }
  return sum;
}

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts;
  std::istringstream in{list};
  for (std::string part; std::getline(in, part, '|');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

}  // namespace

void measure_build(report& out, const options& o) {
  namespace fs = std::filesystem;
  if (out.wants("P9-compile")) {
    const fs::path unit = fs::temp_directory_path() / fmt::format("octep_bench_{}.cpp", getpid());
    std::ofstream{unit} << "#include <octep/octep.hpp>\n";
    for (const std::string& compiler : split(OCTEP_BENCH_COMPILERS)) {
      const std::string name = fs::path{compiler}.filename();
      if (!out.wants("P9-compile-" + name)) continue;
      std::vector<double> seconds;
      for (int i = 0; i < (o.quick ? 3 : 5); ++i) seconds.push_back(compile_seconds(compiler, unit));
      const double median = median_of(seconds);
      if (median < 0) {
        out.remark(fmt::format("P9-compile-{}: {} does not compile octep.hpp", name, compiler));
        std::exit(1);
      }
      out.add_bound("P9-compile-" + name, "a unit that includes octep.hpp, by " + name, "s", median, 1);
    }
    fs::remove(unit);
  }
  for (const std::string& object : split(OCTEP_BENCH_KERNEL_OBJECTS)) {
    const std::string name = fs::path{object}.stem().extension().string().substr(1);
    const std::string id = "P9-text-" + name;
    if (out.wants(id)) out.add_bound(id, "text of the kernel's object, by " + name, "KB", static_cast<double>(text_of(object)) / 1'024, 64);
  }
}

}  // namespace octep::bench
