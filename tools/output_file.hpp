// A file that is written as a replay goes on, and is there under its name only when it is whole.
//
// What it is: FILE.part until `keep`, then FILE. What it refuses: a file by halves under the name that was asked for; a name
// that is a folder. What that buys: who finds FILE may trust it, whatever happened to the program.
// Concurrency: one thread.
#pragma once

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
  output_file(std::string path, std::FILE* f) : path_{std::move(path)}, file_{f} {}
  [[nodiscard]] std::string part() const { return path_ + ".part"; }

  std::string path_;
  std::unique_ptr<std::FILE, closer> file_;
  int failed_ = 0;  // errno of the first write that failed
};

}  // namespace octep::tools
