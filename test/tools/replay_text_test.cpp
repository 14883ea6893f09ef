#include "tools/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace octep::tools {
namespace {

replay_sums busy() {
  replay_sums s;
  s.frames = 1'000;
  s.bytes = 900'000;
  s.forwarded = 700, s.forwarded_bytes = 700'000;
  s.punted = 300, s.punted_bytes = 200'000;
  s.candidates = 300;
  for (u64 ms = 0; ms < 1'280; ms += 10) s.over_time.add({ms * 1'000}, ms > 300, ms);
  connection c;
  c.refusal = reason::flow_family;
  c.frames_punted = 12, c.bytes_punted = 3'400;
  s.connections = 1;
  s.count(c);
  s.cannot_tell.push_back({"no_syn", 1, "One TCP connection was open before the capture began: who opened it is a guess."});
  return s;
}

std::string shown(const screen& on) { return report_text(busy(), {}, {}, on); }

// Characters, not bytes: of UTF-8 only the first byte of each.
usize columns(const std::string& line) {
  return static_cast<usize>(std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

TEST(ReplayText, FillsTheWidthItHasAndNoMore) {
  for (const usize width : {80U, 100U, 149U, 150U, 200U, 240U})
    for (const bool utf8 : {false, true}) {
      std::istringstream lines{shown({width, utf8})};
      usize longest = 0;
      for (std::string line; std::getline(lines, line);) longest = std::max(longest, columns(line));
      EXPECT_LE(longest, width);
      EXPECT_GT(longest, width < 150 ? 70U : 140U) << width;
    }
}

TEST(ReplayText, SpansThatDoNotFitAreShownTogether) {
  const auto bar = [](const screen& on) {
    const std::string text = shown(on);
    const usize begin = text.find("  forwarded |") + 13;
    return text.substr(begin, text.find('|', begin) - begin);
  };
  EXPECT_EQ(bar({80, false}).size(), 64U);
  EXPECT_EQ(bar({200, false}).size(), 128U);
  EXPECT_EQ(bar({80, false}).find('.'), 15U);  // the first 30 spans forwarded nothing
  EXPECT_EQ(bar({80, false}).back(), '#');
  EXPECT_EQ(bar({80, true}).substr(bar({80, true}).size() - 3), "█");
}

TEST(ReplayText, AWideTerminalHasSentencesBesideTheirRows) {
  const auto line_of = [](const std::string& text, const char* what) {
    const usize at = text.find(what, text.find("WHY NOT"));
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(line_of(shown({80, false}), "flow_family").find("To change it"), std::string::npos);
  EXPECT_NE(line_of(shown({200, false}), "flow_family").find("To change it"), std::string::npos);
}

TEST(ReplayText, WhatTheCaptureCannotTellIsThereOnlyIfThereIsSomething) {
  EXPECT_NE(shown({}).find("WHAT THIS CAPTURE CANNOT TELL"), std::string::npos);
  replay_sums whole = busy();
  whole.cannot_tell.clear();
  EXPECT_EQ(report_text(whole, {}, {}, {}).find("CANNOT TELL"), std::string::npos);
}

}  // namespace
}  // namespace octep::tools
