#include "tools/screen.hpp"

#include <gtest/gtest.h>

#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

class terminal {
 public:
  explicit terminal(unsigned short columns) {
    winsize size{};
    size.ws_col = columns;
    EXPECT_EQ(openpty(&outer_, &inner_, nullptr, nullptr, &size), 0);
    file_ = fdopen(inner_, "w");
  }
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal() {
    std::fclose(file_);
    close(outer_);
  }
  [[nodiscard]] std::FILE* file() const { return file_; }

 private:
  int outer_ = -1, inner_ = -1;
  std::FILE* file_ = nullptr;
};

TEST(Screen, AFileIsEightyColumnsOfAscii) {
  const temporary_file plain{{}};
  std::FILE* const file = std::fopen(plain.path().c_str(), "w");
  const screen s = screen_of(file);
  std::fclose(file);
  EXPECT_EQ(s.width, 80U);
  EXPECT_FALSE(s.utf8);
}

TEST(Screen, ATerminalIsAsWideAsItIsWithinReason) {
  for (const auto& [columns, width] : {std::pair{0, 80}, {40, 80}, {80, 80}, {132, 132}, {200, 200}, {1'000, 240}})
    EXPECT_EQ(screen_of(terminal{static_cast<unsigned short>(columns)}.file()).width, static_cast<usize>(width)) << columns;
}

TEST(Screen, ItsCharactersAreTheLocales) {
  const terminal t{80};
  ASSERT_EQ(setenv("LC_ALL", "C.UTF-8", 1), 0);
  EXPECT_TRUE(screen_of(t.file()).utf8);
  ASSERT_EQ(setenv("LC_ALL", "C", 1), 0);
  EXPECT_FALSE(screen_of(t.file()).utf8);
}

}  // namespace
}  // namespace octep::tools
