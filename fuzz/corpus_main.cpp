// Runs a fuzzer's body over every file of the folders given as arguments, in the order of their names. A body stops the
// process when it finds something, so returning is passing. An empty or missing folder fails: a corpus that is gone
// must not look like a corpus that passes.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

// The number of files that ran, or -1 after a message.
int run_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error))
    if (at->is_regular_file()) files.push_back(at->path());
  if (error || files.empty()) {
    fmt::print(stderr, "{}: {}\n", folder.string(), error ? error.message() : "no file in it");
    return -1;
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in{file, std::ios::binary};
    const std::vector<char> content{std::istreambuf_iterator<char>{in}, {}};
    if (in.bad() || !in.is_open()) {
      fmt::print(stderr, "{}: cannot be read\n", file.string());
      return -1;
    }
    // The name first and unbuffered: when the body stops the process, it is the last line.
    fmt::print(stderr, "{} ({} bytes)\n", file.string(), content.size());
    // Exactly as many bytes as the file has, so that AddressSanitizer sees a body read past them.
    const std::unique_ptr<std::uint8_t[]> exact{new std::uint8_t[content.size()]};
    std::copy(content.begin(), content.end(), exact.get());
    if (LLVMFuzzerTestOneInput(exact.get(), content.size()) != 0) return -1;
  }
  return static_cast<int>(files.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    fmt::print(stderr, "usage: {} FOLDER...\n", arguments[0]);
    return 2;
  }
  int ran = 0;
  for (int i = 1; i < count; ++i) {
    const int files = run_folder(arguments[i]);
    if (files < 0) return 1;
    ran += files;
  }
  fmt::print("{} inputs\n", ran);
  return 0;
}
