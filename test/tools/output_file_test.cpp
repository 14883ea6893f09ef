#include "tools/output_file.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string content(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

struct output : ::testing::Test {
  temporary_file holder{{}};  // a name that nobody else has
  std::string path = holder.path() + ".out";
  std::string error;
  void TearDown() override {
    std::remove(path.c_str());
    rmdir(path.c_str());
  }
};

TEST_F(output, IsThereWhenItIsWhole) {
  auto f = output_file::create(path, error);
  ASSERT_TRUE(f);
  f->write("one\n");
  EXPECT_FALSE(is_there(path));
  f->write("two\n");
  ASSERT_TRUE(f->keep(error));
  EXPECT_EQ(content(path), "one\ntwo\n");
  EXPECT_FALSE(is_there(path + ".part"));
}

TEST_F(output, IsNotThereIfNobodyKeptIt) {
  {
    auto f = output_file::create(path, error);
    ASSERT_TRUE(f);
    f->write("half");
  }
  EXPECT_FALSE(is_there(path));
  EXPECT_FALSE(is_there(path + ".part"));
}

TEST_F(output, SaysWhyItCannotBe) {
  EXPECT_FALSE(output_file::create("/no/such/folder/x", error));
  EXPECT_EQ(error, "/no/such/folder/x: No such file or directory");
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  EXPECT_FALSE(output_file::create(path, error)) << "a folder has that name";
  EXPECT_EQ(error, path + ": Is a directory");
  EXPECT_FALSE(is_there(path + ".part"));
}

TEST_F(output, TouchesNoPartOfAnother) {
  auto one = output_file::create(path, error), two = output_file::create(path, error);
  ASSERT_TRUE(one && two);
  one->write("one");
  two->write("two");
  ASSERT_TRUE(two->keep(error));
  EXPECT_EQ(content(path), "two");
  EXPECT_EQ(content(path + ".part"), "") << "still being written";
  ASSERT_TRUE(one->keep(error));
  EXPECT_EQ(content(path), "one");
  EXPECT_FALSE(is_there(path + ".part"));
}

TEST_F(output, ADeviceIsWrittenAndStaysOne) {
  auto f = output_file::create("/dev/full", error);
  ASSERT_TRUE(f);
  f->write("more than it takes");
  EXPECT_FALSE(f->keep(error));
  EXPECT_EQ(error, "/dev/full: No space left on device");
  EXPECT_FALSE(is_there("/dev/full.part"));
  struct stat is{};
  ASSERT_EQ(stat("/dev/full", &is), 0);
  EXPECT_TRUE(S_ISCHR(is.st_mode));
}

TEST_F(output, ALinkStaysOne) {
  ASSERT_EQ(symlink(holder.path().c_str(), path.c_str()), 0);
  auto f = output_file::create(path, error);
  ASSERT_TRUE(f);
  f->write("through it");
  ASSERT_TRUE(f->keep(error));
  EXPECT_EQ(content(holder.path()), "through it");
  struct stat is{};
  ASSERT_EQ(lstat(path.c_str(), &is), 0);
  EXPECT_TRUE(S_ISLNK(is.st_mode));
}

TEST_F(output, TheSameFileIsKnownByWhateverName) {
  const auto slash = path.rfind('/');
  const std::string detour = path.substr(0, slash) + "/./" + path.substr(slash + 1);
  EXPECT_TRUE(same_file(path, detour)) << "a file that is not there yet";
  EXPECT_FALSE(same_file(path, holder.path()));
  ASSERT_EQ(symlink(holder.path().c_str(), path.c_str()), 0);
  EXPECT_TRUE(same_file(path, holder.path()));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null")) << "nothing is lost there";
}

}  // namespace
}  // namespace octep::tools
