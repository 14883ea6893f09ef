// Captures written byte by byte, for tests of what no recorder writes on purpose.
#pragma once

#include <octep/base.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace octep::tools {

using bytes = std::vector<u8>;

inline void append(bytes& to, const bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

inline bytes le16(u32 v) { return {static_cast<u8>(v), static_cast<u8>(v >> 8)}; }
inline bytes be16(u32 v) { return {static_cast<u8>(v >> 8), static_cast<u8>(v)}; }
inline bytes le32(u32 v) {
  bytes b = le16(v);
  append(b, le16(v >> 16));
  return b;
}
inline bytes be32(u32 v) {
  bytes b = be16(v >> 16);
  append(b, be16(v));
  return b;
}

template <class... Parts>
bytes joined(const Parts&... parts) {
  bytes all;
  (append(all, parts), ...);
  return all;
}

// LINKTYPE numbers, as files have them.
inline constexpr u32 link_null = 0, link_ethernet = 1, link_raw = 101, link_ieee80211 = 105, link_loop = 108,
                     link_cooked = 113, link_ipv4 = 228, link_ipv6 = 229, link_cooked2 = 276;

inline bytes pcap_header(u32 link = link_ethernet, u32 snap_length = 262'144) {
  return joined(le32(0xa1b2'c3d4), le16(2), le16(4), le32(0), le32(0), le32(snap_length), le32(link));
}
inline bytes pcap_record_header(u32 seconds, u32 us, u32 kept, u32 on_wire) {
  return joined(le32(seconds), le32(us), le32(kept), le32(on_wire));
}
inline bytes pcap_record(u32 seconds, u32 us, const bytes& frame) {
  const u32 length = static_cast<u32>(frame.size());
  return joined(pcap_record_header(seconds, us, length, length), frame);
}

inline constexpr u8 fin = 1, syn = 2, rst = 4, ack = 16;

// 20 bytes of TCP.
inline bytes tcp(u32 from_port, u32 to_port, u8 flags) {
  return joined(be16(from_port), be16(to_port), be32(1), be32(1), bytes{0x50, flags}, be16(1024), be16(0), be16(0));
}
inline bytes udp(u32 from_port, u32 to_port, const bytes& payload = {}) {
  return joined(be16(from_port), be16(to_port), be16(8 + static_cast<u32>(payload.size())), be16(0), payload);
}
inline bytes ipv4(u8 protocol, u32 from, u32 to, const bytes& payload) {
  return joined(bytes{0x45, 0}, be16(20 + static_cast<u32>(payload.size())), be32(0), bytes{64, protocol}, be16(0),
                be32(from), be32(to), payload);
}
inline bytes wire_address6(u8 last) { return {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}; }
inline bytes ipv6(u8 next, u8 from, u8 to, const bytes& payload) {
  return joined(be32(0x6000'0000), be16(static_cast<u32>(payload.size())), bytes{next, 64}, wire_address6(from), wire_address6(to),
                payload);
}
inline bytes ethernet(u8 from, u8 to, u32 ethertype, const bytes& payload) {
  return joined(bytes{0, 0, 0x5e, 0, 0x53, to}, bytes{0, 0, 0x5e, 0, 0x53, from}, be16(ethertype), payload);
}

// 192.0.2.0/24 and 198.51.100.0/24 are for documentation.
inline constexpr u32 opener = 0xc000'020a, responder = 0xc633'6402;

inline bytes from_opener(u8 flags) { return ethernet(1, 2, 0x0800, ipv4(6, opener, responder, tcp(40'000, 443, flags))); }
inline bytes from_responder(u8 flags) {
  return ethernet(2, 1, 0x0800, ipv4(6, responder, opener, tcp(443, 40'000, flags)));
}

// A file of its own, gone with the object.
class temporary_file {
 public:
  explicit temporary_file(const bytes& content) {
    std::string pattern = (std::filesystem::temp_directory_path() / "octep-XXXXXX").string();
    const int opened = mkstemp(pattern.data());
    if (opened < 0) std::abort();
    path_ = pattern;
    std::FILE* const file = fdopen(opened, "wb");
    if (file == nullptr || std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fclose(file) != 0)
      std::abort();
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace octep::tools
