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
  auto f = output_file::create(path, error);
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->keep(error)) << "a folder has that name";
  EXPECT_NE(error.find(path), std::string::npos);
  EXPECT_FALSE(is_there(path + ".part"));
}

}  // namespace
}  // namespace octep::tools
