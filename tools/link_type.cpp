#include "tools/link_type.hpp"

#include <pcap/pcap.h>

namespace octep::tools {
namespace {

// Linux cooked headers (libpcap's LINKTYPE_LINUX_SLL and _SLL2): where the fields we read are.
struct cooked_layout {
  u32 length;
  u32 ethertype_at;
  u32 packet_type_at;  // the low byte
  u32 address_at;
};
constexpr cooked_layout cooked_v1_layout{16, 14, 1, 6};
constexpr cooked_layout cooked_v2_layout{20, 0, 10, 12};
constexpr u8 cooked_to_broadcast = 1, cooked_to_multicast = 2;

constexpr u32 loopback_header_length = 4;
// AF_INET6 is another number on NetBSD and OpenBSD (24), FreeBSD (28), macOS (30) and Linux (10).
constexpr u32 family_inet = 2;
constexpr u32 families_inet6[] = {24, 28, 30, 10};

// Neither; the parser then says not_ip.
constexpr u16 no_ethertype = 0xffff;

const cooked_layout& layout_of(link_type link) noexcept {
  return link == link_type::cooked_v1 ? cooked_v1_layout : cooked_v2_layout;
}

void not_at_hand(frame_facts& facts) noexcept {
  facts = {};
  facts.why = reason::truncated;
}

void classify_raw(const frame_view& view, frame_facts& facts) noexcept {
  if (view.at_hand() == 0) return not_at_hand(facts);
  const u8 version = view.bytes[0] / 16;
  parse_network(view, 0, version == 4 ? ethertype_ipv4 : version == 6 ? ethertype_ipv6 : no_ethertype, facts);
}

void classify_cooked(const frame_view& view, const cooked_layout& layout, frame_facts& facts) noexcept {
  if (view.at_hand() < layout.length) return not_at_hand(facts);
  parse_network(view, layout.length, load_be16(view.bytes + layout.ethertype_at), facts);
  const u8 to = view.bytes[layout.packet_type_at];
  if (to != cooked_to_broadcast && to != cooked_to_multicast) return;
  // The reasons that the parser gives only after it has asked for groups: see the order in frame.hpp.
  const bool after_groups = facts.why == reason::none || facts.why == reason::fragment ||
                            facts.why == reason::superframe || facts.why == reason::other_icmp;
  if (!after_groups) return;
  facts = {};
  facts.why = reason::multicast;
}

void classify_loopback(const frame_view& view, frame_facts& facts) noexcept {
  if (view.at_hand() < loopback_header_length) return not_at_hand(facts);
  // Either order: a family is a small number, so the other order of it is a large one.
  const u32 little = load_le32(view.bytes);
  const u32 number = little <= 0xffff ? little : load_be32(view.bytes);
  u16 ethertype = number == family_inet ? ethertype_ipv4 : no_ethertype;
  for (const u32 inet6 : families_inet6)
    if (number == inet6) ethertype = ethertype_ipv6;
  parse_network(view, loopback_header_length, ethertype, facts);
}

}  // namespace

std::optional<link_type> link_type_of(int datalink) noexcept {
  switch (datalink) {
    case DLT_EN10MB: return link_type::ethernet;
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6: return link_type::raw;
    case DLT_LINUX_SLL: return link_type::cooked_v1;
    case DLT_LINUX_SLL2: return link_type::cooked_v2;
    case DLT_NULL:
    case DLT_LOOP: return link_type::loopback;
    default: return {};
  }
}

void classify(const captured_frame& frame, frame_facts& facts) noexcept {
  switch (frame.link) {
    case link_type::ethernet: return parse_ethernet(frame.view, facts);
    case link_type::raw: return classify_raw(frame.view, facts);
    case link_type::cooked_v1:
    case link_type::cooked_v2: return classify_cooked(frame.view, layout_of(frame.link), facts);
    case link_type::loopback: return classify_loopback(frame.view, facts);
  }
}

std::optional<u64> link_source(const captured_frame& frame) noexcept {
  const frame_view& view = frame.view;
  const auto six_bytes_at = [&](u32 at) -> std::optional<u64> {
    if (view.at_hand() < at + 6) return {};
    return (u64{load_be16(view.bytes + at)} << 32) | load_be32(view.bytes + at + 2);
  };
  switch (frame.link) {
    case link_type::ethernet: return six_bytes_at(6);
    case link_type::cooked_v1:
    case link_type::cooked_v2: return six_bytes_at(layout_of(frame.link).address_at);
    case link_type::raw:
    case link_type::loopback: break;
  }
  return {};
}

bool is_loopback(const captured_frame& frame) noexcept {
  return frame.link == link_type::loopback || (frame.link == link_type::ethernet && link_source(frame) == 0U);
}

}  // namespace octep::tools
