#include "tools/capture.hpp"
#include "tools/observed_frame.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "test/tools/capture_bytes.hpp"
#include "test/tools/shared_captures.hpp"

namespace octep::tools {
namespace {

std::string complaint(const std::string& path) {
  std::string error;
  EXPECT_FALSE(capture::open(path, error).has_value()) << path;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  EXPECT_NE(error.find(path), std::string::npos) << error;
  return error;
}

struct counted {
  capture::got ended = capture::got::end;
  std::string message;
  std::vector<instant> times;
  u64 went_back = 0;
  u64 overlong = 0;
};

counted read_all(const bytes& content) {
  const temporary_file file{content};
  std::string error;
  std::optional<capture> from = capture::open(file.path(), error);
  EXPECT_TRUE(from.has_value()) << error;
  counted c;
  captured_frame frame;
  if (!from) return c;
  while ((c.ended = from->next(frame)) == capture::got::frame) c.times.push_back(frame.at);
  EXPECT_EQ(from->frames(), c.times.size());
  c.message = from->message();
  c.went_back = from->went_back();
  c.overlong = from->overlong();
  return c;
}

std::string group_of(const frame_facts& facts) {
  const protocol proto = facts.which == family::ipv4 ? facts.v4.proto : facts.v6.proto;
  const char* const what = proto == protocol::tcp ? "tcp" : proto == protocol::udp ? "udp" : "echo";
  return what + std::string{facts.which == family::ipv4 ? "4" : "6"};
}

std::vector<u32> words_of(const frame_facts& facts) {
  std::vector<u32> words;
  if (facts.which == family::ipv4) {
    for (u32 i = 0; i < tuple4::words; ++i) words.push_back(facts.v4.word(i));
  } else {
    for (u32 i = 0; i < tuple6::words; ++i) words.push_back(facts.v6.word(i));
  }
  return words;
}

TEST(Capture, CountsWhatTSharkCounts) {
  std::string absent;
  for (const known_capture& known : known_captures()) {
    if (known.path.empty()) {
      absent += " " + known.name;
      continue;
    }
    SCOPED_TRACE(known.path);
    std::string error;
    std::optional<capture> from = capture::open(known.path, error);
    ASSERT_TRUE(from.has_value()) << error;

    std::map<std::string, u64> candidates;
    std::map<std::string, std::set<std::vector<u32>>> tuples;
    std::map<reason, u64> others;
    u64 candidate_count = 0;
    captured_frame frame;
    frame_facts facts;
    while (from->next(frame) == capture::got::frame) {
      classify(frame, facts);
      if (facts.why != reason::none) {
        ++others[facts.why];
        continue;
      }
      ++candidate_count;
      ++candidates[group_of(facts)];
      tuples[group_of(facts)].insert(words_of(facts));
    }
    const auto& expected = known.expected;
    EXPECT_EQ(from->frames(), expected["frames"]);
    EXPECT_EQ(from->bytes(), expected["bytes"]);
    EXPECT_DOUBLE_EQ(from->seconds(), expected["seconds"]);
    EXPECT_EQ(candidate_count, expected["candidates"]);
    u64 tuple_count = 0;
    for (const auto& [group, figures] : expected["groups"].items()) {
      EXPECT_EQ(candidates[group], figures["candidates"]) << group;
      EXPECT_EQ(tuples[group].size(), figures["tuples"]) << group;
      tuple_count += tuples[group].size();
    }
    EXPECT_EQ(tuple_count, expected["tuples"]);
    EXPECT_EQ(others[reason::not_ip] + others[reason::pppoe], expected["has"]["not_ip"]);
    EXPECT_EQ(others[reason::tunnel], expected["has"]["tunnel"]);
    EXPECT_EQ(others[reason::superframe], expected["has"]["superframe"]);
  }
  if (!absent.empty()) GTEST_SKIP() << "not beside this checkout, so not read:" << absent;
}

TEST(Capture, NamesWhatItCannotOpen) {
  EXPECT_NE(complaint("/nonexistent/capture.pcap").find("No such file"), std::string::npos);
  EXPECT_NE(complaint(std::filesystem::temp_directory_path().string()).find("directory"), std::string::npos);
  const temporary_file empty{{}};
  EXPECT_NE(complaint(empty.path()).find("empty"), std::string::npos);
  const temporary_file text{{'h', 'e', 'l', 'l', 'o', ',', ' ', 'w', 'o', 'r', 'l', 'd', '\n'}};
  EXPECT_NE(complaint(text.path()).find("unknown file format"), std::string::npos);
  const temporary_file compressed{{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}};
  EXPECT_NE(complaint(compressed.path()).find("zcat"), std::string::npos);
}

TEST(Capture, RefusesAHeaderThatIsCutAtAnyByte) {
  const bytes whole = pcap_header();
  for (usize n = 1; n < whole.size(); ++n) {
    const temporary_file file{bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n))};
    (void)complaint(file.path());
  }
}

TEST(Capture, NamesALinkTypeItDoesNotRead) {
  const temporary_file file{pcap_header(link_ieee80211)};
  const std::string error = complaint(file.path());
  EXPECT_NE(error.find("IEEE802_11 (802.11)"), std::string::npos) << error;
  const temporary_file unknown{pcap_header(140'000)};
  EXPECT_NE(complaint(unknown.path()).find("140000"), std::string::npos);
}

TEST(Capture, GivesTheFramesBeforeACutAtAnyByte) {
  const bytes whole = joined(pcap_header(), pcap_record(7, 0, from_opener(syn)), pcap_record(8, 0, from_responder(syn | ack)));
  const usize second = pcap_header().size() + 16 + from_opener(syn).size();
  for (usize n = second + 1; n < whole.size(); ++n) {
    const counted c = read_all(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
    EXPECT_EQ(c.ended, capture::got::cut) << n << " " << c.message;
    EXPECT_EQ(c.times.size(), 1U);
    EXPECT_EQ(c.message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(read_all(whole).ended, capture::got::end);
  EXPECT_EQ(read_all(bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(second))).ended, capture::got::end);
}

TEST(Capture, RefusesARecordOfAbsurdLength) {
  const counted c = read_all(joined(pcap_header(), pcap_record(7, 0, from_opener(syn)),
                                    pcap_record_header(8, 0, 0x7fff'ffff, 0x7fff'ffff), bytes(500, 0)));
  EXPECT_EQ(c.ended, capture::got::bad);
  EXPECT_EQ(c.times.size(), 1U);
  EXPECT_NE(c.message.find("frame 2"), std::string::npos) << c.message;
}

TEST(Capture, ReadsARecordThatIsLongerThanItsSnapLength) {
  const counted c = read_all(joined(pcap_header(link_ethernet, 40), pcap_record(7, 0, from_opener(syn)),
                                    pcap_record(8, 0, from_opener(ack))));
  EXPECT_EQ(c.ended, capture::got::end);
  EXPECT_EQ(c.times.size(), 2U);
}

TEST(Capture, CountsRecordsThatHoldMoreThanTheWireDid) {
  const bytes frame = from_opener(syn);
  const counted c =
      read_all(joined(pcap_header(), pcap_record_header(7, 0, static_cast<u32>(frame.size()), 20), frame));
  EXPECT_EQ(c.times.size(), 1U);
  EXPECT_EQ(c.overlong, 1U);
}

// The first frames of a shipped capture, in the other file format.
bytes some_pcapng() {
  std::ifstream file{std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng", std::ios::binary};
  bytes all(6'000);
  file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()));
  return all;
}

RC_GTEST_PROP(Capture, AnyDamageIsReadRefusedOrReported, ()) {
  static const bytes whole[] = {joined(pcap_header(), pcap_record(1, 0, from_opener(syn)), pcap_record(2, 0, from_responder(ack)),
                                       pcap_record(3, 0, from_opener(ack))),
                                some_pcapng()};
  bytes damaged = whole[*rc::gen::inRange(0, 2)];
  const int hits = *rc::gen::inRange(1, 8);
  for (int i = 0; i < hits; ++i) damaged[*rc::gen::inRange<usize>(0, damaged.size())] = *rc::gen::arbitrary<u8>();
  damaged.resize(*rc::gen::inRange<usize>(1, damaged.size() + 1));

  const temporary_file file{damaged};
  std::string error;
  std::optional<capture> from = capture::open(file.path(), error);
  RC_ASSERT(from.has_value() == error.empty());
  if (!from) return;
  observed_frame seen;
  instant last;
  capture::got ended;
  while ((ended = from->next(seen.frame)) == capture::got::frame) {
    RC_ASSERT(last <= seen.frame.at);
    last = seen.frame.at;
    observe(seen);
    (void)link_source(seen.frame);
  }
  RC_ASSERT((ended == capture::got::end) == from->message().empty());
}

TEST(Capture, ItsClockNeverGoesBack) {
  const bytes f = from_opener(ack);
  const counted c = read_all(joined(pcap_header(), pcap_record(10, 500, f), pcap_record(9, 0, f), pcap_record(11, 0, f),
                                    pcap_record(10, 999'999, f), pcap_record(11, 0, f), pcap_record(11, 1, f)));
  const std::vector<instant> expected{{0}, {0}, {999'500}, {999'500}, {999'500}, {999'501}};
  EXPECT_EQ(c.times, expected);
  EXPECT_EQ(c.went_back, 2U);
}

// Seconds of pcap have no sign: 2038 is no end.
TEST(Capture, ReadsStampsUntil2106) {
  const bytes f = from_opener(ack);
  const counted c = read_all(joined(pcap_header(), pcap_record(0x7fff'ffff, 0, f), pcap_record(0x8000'0000, 0, f), pcap_record(0xffff'ffff, 0, f)));
  const std::vector<instant> expected{{0}, {1'000'000}, {u64{0x8000'0000} * 1'000'000}};
  EXPECT_EQ(c.times, expected);
  EXPECT_EQ(c.went_back, 0U);
}

TEST(Capture, SurvivesStampsThatLie) {
  const bytes f = from_opener(ack);
  const counted c = read_all(joined(pcap_header(), pcap_record(0, 0, f), pcap_record(0x7fff'ffff, 0xffff'ffff, f),
                                    pcap_record(1, 0, f)));
  EXPECT_EQ(c.times.size(), 3U);
  EXPECT_EQ(c.went_back, 1U);
  EXPECT_TRUE(c.times[1] == c.times[2]);
}

}  // namespace
}  // namespace octep::tools
