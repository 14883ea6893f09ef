#include "tools/progress.hpp"

#include "tools/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace octep::tools {

std::string progress_line(u64 frames, double seconds, u64 read, u64 size) {
  std::string line;
  const double share = size == 0 ? 0 : std::min(1.0, static_cast<double>(read) / static_cast<double>(size));
  if (size != 0) line = fmt::format("{:>3.0f} %  ", share * 100);
  line += fmt::format("{} frames", grouped(frames));
  if (seconds < 1) return line;
  line += fmt::format(", {} a second", grouped(static_cast<u64>(static_cast<double>(frames) / seconds)));
  if (share > 0) line += fmt::format(", {} left", long_duration(seconds / share - seconds));
  return line;
}

progress::progress(std::FILE* to, u64 size) : to_{to}, size_{size}, on_{isatty(fileno(to)) != 0} {}

void progress::show(u64 frames, u64 read) {
  const clock::time_point now = clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds{200};
  const std::string line = progress_line(frames, std::chrono::duration<double>(now - began_).count(), read, size_);
  const usize blanks = shown_ > line.size() ? shown_ - line.size() : 0;
  fmt::print(to_, "\r{}{}", line, std::string(blanks, ' '));
  std::fflush(to_);
  shown_ = line.size();
}

void progress::clear() {
  if (shown_ == 0) return;
  fmt::print(to_, "\r{}\r", std::string(shown_, ' '));
  std::fflush(to_);
  shown_ = 0;
}

}  // namespace octep::tools
