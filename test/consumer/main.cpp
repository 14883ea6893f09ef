// Somebody else's program: a TCP tuple as it arrives, and what the other direction arrives with.
#include <octep/tuple.hpp>

#include <cstdio>

int main() {
  using namespace octep;
  const u32 ports = join_ports(port_word(50000), port_word(443));
  const tuple4 sent = tuple4::make(0x0101'a8c0, 0x0202'000a, ports, protocol::tcp);
  const tuple4 answer = reverse(sent);
  std::printf("from port %u to port %u, answered from port %u\n", sent.source_port(), sent.destination_port(),
              answer.source_port());
  return answer.source_port() == 443 && reverse(answer) == sent ? 0 : 1;
}
