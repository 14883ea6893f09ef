#include "tools/connections_csv.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/tools/capture_bytes.hpp"
#include "tools/replay.hpp"

namespace octep::tools {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> all;
  std::stringstream in{line + ","};
  for (std::string field; std::getline(in, field, ',');) all.push_back(field);
  return all;
}

struct csv : ::testing::Test {
  temporary_file holder{{}};
  std::string path = holder.path() + ".csv";
  void TearDown() override { std::remove(path.c_str()); }

  std::vector<std::string> lines() const {
    std::ifstream in{path};
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

TEST_F(csv, HasALineAConnection) {
  std::string error;
  auto file = output_file::create(path, error);
  ASSERT_TRUE(file);
  connections_csv out{*file};
  connection c;
  c.from_opener = tuple4::make(0x0100'000a, 0x0100'00c0, join_ports(port_word(40'000), port_word(443)), protocol::tcp);
  c.first_frame = {1'500'000};
  c.last_frame = {2'000'001};
  c.frames_forwarded = 7;
  c.bytes_forwarded = 700;
  c.frames_punted = 2;
  c.bytes_punted = 120;
  c.made = instant{1'600'000};
  out.add(c);
  connection ping;
  ping.from_opener = tuple6::make({0x20}, {0x21}, join_ports(port_word(77), port_word(128)), protocol::icmp6);
  ping.refusal = reason::flow_wait_other;
  out.add(ping);
  ASSERT_TRUE(file->keep(error));
  const auto all = lines();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], "tcp,10.0.0.1,40000,192.0.0.1,443,1.500000,2.000001,7,700,2,120,1.600000,");
  EXPECT_EQ(fields_of(all[2])[0], "icmp6");
  EXPECT_EQ(fields_of(all[2])[2], "77");
  EXPECT_EQ(fields_of(all[2])[4], "") << "an echo has no other port";
  EXPECT_EQ(fields_of(all[2]).back(), "flow_wait_other");
}

TEST_F(csv, AddsUpToTheReport) {
  const outcome answer = replay_command({std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng", "--json", "--csv", path});
  ASSERT_EQ(answer.status, status_done);
  const auto report = nlohmann::json::parse(answer.out);
  const auto all = lines();
  EXPECT_EQ(all.size() - 1, report["connections"]["seen"]);
  u64 forwarded = 0, not_made = 0;
  const usize columns = fields_of(all[0]).size();
  for (usize n = 1; n < all.size(); ++n) {
    const auto fields = fields_of(all[n]);
    ASSERT_EQ(fields.size(), columns) << all[n];
    forwarded += std::stoull(fields[7]);
    not_made += !fields.back().empty();
  }
  EXPECT_EQ(forwarded, report["frames"]["forwarded"]);
  EXPECT_EQ(all.size() - 1 - not_made, report["connections"]["made"]);
}

}  // namespace
}  // namespace octep::tools
