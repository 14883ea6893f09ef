#include "tools/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace octep::tools {
namespace {

// Three digits of a number below 1000.
std::string three_digits(double n) { return fmt::format("{:.{}f}", n, n < 9.995 ? 2 : n < 99.95 ? 1 : 0); }

std::string counted(u64 n, std::string_view unit) { return fmt::format("{} {}{}", n, unit, plural(n)); }

}  // namespace

std::string grouped(u64 n) {
  std::string digits = std::to_string(n);
  for (usize i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string percent(u64 part, u64 whole) {
  if (whole == 0) return "-";
  double of_hundred = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part != 0) of_hundred = std::max(of_hundred, 0.1);
  if (part != whole) of_hundred = std::min(of_hundred, 99.9);
  return fmt::format("{:.1f} %", of_hundred);
}

std::string duration(u64 us) {
  if (us < 1'000) return fmt::format("{} us", us);
  if (us < 999'500) return three_digits(static_cast<double>(us) / 1e3) + " ms";
  if (us < 119'500'000) return three_digits(static_cast<double>(us) / 1e6) + " s";
  return long_duration(static_cast<double>(us) / 1e6);
}

std::string long_duration(double seconds) {
  const u64 whole = static_cast<u64>(std::llround(seconds));
  if (whole < 120) return fmt::format("{:.{}f} s", seconds, seconds < 99.95 ? 1 : 0);
  constexpr u64 minute = 60, hour = 3'600, day = 86'400, year = 365 * day;
  if (whole < 2 * hour) return fmt::format("{} min {} s", whole / minute, whole % minute);
  if (whole < 2 * day) return fmt::format("{} h {} min", whole / hour, whole % hour / minute);
  if (whole < 2 * year) return fmt::format("{} {} h", counted(whole / day, "day"), whole % day / hour);
  return counted(whole / year, "year") + " " + counted(whole % year / day, "day");
}

std::string wrapped(std::string_view words, usize indent, usize width) {
  std::string text;
  usize column = indent;
  bool first = true;
  while (!words.empty()) {
    const usize end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (!first && column + 1 + word.size() > width) {
      text += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    first = false;
  }
  return text;
}

std::optional<u64> parse_number(std::string_view text) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace octep::tools
