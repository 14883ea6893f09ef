// A file that is written as a replay goes on, and is there under its name only when it is whole.
//
// What it is: FILE.part, or FILE.part1 if that is taken, until `keep`, then FILE, or what FILE links to. A device or a pipe, such as /dev/null, cannot become
// another file, so it is written as it is. What it refuses: a file by halves under the name that was asked for; a folder.
// What that buys: who finds FILE may trust it, whatever happened to the program.
// Concurrency: one thread.
#pragma once

#include <octep/base.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace octep::tools {

class output_file {
 public:
  // Nothing: `error` is one line that names the path.
  [[nodiscard]] static std::optional<output_file> create(const std::string& path, std::string& error);

  output_file(output_file&&) noexcept = default;
  output_file& operator=(output_file&&) noexcept = default;
  ~output_file();

  // What fails is said by `keep`.
  void write(std::string_view text);
  // Whether all of it was written, and stands under its name now. False: `error` is one line, and nothing is left of it.
  [[nodiscard]] bool keep(std::string& error);

 private:
  struct closer {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  explicit output_file(const std::string& path) : path_{path}, becomes_{path} {}
  void open_part();
  void drop();

  std::string path_;     // as it was asked for
  std::string becomes_;  // where it ends: behind every link
  std::string part_;     // its name until then; empty: it has only one
  std::unique_ptr<std::FILE, closer> file_;
  int failed_ = 0;  // errno of the first write that failed
};

// Whether writing to one would take the other away. A device and a pipe lose nothing.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace octep::tools
