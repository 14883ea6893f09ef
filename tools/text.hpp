// Numbers and sentences as a report shows them. Plain ASCII: it goes through pipes, mails and serial consoles.
// Concurrency: functions of their arguments.
#pragma once

#include <octep/base.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace octep::tools {

// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(u64 n);

// "12.3 %"; "-" of nothing. What is not 0 or all never reads as 0.0 % or 100.0 %.
[[nodiscard]] std::string percent(u64 part, u64 whole);

// Microseconds in the unit that suits them, three digits: "640 us", "12.5 ms", "1.03 s".
[[nodiscard]] std::string duration(u64 us);

// Seconds of a capture: "23.6 s", "2 h 13 min", "3 years 27 days".
[[nodiscard]] std::string long_duration(double seconds);

// Words in lines of at most `width` characters, each behind `indent` spaces, the first behind what stands there already.
[[nodiscard]] std::string wrapped(std::string_view words, usize indent, usize width = 80);

// What makes a noun of n things plural.
[[nodiscard]] inline std::string_view plural(u64 n) { return n == 1 ? "" : "s"; }

// Decimal digits and nothing else, of a value in 64 bits.
[[nodiscard]] std::optional<u64> parse_number(std::string_view text);

}  // namespace octep::tools
