// TCP over IPv4 with every number that a watch over captures looks at. Checksums are left out: nobody asks for them.
#pragma once

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {

struct tcp_packet {
  u32 from = opener, to = responder;
  u16 from_port = 40'000, to_port = 443;
  u8 flags = ack;
  u32 sequence = 1, acknowledgement = 1;
  u32 payload = 0;
  u16 id = 0;
  u8 ttl = 64;
  bytes options{};

  [[nodiscard]] tcp_packet answered() const {
    tcp_packet r = *this;
    r.from = to, r.to = from, r.from_port = to_port, r.to_port = from_port;
    return r;
  }
  [[nodiscard]] bytes frame() const {
    const bytes segment =
        joined(be16(from_port), be16(to_port), be32(sequence), be32(acknowledgement),
               bytes{static_cast<u8>(0x50 + (options.size() / 4 << 4)), flags}, be16(1'024), be16(0), be16(0), options, bytes(payload, 'p'));
    return ethernet(1, 2, 0x0800,
                    joined(bytes{0x45, 0}, be16(20 + static_cast<u32>(segment.size())), be16(id), be16(0x4000), bytes{ttl, 6}, be16(0),
                           be32(from), be32(to), segment));
  }
};

// A SYN's option: the longest segment that its sender takes.
inline bytes takes_segments_of(u32 length) { return joined(bytes{2, 4}, be16(length)); }

}  // namespace octep::tools
