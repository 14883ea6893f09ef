#include "tools/definitions.hpp"

#include <octep/counters.hpp>
#include <octep/device.hpp>
#include <octep/reasons.hpp>
#include <octep/settings.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string_view>

namespace octep::tools {
namespace {

constexpr const device_facts* devices[] = {&xgs3300, &xgs136};

constexpr std::string_view origin =
    "<!-- Made by `octep definitions --write docs`. Change the tables in include/octep. -->\n\n";

// A row of a Markdown table. A bar inside a cell would end it.
std::string line(std::initializer_list<std::string_view> cells) {
  std::string text = "|";
  for (const std::string_view cell : cells) {
    text += ' ';
    for (const char c : cell) {
      if (c == '|') text += '\\';
      text += c;
    }
    text += " |";
  }
  return text + '\n';
}

std::string head(std::initializer_list<std::string_view> titles) {
  std::string rule = "|";
  for (usize i = 0; i < titles.size(); ++i) rule += "---|";
  return line(titles) + rule + '\n';
}

std::string code(std::string_view name) { return fmt::format("`{}`", name); }

std::string unit_of(const setting_row& r) {
  if (*r.unit != '\0') return r.unit;
  return r.least == 0 && r.most == 1 ? "switch" : "number";
}

std::string settings_page() {
  std::string text{origin};
  text +=
      "# Settings\n\n"
      "Each is a 32-bit number. A value outside its range is refused and changes nothing. `octep replay --set "
      "NAME=VALUE` sets\n"
      "one for a replay; in the kernel they are `dev.octep.0.dp.NAME`.\n\n";
  text += head({"name", "unit", "range", "default", "what it does", "what lowering it does to what is there"});
  for (const setting_row& r : setting_rows)
    text += line({code(r.name), unit_of(r), fmt::format("{} to {}", r.least, r.most), fmt::format("{}", r.initial),
                  r.meaning, r.falling_edge});
  text += "\n## Devices with defaults of their own\n\n";
  text += head({"device", "setting", "default"});
  for (const device_facts* d : devices) {
    const settings own = initial_settings(*d);
    for (const setting_row& r : setting_rows)
      if (own[r.is] != r.initial) text += line({code(d->name), code(r.name), fmt::format("{}", own[r.is])});
  }
  return text;
}

std::string counter_line(const counter_text& t) { return line({code(t.name), t.unit, t.moved_by}); }

std::string counters_page() {
  const std::string titles = head({"name", "unit", "what moves it"});
  std::string text{origin};
  text +=
      "# Counters\n\n"
      "Each is a 64-bit number that starts at zero. Two causes are two counters. `octep replay --json` has them under\n"
      "`counters`; in the kernel they are `dev.octep.0.dp.NAME`.\n";

  text += "\n## The receive path\n\nKept by each ring for itself, shown as the sum over the rings.\n\n" + titles;
  for (const auto& r : ring_counter_rows) text += counter_line(r.text);

  text +=
      "\n## Frames that leave no candidate\n\nOne counter a [reason](reasons.md), kept by each ring for itself.\n\n" +
      titles;
  for (const reason_row& r : reason_rows)
    if (is_frame_reason(r.is)) text += counter_line(octep::text(r.is));

  text += "\n## Passes\n\nPolls, runs, and what they ask of the far side.\n\n" + titles;
  for (const auto& r : pass_counter_rows) text += counter_line(r.text);

  text += "\n## Candidates that are not made into connections\n\nOne counter a [reason](reasons.md).\n\n" + titles;
  for (const reason_row& r : reason_rows)
    if (r.is != reason::none && !is_frame_reason(r.is) && !is_removal_reason(r.is)) text += counter_line(octep::text(r.is));

  text += "\n## Connections that are taken out\n\nOne counter a [reason](reasons.md).\n\n" + titles;
  for (const reason_row& r : reason_rows)
    if (is_removal_reason(r.is)) text += counter_line(octep::text(r.is));

  text += "\n## Sums\n\n" + titles;
  text += counter_line(flow_unsettled_text);
  text += counter_line(flow_nonhop_text);
  return text;
}

std::string reason_line(const reason_row& r) { return line({code(r.name), r.sentence, r.change}); }

std::string reasons_page() {
  const std::string titles = head({"name", "what it says", "what would have to change"});
  std::string text{origin};
  text +=
      "# Reasons\n\n"
      "Why a connection is not forwarded in hardware, or not yet. Each but `none` is also a [counter](counters.md);\n"
      "`clash` is counted as `cand_clash`.\n";

  text += "\n## A punted frame leaves no candidate\n\n" + titles;
  for (const reason_row& r : reason_rows)
    if (is_frame_reason(r.is)) text += reason_line(r);

  text += "\n## A candidate is not made into a connection\n\n" + titles;
  for (const reason_row& r : reason_rows)
    if (r.is != reason::none && !is_frame_reason(r.is) && !is_removal_reason(r.is)) text += reason_line(r);

  text += "\n## A connection is taken out\n\n" + titles;
  for (const reason_row& r : reason_rows)
    if (is_removal_reason(r.is)) text += reason_line(r);

  text += "\n## Nothing\n\n" + titles;
  text += reason_line(row(reason::none));
  return text;
}

// Empty: written.
std::string write(const std::string& folder, const document& d) {
  const std::string path = fmt::format("{}/{}", folder, d.name);
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << d.text;
  file.close();
  if (file) return {};
  return fmt::format("cannot write {}: {}", path, errno != 0 ? std::strerror(errno) : "the file was not taken whole");
}

}  // namespace

std::vector<document> definition_documents() {
  return {{"settings.md", settings_page()}, {"counters.md", counters_page()}, {"reasons.md", reasons_page()}};
}

outcome definitions_command(const arguments& given) {
  CLI::App app{"Prints the pages about settings, counters and reasons, as made from their tables.",
               "octep definitions"};
  app.get_formatter()->column_width(20);
  std::string page, folder;
  app.add_option("PAGE", page, "settings, counters or reasons; all three unless one is named")
      ->type_name(" ")
      ->check(CLI::IsMember({"settings", "counters", "reasons"}));
  app.add_option("--write", folder, "write each page into its file in DIR instead")->type_name("DIR");
  try {
    app.parse(std::vector<std::string>{given.rbegin(), given.rend()});
  } catch (const CLI::CallForHelp&) {
    return {status_done, app.help(), {}};
  } catch (const CLI::ParseError& wrong) {
    return refused(status_usage, wrong.what());
  }

  outcome answer;
  const bool writes = app.count("--write") != 0;
  for (const document& d : definition_documents()) {
    if (!page.empty() && d.name != page + ".md") continue;
    if (!writes) {
      answer.out += (answer.out.empty() ? "" : "\n") + d.text;
      continue;
    }
    if (std::string complaint = write(folder, d); !complaint.empty())
      return refused(status_input, std::move(complaint));
    answer.out += fmt::format("{}/{}\n", folder, d.name);
  }
  return answer;
}

}  // namespace octep::tools
