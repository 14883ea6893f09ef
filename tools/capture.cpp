#include "tools/capture.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace octep::tools {
namespace {

constexpr i64 ns_per_second = 1'000'000'000;
// A lying stamp may be any 64-bit number of seconds; 136 years either way, as far as pcap's reach, keep any two inside 64 bits.
constexpr i64 most_seconds = i64{1} << 32;
constexpr i64 most_ns = most_seconds * ns_per_second;

// Two interfaces or queues write out of order by less; a clock that is corrected by less than that does little harm.
constexpr i64 set_back_from_ns = ns_per_second;

constexpr usize read_at_once = 256 * 1'024;

struct file_closer {
  void operator()(std::FILE* file) const noexcept {
    if (file != stdin) std::fclose(file);
  }
};
using file_pointer = std::unique_ptr<std::FILE, file_closer>;

// A block of the file system at a time, which is what a stream reads by itself, would be a system call for each 40 frames.
void read_much_at_once(std::FILE* file, std::unique_ptr<char[]>& buffer) {
  static char of_standard_input[read_at_once];  // nobody closes that, so its buffer stays as well
  if (file != stdin) buffer = std::make_unique_for_overwrite<char[]>(read_at_once);
  (void)std::setvbuf(file, file == stdin ? of_standard_input : buffer.get(), _IOFBF, read_at_once);
}

// Nothing is missing: the empty string. Otherwise what stands in the way of reading from `file` at all.
std::string unreadable(std::FILE* file) {
  struct stat about {};
  if (fstat(fileno(file), &about) != 0) return std::strerror(errno);
  if (S_ISDIR(about.st_mode)) return "this is a directory, not a capture";
  if (file == stdin && isatty(fileno(file)) != 0) return "this is a terminal; pipe a capture into it, or name a file";
  return {};
}

// What a file that libpcap does not know begins like, for the likeliest mistake.
std::string looks_like(int first_byte) {
  switch (first_byte) {
    case 0x1f: return "; it looks compressed: try `zcat FILE | octep replay -`";
    case 0x28: return "; it looks compressed: try `zstdcat FILE | octep replay -`";
    case 0xfd: return "; it looks compressed: try `xzcat FILE | octep replay -`";
    default: return {};
  }
}

// What to do about a record that libpcap refuses, where there is something: its words are the only name that it has for them.
std::string way_around(const std::string& why) {
  if (why.find("different from the snapshot length") != std::string::npos) return "; `editcap -F pcap FILE OUT` writes a file of one";
  if (why.find("different from the type of the first") != std::string::npos)
    return "; a file of one link type can be read, so capture on one of these interfaces at a time";
  return {};
}

std::string name_of_link(int datalink) {
  const char* const name = pcap_datalink_val_to_name(datalink);
  const char* const what = pcap_datalink_val_to_description(datalink);
  if (name == nullptr || what == nullptr) return fmt::format("number {}", datalink);
  return fmt::format("{} ({})", name, what);
}

}  // namespace

void capture::closer::operator()(pcap* reader) const noexcept { pcap_close(reader); }

std::optional<capture> capture::open(const std::string& path, std::string& error) {
  const bool standard_input = path == "-";
  const std::string name = standard_input ? "standard input" : path;
  const auto refuse = [&](const std::string& why) {
    error = fmt::format("{}: {}", name, why);
    return std::nullopt;
  };

  std::unique_ptr<char[]> buffer;
  file_pointer file{standard_input ? stdin : std::fopen(path.c_str(), "rbe")};
  if (!file) return refuse(std::strerror(errno));
  if (const std::string why = unreadable(file.get()); !why.empty()) return refuse(why);
  read_much_at_once(file.get(), buffer);
  const int first_byte = std::getc(file.get());
  if (first_byte == EOF)
    return refuse(std::ferror(file.get()) != 0 ? std::strerror(errno) : "the file is empty, so it is no capture");
  std::ungetc(first_byte, file.get());

  char why[PCAP_ERRBUF_SIZE] = "";
  pcap_t* const reader = pcap_fopen_offline_with_tstamp_precision(file.get(), PCAP_TSTAMP_PRECISION_NANO, why);
  if (reader == nullptr)
    return refuse(fmt::format("no pcap or pcapng capture that can be read: {}{}", why, looks_like(first_byte)));
  std::unique_ptr<pcap, closer> holder{reader};
  (void)file.release();  // the reader closes it

  const int datalink = pcap_datalink(reader);
  const std::optional<link_type> link = link_type_of(datalink);
  if (!link)
    return refuse(fmt::format("link type {} is not supported; supported are Ethernet, raw IP, Linux cooked (v1, v2) and "
                              "BSD loopback",
                              name_of_link(datalink)));
  constexpr int pcap_version = 2;  // pcapng's is 1
  capture opened{name, std::move(buffer), holder.release(), *link};
  opened.is_pcap_ = pcap_major_version(opened.reader_.get()) == pcap_version;
  struct stat about {};
  if (fstat(fileno(pcap_file(opened.reader_.get())), &about) == 0 && S_ISREG(about.st_mode))
    opened.size_ = static_cast<u64>(about.st_size);
  return opened;
}

capture::got capture::next(captured_frame& frame) {
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int said = pcap_next_ex(reader_.get(), &header, &bytes);
  if (said == PCAP_ERROR_BREAK) return got::end;
  if (said != 1) {
    std::FILE* const file = pcap_file(reader_.get());
    const bool at_end = file != nullptr && std::feof(file) != 0;
    const std::string why = pcap_geterr(reader_.get());
    message_ = at_end ? fmt::format("{}: the file is cut inside a record; read are the {} frames before it", name_, frames_)
                      : fmt::format("{}: frame {}: {}{}", name_, frames_ + 1, why, way_around(why));
    return at_end ? got::cut : got::bad;
  }
  // With nanosecond precision libpcap keeps nanoseconds in tv_usec, and does not check them. Seconds of pcap have 32 bits and no
  // sign, of which libpcap makes a negative number from 2038 on.
  const i64 told = header->ts.tv_sec;
  const i64 seconds = std::clamp(is_pcap_ && told < 0 ? told + (i64{1} << 32) : told, -most_seconds, most_seconds);
  const i64 stamp_ns = seconds * ns_per_second + std::clamp(i64{header->ts.tv_usec}, i64{0}, ns_per_second * 4);
  frame = {{bytes, header->caplen, header->len}, clock(stamp_ns), link_};
  ++frames_;
  bytes_ += header->len;
  if (header->len < header->caplen) ++overlong_;
  return got::frame;
}

u64 capture::position() const noexcept {
  const long at = size_ == 0 ? -1 : std::ftell(pcap_file(reader_.get()));
  return at < 0 ? 0 : static_cast<u64>(at);
}

double capture::seconds() const noexcept {
  // In years of nanoseconds a double would lose the last digits before it divides.
  return static_cast<double>(static_cast<long double>(latest_ns_ - earliest_ns_) / ns_per_second);
}

double capture::set_back_seconds() const noexcept { return static_cast<double>(set_back_most_ns_) / ns_per_second; }

instant capture::clock(i64 stamp_ns) noexcept {
  stamp_ns = std::min(stamp_ns + shift_ns_, most_ns);
  if (frames_ == 0) first_ns_ = earliest_ns_ = latest_ns_ = stamp_ns;
  if (latest_ns_ - stamp_ns <= set_back_from_ns) {
    behind_ = false;
  } else if (!behind_) {
    behind_ = true;
    behind_since_ns_ = stamp_ns;
  } else if (stamp_ns - behind_since_ns_ > set_back_from_ns) {
    const i64 back = latest_ns_ - behind_since_ns_;
    ++set_back_;
    set_back_most_ns_ = std::max(set_back_most_ns_, back);
    shift_ns_ = std::min(shift_ns_ + back, most_ns);
    stamp_ns = std::min(stamp_ns + back, most_ns);
    behind_ = false;
  }
  if (stamp_ns < latest_ns_) ++went_back_;
  if (!behind_) earliest_ns_ = std::min(earliest_ns_, stamp_ns);
  latest_ns_ = std::max(latest_ns_, stamp_ns);
  return {static_cast<u64>(latest_ns_ - first_ns_) / 1000};
}

}  // namespace octep::tools
