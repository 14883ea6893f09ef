#include "tools/connections_csv.hpp"

#include "tools/tuple_text.hpp"

#include <fmt/format.h>

namespace octep::tools {
namespace {

std::string seconds(instant at) { return fmt::format("{}.{:06}", at.us / 1'000'000, at.us % 1'000'000); }

std::string address(const sim::wide_tuple& t, const address6& a) {
  return t.which == family::ipv4 ? address_text(sim::narrow<tuple4>(a)) : address_text(a);
}

}  // namespace

connections_csv::connections_csv(output_file& to) : to_{&to} {
  to.write("protocol,opener,opener_port,responder,responder_port,begin,end,frames_forwarded,bytes_forwarded,frames_punted,"
           "bytes_punted,made,why_not\n");
}

void connections_csv::add(const connection& c) {
  const sim::wide_tuple& t = c.from_opener;
  const std::string responder_port = is_echo(t.proto) ? "" : fmt::format("{}", port_number(t.destination_word()));
  const bool in_hardware = c.made || c.forwarded;
  to_->write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", protocol_text(t.proto), address(t, t.source), port_number(t.source_word()),
                         address(t, t.destination), responder_port, seconds(c.first_frame), seconds(c.last_frame),
                         c.frames_forwarded, c.bytes_forwarded, c.frames_punted, c.bytes_punted,
                         c.made ? seconds(*c.made) : "", in_hardware ? "" : name(c.refusal)));
}

}  // namespace octep::tools
