#include "tools/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace octep::tools {

std::optional<output_file> output_file::create(const std::string& path, std::string& error) {
  std::FILE* const f = std::fopen((path + ".part").c_str(), "wbe");
  if (f != nullptr) return output_file{path, f};
  error = fmt::format("{}: {}", path, std::strerror(errno));
  return std::nullopt;
}

output_file::~output_file() {
  if (!file_) return;
  file_.reset();
  std::remove(part().c_str());
}

void output_file::write(std::string_view text) {
  if (failed_ == 0 && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = errno;
}

bool output_file::keep(std::string& error) {
  if (failed_ == 0 && std::fflush(file_.get()) != 0) failed_ = errno;
  file_.reset();
  if (failed_ == 0 && std::rename(part().c_str(), path_.c_str()) != 0) failed_ = errno;
  if (failed_ == 0) return true;
  std::remove(part().c_str());
  error = fmt::format("{}: {}", path_, std::strerror(failed_));
  return false;
}

}  // namespace octep::tools
