// What --help and the manual page say of the options, and --version of the program.
#include <regex>
#include <sstream>

#include "catch.h"
#include "cli/help.h"
#include "cli/option_table.h"
#include "cli/output_formats.h"

namespace tracer::cli {

TEST_CASE("help shows every option within the width of a terminal") {
  const auto text = help_text("tracer");
  for (const auto& row : option_rows()) {
    CHECK_FALSE(row.help.empty());
    if (!row.long_name.empty()) {
      CHECK(text.find("--" + std::string(row.long_name)) != std::string::npos);
    }
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.size() <= 100);
  }
}

TEST_CASE("requests of the manual page stand at the begin of a line") {
  std::istringstream lines(manual_options());
  for (std::string line; std::getline(lines, line);) {
    for (const char* request : {" .B ", " .BR ", " .BI ", " .RB ", " .I "}) {
      CHECK_THAT(line, !test::ContainsSubstring(request));
    }
  }
}

TEST_CASE("the version comes with the engines, the formats and the libraries of this build") {
  const auto text = version_text(1, false);
  CHECK(std::regex_search(text, std::regex(R"(^tracer -- version [0-9]+\.[0-9]+\.[0-9]+\n)")));
  CHECK_THAT(text, test::ContainsSubstring("\nEngines: ptrace"));
  CHECK_THAT(text, test::ContainsSubstring("\nBuilt with elfutils 0."));
  for (const auto& row : output_formats) {
    CHECK_THAT(text, test::ContainsSubstring(std::string(row.name)));
  }
}

}  // namespace tracer::cli
