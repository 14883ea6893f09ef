// Each thing that a capture cannot tell, by a capture made so, and by one that is the same but for it.
#include "tools/replay.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pcap/pcap.h>

#include <algorithm>
#include <map>
#include <string>

#include "test/tools/shared_captures.hpp"
#include "test/tools/tcp_packet.hpp"

namespace octep::tools {
namespace {

using nlohmann::json;

// Frames a millisecond apart.
class recording {
 public:
  recording& add(const tcp_packet& p) { return add(p.frame()); }
  recording& add(const bytes& frame) {
    append(all_, pcap_record(ms_ / 1'000, ms_ % 1'000 * 1'000, frame));
    ++ms_;
    return *this;
  }
  recording& after(u32 ms) {
    ms_ += ms;
    return *this;
  }
  [[nodiscard]] const bytes& all() const { return all_; }

 private:
  bytes all_ = pcap_header();
  u32 ms_ = 0;
};

json report_of(const bytes& capture, arguments options = {}) {
  const temporary_file file{capture};
  options.push_back("--json");
  options.push_back(file.path());
  const outcome answer = replay_command(options);
  EXPECT_EQ(answer.status, status_done);
  return json::parse(answer.out);
}

std::map<std::string, u64> told(const json& report) {
  std::map<std::string, u64> all;
  for (const json& spot : report["cannot_tell"]) all[spot["what"]] = spot["count"];
  return all;
}
std::map<std::string, u64> told(const recording& r, arguments options = {}) { return told(report_of(r.all(), std::move(options))); }

constexpr u32 outside = 0xcb00'7105, elsewhere = 0xcb00'7106;  // 203.0.113.5 and .6

using spots = std::map<std::string, u64>;

// A handshake, `n` segments down and their acknowledgements, with IP identifications that count up as hosts do it.
class download {
 public:
  explicit download(u32 segment_limit = 1'460) {
    put({.flags = syn, .sequence = 99, .acknowledgement = 0, .options = takes_segments_of(segment_limit)});
    tcp_packet answer = tcp_packet{.flags = syn | ack, .sequence = 499, .acknowledgement = 100, .options = takes_segments_of(segment_limit)};
    put(answer.answered());
    put({.sequence = 100, .acknowledgement = 500});
  }
  download& down(u32 n, u32 length) {
    for (u32 i = 0; i < n; ++i) {
      put(tcp_packet{.sequence = next_, .acknowledgement = 100, .payload = length}.answered());
      next_ += length;
      put({.sequence = 100, .acknowledgement = next_});
    }
    return *this;
  }
  // What nobody captured.
  download& out_of_sight(u32 length) {
    next_ += length;
    return *this;
  }
  [[nodiscard]] const std::vector<tcp_packet>& packets() const { return packets_; }
  [[nodiscard]] recording recorded() const {
    recording r;
    for (const tcp_packet& p : packets_) r.add(p);
    return r;
  }

 private:
  void put(tcp_packet p) {
    p.id = ++id_[p.from == opener ? 0 : 1];
    packets_.push_back(p);
  }

  std::vector<tcp_packet> packets_;
  u16 id_[2] = {100, 9'000};
  u32 next_ = 500;
};

TEST(CannotTell, AWholeCaptureLeavesNothingOut) { EXPECT_EQ(told(download{}.down(40, 1'448).recorded()), spots{}); }

TEST(CannotTell, ShortSnaps) {
  bytes all = pcap_header();
  const bytes frame = from_opener(ack);
  for (u32 i = 0; i < 3; ++i)
    append(all, joined(pcap_record_header(i, 0, 40, static_cast<u32>(frame.size())), bytes(frame.begin(), frame.begin() + 40)));
  EXPECT_EQ(told(report_of(all)), (spots{{"short_snap", 3}}));
  // What was short on the wire was not cut.
  EXPECT_EQ(told(recording{}.add(bytes(frame.begin(), frame.begin() + 10))), spots{});
}

TEST(CannotTell, FramesThatTheHostPutTogether) {
  // Longer than the other peer said it takes; a jumbo network says so in its SYNs.
  EXPECT_EQ(told(download{}.down(5, 2'896).recorded()), (spots{{"superframe", 5}}));
  EXPECT_EQ(told(download{8'960}.down(5, 8'948).recorded()), spots{});
  EXPECT_EQ(told(download{8'960}.down(5, 17'896).recorded()), (spots{{"superframe", 5}}));
  // A loopback interface takes segments that no wire carries, and says so.
  EXPECT_EQ(told(download{65'495}.down(5, 16'000).recorded()), spots{});
}

TEST(CannotTell, LongFramesOfWhichNobodySaidWhatTheyAre) {
  const auto datagram = [](u32 length) { return ethernet(1, 2, 0x0800, ipv4(17, opener, responder, udp(5'000, 5'001, bytes(length, 'u')))); };
  EXPECT_EQ(told(recording{}.add(datagram(1'472))), spots{});
  EXPECT_EQ(told(recording{}.add(datagram(1'473))), (spots{{"long_frame", 1}}));
  EXPECT_EQ(told(recording{}.add(datagram(9'188))), (spots{{"long_frame", 1}}));
  EXPECT_EQ(told(recording{}.add(datagram(9'189))), (spots{{"superframe", 1}}));
  // Linux's loopback has addresses of zeros, and no wire.
  bytes inside = datagram(16'000);
  std::fill_n(inside.begin(), 12, u8{0});
  EXPECT_EQ(told(recording{}.add(inside)), spots{});
}

TEST(CannotTell, TheSameFrameTwice) {
  recording bridge, router, mirror_too_late;
  const download whole = download{}.down(10, 1'448);
  for (const tcp_packet& p : whole.packets()) {
    bridge.add(p).add(p);
    tcp_packet later = p;
    --later.ttl;
    router.add(p).add(later);
  }
  EXPECT_EQ(told(bridge), (spots{{"seen_twice", whole.packets().size()}}));
  EXPECT_EQ(told(router), (spots{{"seen_twice", whole.packets().size()}}));
  mirror_too_late.add(whole.packets()[3]).after(1'001).add(whole.packets()[3]);
  EXPECT_FALSE(told(mirror_too_late).contains("seen_twice"));
}

// Repeated acknowledgements, segments sent again, and hosts that number no packet are no second sight.
TEST(CannotTell, WhatIsSentAgainIsNotSeenTwice) {
  recording r;
  tcp_packet same = {.sequence = 100, .acknowledgement = 500};
  tcp_packet again = tcp_packet{.sequence = 500, .acknowledgement = 100, .payload = 1'448}.answered();
  for (u16 i = 1; i <= 20; ++i) {
    same.id = i;
    again.id = static_cast<u16>(7'000 + i);
    r.add(same).add(again);
    same.id = 0;
    r.add(same);
    r.after(5);
  }
  const spots all = told(r);
  EXPECT_FALSE(all.contains("seen_twice")) << all.begin()->first;
}

// Each packet as it comes in and as it goes on: behind `outside`, with another port, one hop further.
recording both_sides(const download& inside) {
  recording r;
  for (const tcp_packet& p : inside.packets()) {
    tcp_packet behind = p;
    if (p.from == opener) {
      behind.from = outside, behind.from_port = 51'234;
      behind.ttl = static_cast<u8>(p.ttl - 1);
      r.add(p).add(behind);
    } else {
      behind.to = outside, behind.to_port = 51'234;
      behind.ttl = static_cast<u8>(p.ttl + 1);
      r.add(behind).add(p);
    }
  }
  return r;
}

TEST(CannotTell, BothSidesOfANatAndTheirPairing) {
  const download whole = download{}.down(60, 1'448);
  const recording both = both_sides(whole);
  const json plain = report_of(both.all());
  EXPECT_EQ(plain["connections"]["seen"], 2);
  ASSERT_TRUE(told(plain).contains("nat_sides"));
  EXPECT_EQ(told(plain)["nat_sides"], 62U);  // the opener's: a SYN and its answer's, and one each segment
  EXPECT_NE(plain["cannot_tell"].dump().find("--nat-of 203.0.113.5"), std::string::npos);

  const json paired = report_of(both.all(), {"--nat-of", "203.0.113.5"}), inside = report_of(whole.recorded().all(), {"--nat"});
  EXPECT_EQ(told(paired), spots{});
  EXPECT_EQ(paired["capture"]["frames"], plain["capture"]["frames"]);
  EXPECT_EQ(paired["capture"]["bytes"], plain["capture"]["bytes"]);
  EXPECT_EQ(paired["capture"]["left_out"], whole.packets().size());
  EXPECT_EQ(paired["connections"]["seen"], 1);
  EXPECT_EQ(paired["connections"]["made"], 1);
  // Twice as slow as the inside alone, but the same frames.
  EXPECT_EQ(paired["frames"]["forwarded"].get<u64>() + paired["frames"]["punted"].get<u64>(), whole.packets().size());
  EXPECT_EQ(inside["connections"]["seen"], 1);
}

TEST(CannotTell, OnlyTheNamedNatIsPaired) {
  const recording both = both_sides(download{}.down(20, 1'448));
  const json other = report_of(both.all(), {"--nat-of", "203.0.113.6"});
  EXPECT_EQ(other["capture"]["left_out"], 0);
  EXPECT_TRUE(told(other).contains("nat_sides"));
  // What the box says itself has no inside.
  recording own;
  tcp_packet p{.from = elsewhere};
  for (u16 i = 1; i < 30; ++i) {
    p.id = i;
    p.sequence = i;
    own.add(p);
  }
  EXPECT_EQ(report_of(own.all(), {"--nat-of", "203.0.113.6"})["capture"]["left_out"], 0);
}

// Two clients that say the same to one server at the same distance are two clients.
TEST(CannotTell, ClientsThatSayTheSameAreNoNat) {
  recording r;
  for (u32 i = 0; i < 20; ++i)
    for (const u32 client : {opener, opener + 1})
      r.add(ethernet(1, 2, 0x0800, ipv4(17, client, responder, udp(40'000 + i, 514, bytes(40, 'k')))));
  EXPECT_EQ(told(r), spots{});
}

// With checksums, so that what is behind the sixteenth byte counts; `ttl` tells how far away.
bytes datagram_from(u32 client, u8 ttl, const bytes& payload) {
  bytes segment = udp(50'000, 514, payload);
  u32 sum = 17 + static_cast<u32>(segment.size());
  for (const u32 address : {client, responder}) sum += (address >> 16) + (address & 0xffff);
  for (usize i = 0; i < segment.size(); ++i) sum += segment[i] * (i % 2 == 0 ? 256U : 1U);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  segment[6] = static_cast<u8>(~sum >> 8);
  segment[7] = static_cast<u8>(~sum);
  bytes frame = ethernet(1, 2, 0x0800, ipv4(17, client, responder, segment));
  frame[22] = ttl;
  return frame;
}

// No packet has an identification here, and each payload begins alike.
TEST(CannotTell, DatagramsAreComparedToTheirLastByte) {
  const auto text = [](u8 n) {
    bytes b(64, 's');
    b.back() = n;
    return b;
  };
  recording burst, hosts_a_hop_apart, doubled, translated;
  for (u8 i = 1; i < 40; ++i) {
    burst.add(datagram_from(opener, 64, text(i)));
    hosts_a_hop_apart.add(datagram_from(opener, 64, text(i))).add(datagram_from(opener + 1, 63, text(static_cast<u8>(i + 100))));
    const bytes once = datagram_from(opener, 64, text(i));
    doubled.add(once).add(once).after(5);
    translated.add(datagram_from(opener, 64, text(i))).add(datagram_from(outside, 63, text(i))).after(5);
  }
  EXPECT_EQ(told(burst), spots{});
  EXPECT_EQ(told(hosts_a_hop_apart), spots{});
  EXPECT_EQ(told(doubled), (spots{{"seen_twice", 39}}));
  EXPECT_EQ(told(translated), (spots{{"nat_sides", 39}}));
}

// One frame that is there twice is a repair; many are not.
TEST(CannotTell, OneRepeatedFrameWithoutIdentificationIsNoSecondSight) {
  recording r;
  const std::vector<tcp_packet> packets = download{}.down(40, 1'448).packets();
  for (usize i = 0; i < packets.size(); ++i) {
    tcp_packet p = packets[i];
    p.id = 0;
    r.add(p);
    if (i == 21) r.add(p);
  }
  EXPECT_EQ(told(r), spots{});
}

TEST(CannotTell, ConnectionsWithoutTheirSyn) {
  recording r;
  const download whole = download{}.down(5, 1'448);
  for (usize i = 3; i < whole.packets().size(); ++i) r.add(whole.packets()[i]);
  EXPECT_EQ(told(r), (spots{{"no_syn", 1}}));
  // A SYN that two queues wrote behind its answer, and a reset that comes late, are no sign of it.
  recording disorder;
  disorder.add(whole.packets()[1]).add(whole.packets()[0]);
  for (usize i = 2; i < whole.packets().size(); ++i) disorder.add(whole.packets()[i]);
  EXPECT_EQ(told(disorder), spots{});
  EXPECT_EQ(told(recording{}.add(tcp_packet{.flags = rst})), spots{});
}

TEST(CannotTell, OneDirectionOnly) {
  const download whole = download{}.down(60, 1'448);
  for (const u32 kept : {opener, responder}) {
    recording r;
    for (const tcp_packet& p : whole.packets())
      if (p.from == kept) r.add(p);
    const spots all = told(r);
    EXPECT_EQ(all.at("one_way"), 1U) << kept;
  }
  // An answer to a SYN that is not here.
  EXPECT_EQ(told(recording{}.add(whole.packets()[1])), (spots{{"one_way", 1}}));
  // A port that answers nothing, and a probe that is refused, are whole.
  recording scan;
  for (u16 port = 1; port < 30; ++port) scan.add(tcp_packet{.to_port = port, .flags = syn});
  scan.add(tcp_packet{.to_port = 30, .flags = syn}).add(tcp_packet{.to_port = 30, .flags = rst | ack}.answered());
  EXPECT_EQ(told(scan), spots{});
}

TEST(CannotTell, AClockThatGoesBack) {
  const bytes f = from_opener(ack);
  const json r = report_of(joined(pcap_header(), pcap_record(5, 0, f), pcap_record(4, 0, f), pcap_record(6, 0, f), pcap_record(5, 9, f)));
  EXPECT_EQ(told(r).at("clock_back"), 2U);
}

// A clock that is corrected is not two clocks: time goes on from there, and connections are made as ever.
TEST(CannotTell, AClockThatIsSetBack) {
  const auto over_ten_seconds = [](i32 step_at, u32 back) {
    bytes all = pcap_header();
    u32 ms = 0;
    const std::vector<tcp_packet> packets = download{}.down(100, 1'448).packets();
    for (usize i = 0; i < packets.size(); ++i, ms += 50) {
      const u32 told = 100'000 + ms - (static_cast<i32>(i) >= step_at ? back : 0);
      append(all, pcap_record(told / 1'000, told % 1'000 * 1'000, packets[i].frame()));
    }
    return report_of(all);
  };
  const json straight = over_ten_seconds(1'000, 0), stepped = over_ten_seconds(60, 60'000);
  EXPECT_EQ(told(straight), spots{});
  ASSERT_TRUE(told(stepped).contains("clock_set"));
  EXPECT_EQ(told(stepped)["clock_set"], 1U);
  EXPECT_EQ(straight["connections"]["made"], 1);
  EXPECT_EQ(stepped["connections"]["made"], 1);
  EXPECT_GT(stepped["frames"]["forwarded"], straight["frames"]["forwarded"].get<u64>() / 2);
  EXPECT_NEAR(stepped["capture"]["seconds"].get<double>(), straight["capture"]["seconds"].get<double>(), 1.2);
  EXPECT_FALSE(told(over_ten_seconds(60, 900)).contains("clock_set")) << "less than a second is disorder";
}

TEST(CannotTell, StampsThatAreAllTheSame) {
  bytes all = pcap_header();
  const download whole = download{}.down(20, 1'448);
  for (const tcp_packet& p : whole.packets()) append(all, pcap_record(0, 0, p.frame()));
  EXPECT_TRUE(told(report_of(all)).contains("no_time"));
}

TEST(CannotTell, ABoxThatAlreadyOffloads) {
  const download offloaded = download{}.down(8, 1'448).out_of_sight(50'000'000).down(2, 1'448);
  EXPECT_EQ(told(offloaded.recorded()), (spots{{"offloaded", 1}}));
  // Numbers have 32 bits: what went on by 3 GB seems to be 1 GB behind.
  EXPECT_EQ(told(download{}.down(8, 1'448).out_of_sight(3'000'000'000).down(2, 1'448).recorded()), (spots{{"offloaded", 1}}));
  // Ports that are used again, or an opener that nobody answers, begin anew.
  recording again;
  for (const u32 number : {7U, 2'000'000'000U, 100U})
    again.add(tcp_packet{.flags = syn, .sequence = number, .acknowledgement = 0}).after(3'000);
  EXPECT_EQ(told(again), spots{});
}

TEST(CannotTell, FramesThatTheCaptureLost) {
  const json lossy = report_of(download{}.down(60, 1'448).out_of_sight(14'480).down(60, 1'448).recorded().all());
  EXPECT_EQ(told(lossy), (spots{{"lost", 1}}));
  EXPECT_NE(lossy["cannot_tell"].dump().find("14,480 bytes"), std::string::npos);
  // What the network lost and a peer sent again is there; so is what came in another order.
  recording mended;
  const std::vector<tcp_packet> whole = download{}.down(10, 1'448).packets();
  for (usize i = 0; i < whole.size(); ++i) {
    if (i == 9) continue;
    mended.add(whole[i]);
    if (i == 13) mended.add(whole[9]);
  }
  EXPECT_EQ(told(mended), spots{});
  // Nobody says that he has it.
  recording unanswered;
  const std::vector<tcp_packet> holed = download{}.down(4, 1'448).out_of_sight(1'448).down(4, 1'448).packets();
  for (const tcp_packet& p : holed)
    if (p.from == responder || p.flags == syn) unanswered.add(p);
  EXPECT_FALSE(told(unanswered).contains("lost"));
}

TEST(CannotTell, TheTextSaysEachInOneLineThatSaysWhatToDo) {
  const temporary_file file{both_sides(download{}.down(20, 1'448)).all()};
  const std::string text = replay_command({file.path()}).out;
  const usize at = text.find("WHAT THIS CAPTURE CANNOT TELL");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NE(text.find("`--nat-of 203.0.113.5`", at), std::string::npos) << text.substr(at);
  const temporary_file whole{download{}.down(40, 1'448).recorded().all()};
  EXPECT_EQ(replay_command({whole.path()}).out.find("CANNOT TELL"), std::string::npos);
}

// Both files of this repository are of one NAT, one side each: neither is taken for both.
TEST(CannotTell, TheShippedCapturesSayWhatIsTrueOfThem) {
  for (const char* const file : {"lan-nat.pcapng", "wan-nat.pcapng"}) {
    const json r = json::parse(replay_command({"--json", std::string{OCTEP_SOURCE_DIR} + "/test/captures/" + file}).out);
    EXPECT_FALSE(told(r).contains("nat_sides")) << file;
    EXPECT_FALSE(told(r).contains("seen_twice")) << file;
    EXPECT_EQ(told(r).at("no_syn"), 1U) << file;
  }
}

// The two files of this repository as one, in the order of their stamps.
bytes both_shipped_sides() {
  std::multimap<std::pair<u32, u32>, bytes> records;
  for (const char* const file : {"lan-nat.pcapng", "wan-nat.pcapng"}) {
    char why[PCAP_ERRBUF_SIZE] = "";
    const std::string path = std::string{OCTEP_SOURCE_DIR} + "/test/captures/" + file;
    pcap_t* const reader = pcap_open_offline(path.c_str(), why);
    EXPECT_NE(reader, nullptr) << why;
    pcap_pkthdr* header = nullptr;
    const u_char* at = nullptr;
    while (pcap_next_ex(reader, &header, &at) == 1) {
      const u32 seconds = static_cast<u32>(header->ts.tv_sec), us = static_cast<u32>(header->ts.tv_usec);
      records.emplace(std::pair{seconds, us},
                      joined(pcap_record_header(seconds, us, header->caplen, header->len), bytes(at, at + header->caplen)));
    }
    pcap_close(reader);
  }
  bytes all = pcap_header();
  for (const auto& [stamp, record] : records) append(all, record);
  return all;
}

TEST(CannotTell, BothShippedSidesPairedAreTheInside) {
  const bytes both = both_shipped_sides();
  EXPECT_GT(told(report_of(both)).at("nat_sides"), 2'000U);
  const json paired = report_of(both, {"--nat-of", "198.51.100.1"});
  const json inside = json::parse(replay_command({"--json", "--nat", std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng"}).out);
  EXPECT_FALSE(told(paired).contains("nat_sides"));
  EXPECT_EQ(paired["connections"]["seen"], inside["connections"]["seen"]);
  EXPECT_EQ(paired["connections"]["made"], inside["connections"]["made"]);
  EXPECT_EQ(paired["frames"]["forwarded"], inside["frames"]["forwarded"]);
  EXPECT_EQ(paired["frames"]["forwarded_bytes"], inside["frames"]["forwarded_bytes"]);
}

}  // namespace
}  // namespace octep::tools
