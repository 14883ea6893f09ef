// A capture: the records of a pcap or pcapng file, one after the other, by libpcap.
//
// What it is: libpcap's reader with a clock that never goes back, and with errors that are one line each.
// What it refuses: link types that octep does not parse (when the file is opened), and records that libpcap calls
// impossible (when they are met). A file that ends inside a record is neither: what came before counts, and `cut` is said.
// What that buys: constant memory, no copy between libpcap and the parser, and standard input like any file.
// Concurrency: one thread a capture.
#pragma once

#include "tools/link_type.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

struct pcap;

namespace octep::tools {

class capture {
 public:
  enum class got : u8 {
    frame,  // `frame` holds the next record
    end,    // there are no more
    cut,    // the file ends inside a record; `message()` says so. There are no more
    bad,    // libpcap refuses the next record; `message()` says why. There are no more
  };

  // `path` "-" is standard input. Nothing: `error` is one line that names the path.
  [[nodiscard]] static std::optional<capture> open(const std::string& path, std::string& error);

  [[nodiscard]] got next(captured_frame& frame);

  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  // Of the records read so far.
  [[nodiscard]] u64 frames() const noexcept { return frames_; }
  [[nodiscard]] u64 bytes() const noexcept { return bytes_; }  // on the wire, with link headers
  // Latest stamp less earliest; where the clock was set back, of time as it goes on here.
  [[nodiscard]] double seconds() const noexcept;
  [[nodiscard]] u64 went_back() const noexcept { return went_back_; }  // records stamped earlier than one before them
  // How often the clock was set back, and by how much at the most. A clock is set back where stamps stay behind by more than a
  // second for more than a second of their own; time goes on from there.
  [[nodiscard]] u64 set_back() const noexcept { return set_back_; }
  [[nodiscard]] double set_back_seconds() const noexcept;
  [[nodiscard]] u64 overlong() const noexcept { return overlong_; }    // records with more bytes than they say the wire had
  // Of the file, for a progress bar: bytes read of it so far, and all of them; 0 where it is no regular file.
  [[nodiscard]] u64 position() const noexcept;
  [[nodiscard]] u64 size() const noexcept { return size_; }
  [[nodiscard]] link_type link() const noexcept { return link_; }

 private:
  struct closer {
    void operator()(pcap* reader) const noexcept;
  };

  capture(std::string name, std::unique_ptr<char[]> buffer, pcap* reader, link_type link)
      : name_{std::move(name)}, buffer_{std::move(buffer)}, reader_{reader}, link_{link} {}
  [[nodiscard]] instant clock(i64 stamp_ns) noexcept;

  std::string name_;
  std::unique_ptr<char[]> buffer_;  // of the reader's file
  std::unique_ptr<pcap, closer> reader_;
  link_type link_;
  std::string message_;
  u64 frames_ = 0;
  u64 bytes_ = 0;
  u64 went_back_ = 0;
  u64 overlong_ = 0;
  u64 size_ = 0;
  bool is_pcap_ = false;  // and not pcapng
  u64 set_back_ = 0;
  i64 set_back_most_ns_ = 0;
  i64 shift_ns_ = 0;  // of stamps, since the clock was set back
  bool behind_ = false;
  i64 behind_since_ns_ = 0;  // the first stamp of those that are behind by so much
  i64 first_ns_ = 0;
  i64 earliest_ns_ = 0;
  i64 latest_ns_ = 0;
};

}  // namespace octep::tools
