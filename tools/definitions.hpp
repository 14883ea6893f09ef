// The pages docs/settings.md, docs/counters.md and docs/reasons.md, made from the core's tables.
//
// What it refuses: a word about a setting, counter or reason that is not in its row. What that buys: the docs, the
// kernel's tree, `octep help` and dumps say one thing, and a test fails when a committed page is not what is made here.
// Concurrency: functions of their arguments; `definitions_command` writes files when asked to.
#pragma once

#include "tools/command.hpp"

#include <string>
#include <vector>

namespace octep::tools {

struct document {
  std::string name;  // of the file: "settings.md"
  std::string text;
};

// Settings, counters, reasons.
[[nodiscard]] std::vector<document> definition_documents();

// `octep definitions [PAGE] [--write DIR]`: the pages one after the other, or each into its file in DIR; or one of them.
[[nodiscard]] outcome definitions_command(const arguments& given);

}  // namespace octep::tools
