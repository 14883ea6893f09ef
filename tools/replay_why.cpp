#include "tools/replay_why.hpp"

#include "tools/advice.hpp"
#include "tools/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace octep::tools {
namespace {

sim::wide_tuple wide(const any_tuple& t) {
  return std::visit([](const auto& one) { return sim::wide_tuple{one}; }, t);
}

const char* name_of(asker by) {
  switch (by) {
    case asker::poll: return "the poll";
    case asker::run: return "a run";
    case asker::wait: return "the end of a wait";
  }
  return "";
}

std::string seconds(instant at) { return fmt::format("{:.3f} s", static_cast<double>(at.us) / 1e6); }

std::string decision(const explanation& e) {
  std::string name = octep::name(e.last);
  for (char& c : name)
    if (c == '_') c = ' ';
  return name;
}

}  // namespace

replay_why::replay_why(const any_tuple& about, const sim::appliance_options& box)
    : about_{wide(about)}, device_{box.device}, makes_{makes_connections(box.values)} {}

void replay_why::hear(const event& e) {
  // A discard names nobody and ends everybody.
  if (!e.names_tuple) return (*memory_)(e);
  const sim::wide_tuple named = sim::tuple_of(e);
  if (is_it(named)) return (*memory_)(e);
  if (!translated_ || named != translated_->first) return;
  event of_reply = e;
  if (named.which == family::ipv4)
    of_reply.v4 = translated_->second.as<tuple4>();
  else
    of_reply.v6 = translated_->second.as<tuple6>();
  (*memory_)(of_reply);
}

void replay_why::frame(const sim::wide_tuple& tuple, const sim::wide_tuple& arrives, bool forwarded) {
  if (!is_it(tuple)) return;
  ++(forwarded ? forwarded_ : punted_);
  if (arrives != tuple) translated_ = {arrives, tuple};
}

explanation replay_why::known() const {
  if (about_.which == family::ipv4) return joined(memory_->of(about_.as<tuple4>()), memory_->of(octep::reverse(about_.as<tuple4>())));
  return joined(memory_->of(about_.as<tuple6>()), memory_->of(octep::reverse(about_.as<tuple6>())));
}

std::string replay_why::change_of(const explanation& e) const {
  return e.told == recollection::known ? advice(e.why, device_) : e.change();
}

std::string replay_why::text(instant now) const {
  const explanation e = known();
  std::string out = fmt::format("{}, {} after the capture's first frame\n", to_text(about_), seconds(now));
  const auto line = [&](const std::string& words) { out += "  " + wrapped(words, 2) + '\n'; };
  line(fmt::format("Until then {} of its frames were forwarded and {} punted.", grouped(forwarded_), grouped(punted_)));
  if (e.told == recollection::never_seen) {
    if (punted_ + forwarded_ == 0)
      line("No frame that octep can read had this tuple or its reverse until then. What is in a tunnel, in PPPoE or in fragments it cannot read.");
    else if (makes_)
      line("No pass has decided anything about it yet.");
    else
      line(fmt::format("{} To change it: {}", row(reason::auto_off).sentence, advice(reason::auto_off, device_)));
    return out;
  }
  line(e.held ? "It is in hardware." : "It is not in hardware.");
  line(fmt::format("Last decision: {}, at {} by {}{}; {} in all.", decision(e), seconds(e.at), name_of(e.by),
                   e.in_a_row > 1 ? fmt::format(", {} times in a row", grouped(e.in_a_row)) : "", grouped(e.in_all)));
  if (e.why != reason::none) line(fmt::format("{}: {}", name(e.why), row(e.why).sentence));
  if (!e.held) line(fmt::format("To change it: {}", change_of(e)));
  if (e.hold_level != 0)
    line(e.held_back(now) ? fmt::format("It is held back until {}, the {}. time.", seconds(e.hold_until), e.hold_level)
                          : fmt::format("It was held back {} time{} before.", e.hold_level, plural(e.hold_level)));
  return out;
}

std::string replay_why::json(instant now) const {
  const explanation e = known();
  const bool decided = e.told == recollection::known;
  const nlohmann::ordered_json all{{"tuple", to_text(about_)},
                                   {"at_us", now.us},
                                   {"forwarded", forwarded_},
                                   {"punted", punted_},
                                   {"held", decided && e.held},
                                   {"decision", decided ? nlohmann::ordered_json(octep::name(e.last)) : nullptr},
                                   {"why", decided ? nlohmann::ordered_json(name(e.why)) : nullptr},
                                   {"change", decided && !e.held ? nlohmann::ordered_json(change_of(e)) : nullptr},
                                   {"decided_at_us", decided ? nlohmann::ordered_json(e.at.us) : nullptr},
                                   {"in_a_row", e.in_a_row},
                                   {"in_all", e.in_all},
                                   {"hold_level", e.hold_level},
                                   {"held_back", e.held_back(now)}};
  return all.dump(2) + '\n';
}

}  // namespace octep::tools
