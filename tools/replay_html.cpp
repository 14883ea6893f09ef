#include "tools/replay_html.hpp"

#include "tools/advice.hpp"
#include "tools/embedded.hpp"

#include <octep/reasons.hpp>
#include <octep/settings.hpp>

#include <nlohmann/json.hpp>

namespace octep::tools {
namespace {

using json = nlohmann::ordered_json;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

// In a script's element only `<` can begin the end of it, and JSON may write it otherwise.
std::string in_script(std::string_view object) {
  std::string out;
  for (const char c : object) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

// The texts that the report names by a word: why a connection is not in hardware, and what a setting is unless it is set.
json words(const device_facts& device) {
  json reasons = json::object(), defaults = json::object();
  for (const reason_row& r : reason_rows) reasons[r.name] = {{"sentence", r.sentence}, {"change", advice(r.is, device)}};
  for (const setting_row& r : setting_rows) defaults[r.name] = {{"value", settings{}[r.is]}, {"unit", r.unit}, {"meaning", r.meaning}};
  return {{"reasons", std::move(reasons)}, {"settings", std::move(defaults)}};
}

}  // namespace

bool has_charts() { return !embedded("chart.js").empty(); }

std::string report_html(std::string_view report, std::string_view text, const replay_options& options) {
  const auto filled = [&](std::string_view name) -> std::string {
    if (name == "title") return escaped(options.file);
    if (name == "text") return escaped(text);
    if (name == "report") return in_script(report);
    if (name == "words") return in_script(words(options.box.device).dump());
    return embedded(name);
  };
  const std::string page = embedded("report.html");
  // What is put in is not looked at again, whatever it holds.
  std::string out;
  for (std::string::size_type at = 0;;) {
    const auto begin = page.find("{{", at), end = page.find("}}", begin);
    out.append(page, at, begin - at);
    if (end == std::string::npos) return out;
    out += filled(std::string_view{page}.substr(begin + 2, end - begin - 2));
    at = end + 2;
  }
}

}  // namespace octep::tools
