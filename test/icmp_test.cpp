#include <octep/icmp.hpp>

#include <gtest/gtest.h>

namespace octep {
namespace {

TEST(Icmp, EchoIsRequestOrReplyOfItsOwnFamily) {
  for (unsigned type = 0; type < 256; ++type) {
    EXPECT_EQ(is_echo_message(protocol::icmp, static_cast<u8>(type)), type == 8 || type == 0) << type;
    EXPECT_EQ(is_echo_message(protocol::icmp6, static_cast<u8>(type)), type == 128 || type == 129) << type;
  }
}

TEST(Icmp, PortWordsAreTheIdAsLoadedAndTheRequestsType) {
  const u8 id_on_the_wire[] = {0x12, 0x34};
  const u32 four = echo_ports(protocol::icmp, load_le16(id_on_the_wire));
  const u32 six = echo_ports(protocol::icmp6, load_le16(id_on_the_wire));
  EXPECT_EQ(four, 0x3412'0800U);
  EXPECT_EQ(six, 0x3412'8000U);
}

TEST(Icmp, EchoShowsItsIdAndTypeAsPorts) {
  const tuple4 t = tuple4::make(1, 2, echo_ports(protocol::icmp, port_word(0x1234)), protocol::icmp);
  EXPECT_EQ(t.source_port(), 0x1234);
  EXPECT_EQ(t.destination_port(), 8);
  EXPECT_EQ(reverse(t).ports, t.ports);
}

}  // namespace
}  // namespace octep
