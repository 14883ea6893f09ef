#include "tools/replay_html.hpp"

#include "tools/embedded.hpp"
#include "tools/replay.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "test/tools/capture_bytes.hpp"

namespace octep::tools {
namespace {

const std::string shipped = std::string{OCTEP_SOURCE_DIR} + "/test/captures/lan-nat.pcapng";

std::string content(const std::string& path) {
  std::ifstream file{path};
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

struct folder {
  folder() { std::filesystem::create_directory(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string operator/(const char* name) const { return path + "/" + name; }
  std::string path = testing::TempDir() + "octep-html-" + std::to_string(getpid());
};

TEST(ReplayHtml, HoldsAllThatItNeeds) {
  ASSERT_TRUE(has_charts());
  const folder f;
  ASSERT_EQ(replay_command({shipped, "--html", f / "page.html"}).status, status_done);
  const std::string page = content(f / "page.html");
  for (const char* const name : {"report.css", "report.js", "chart.js", "chart.licence"}) {
    const std::string part = embedded(name);
    ASSERT_FALSE(part.empty()) << name;
    EXPECT_NE(page.find(part), std::string::npos) << name;
  }
  EXPECT_NE(page.find("Permission is hereby granted"), std::string::npos);
  EXPECT_EQ(page.find("{{report"), std::string::npos);
  // Nothing outside is asked for.
  const std::string own = page.substr(0, page.find("<script>")) + embedded("report.js") + embedded("report.css");
  for (const char* const word : {"src=", "href=", "url(", "@import", "fetch(", "http://", "https://", "sourceMappingURL"})
    EXPECT_EQ((word == std::string{"sourceMappingURL"} ? page : own).find(word), std::string::npos) << word;
}

TEST(ReplayHtml, TheSameFileTwiceIsTheSamePage) {
  const folder f;
  for (const char* const name : {"a.html", "b.html"}) ASSERT_EQ(replay_command({shipped, "--html", f / name, "--compare-device"}).status, status_done);
  EXPECT_EQ(content(f / "a.html"), content(f / "b.html"));
}

// A name may end a script or a title; it is text.
TEST(ReplayHtml, AHostileNameStaysAName) {
  replay_options options;
  options.file = "</title><script>alert(1)</script>{{chart.js}}&\".pcap";
  const std::string page = report_html(R"({"capture":{"file":")" + std::string{"</script><script>alert(2)</script>"} + R"("}})", "</pre><b>", options);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("</pre><b>"), std::string::npos);
  EXPECT_NE(page.find("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{chart.js}}&amp;&quot;.pcap"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cscript>alert(2)"), std::string::npos);
}

TEST(ReplayHtml, ShowsTheTextWhereThereAreNoScripts) {
  const folder f;
  const outcome answer = replay_command({shipped, "--html", f / "page.html"});
  const std::string page = content(f / "page.html");
  const std::string begin = "<noscript><pre>";
  const auto at = page.find(begin);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(page.substr(at + begin.size(), 400), answer.out.substr(0, 400));
}

TEST(ReplayHtml, CannotBeWrittenIsSaidBeforeAnythingIsRead) {
  const outcome answer = replay_command({shipped, "--html", "/no/such/folder/page.html"});
  EXPECT_EQ(answer.status, status_input);
  EXPECT_EQ(answer.out, "");
  ASSERT_EQ(answer.complaints.size(), 1U);
  EXPECT_EQ(answer.complaints.front(), "--html /no/such/folder/page.html: No such file or directory");
}

// Half a page is not there under its name.
TEST(ReplayHtml, OfACaptureThatCannotBeReadThereIsNone) {
  const folder f;
  const temporary_file absurd{joined(pcap_header(), pcap_record_header(9, 0, 0x7fff'ffff, 60), bytes(100, 0))};
  EXPECT_EQ(replay_command({absurd.path(), "--html", f / "page.html"}).status, status_input);
  EXPECT_TRUE(std::filesystem::is_empty(f.path));
}

}  // namespace
}  // namespace octep::tools
