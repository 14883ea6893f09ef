#include "tools/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace octep::tools {

std::optional<output_file> output_file::create(const std::string& path, std::string& error) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what cannot be looked at cannot be opened either, which says why
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there)) {
    error = fmt::format("{}: {}", path, std::strerror(EISDIR));
    return std::nullopt;
  }
  output_file f{path};
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    f.file_.reset(std::fopen(path.c_str(), "wbe"));
  } else {
    if (fs::exists(there)) f.becomes_ = fs::canonical(path, ignored).string();
    f.open_part();
  }
  if (f.file_) return f;
  error = fmt::format("{}: {}", path, std::strerror(errno));
  return std::nullopt;
}

// A name that nobody has: another octep may be at work, or this be what one left that was killed.
void output_file::open_part() {
  constexpr u32 most_parts = 1'000;
  for (u32 n = 0; !file_ && n < most_parts; ++n) {
    part_ = n == 0 ? becomes_ + ".part" : fmt::format("{}.part{}", becomes_, n);
    file_.reset(std::fopen(part_.c_str(), "wbxe"));
    if (!file_ && errno != EEXIST) break;
  }
}

output_file::~output_file() {
  if (file_) drop();
}

void output_file::write(std::string_view text) {
  if (failed_ == 0 && std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = errno;
}

bool output_file::keep(std::string& error) {
  if (failed_ == 0 && std::fflush(file_.get()) != 0) failed_ = errno;
  if (failed_ == 0 && !part_.empty() && std::rename(part_.c_str(), becomes_.c_str()) != 0) failed_ = errno;
  if (failed_ == 0) {
    file_.reset();
    return true;
  }
  drop();
  error = fmt::format("{}: {}", path_, std::strerror(failed_));
  return false;
}

void output_file::drop() {
  file_.reset();
  if (!part_.empty()) std::remove(part_.c_str());
}

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code unknown;  // a path that cannot be followed leads to nothing that could be lost
  if (fs::exists(a, unknown) && fs::exists(b, unknown)) return fs::is_regular_file(a, unknown) && fs::equivalent(a, b, unknown);
  const fs::path left = fs::weakly_canonical(fs::absolute(a, unknown), unknown);
  return !unknown && left == fs::weakly_canonical(fs::absolute(b, unknown), unknown) && !unknown;
}

}  // namespace octep::tools
