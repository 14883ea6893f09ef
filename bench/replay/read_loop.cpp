// The least that reading a capture by libpcap costs: its records, one by one, and nothing made of them. What target P7 holds a
// replay against.
#include <pcap/pcap.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  char why[PCAP_ERRBUF_SIZE] = "";
  pcap_t* const reader = pcap_open_offline(argv[1], why);
  if (reader == nullptr) {
    std::fprintf(stderr, "read_loop: %s\n", why);
    return 1;
  }
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  unsigned long long frames = 0;
  unsigned long long length = 0;
  int said = 0;
  while ((said = pcap_next_ex(reader, &header, &bytes)) == 1) {
    ++frames;
    length += header->len;
  }
  pcap_close(reader);
  std::printf("%llu frames, %llu bytes\n", frames, length);
  return said == PCAP_ERROR_BREAK ? 0 : 1;
}
