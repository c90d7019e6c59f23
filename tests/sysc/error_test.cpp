// Every file in errors/ says on the offending line, after `# error: `, what sysc has to say there.
#include <algorithm>
#include <map>
#include <sstream>

#include "catch.h"
#include "sysc/compile.h"

namespace tracer::sysc {

namespace {

constexpr std::string_view mark = "# error: ";

std::multimap<std::uint32_t, std::string> expected_messages(const std::string& text) {
  std::multimap<std::uint32_t, std::string> expected;
  std::istringstream lines(text);
  std::string line;
  for (std::uint32_t number = 1; std::getline(lines, line); ++number) {
    if (const auto at = line.find(mark); at != std::string::npos) {
      expected.emplace(number, line.substr(at + mark.size()));
    }
  }
  return expected;
}

}  // namespace

TEST_CASE("errors say place, found, expected and the near miss") {
  const auto files = read_sources({SYSC_TESTS "/errors"});
  REQUIRE(files.size() > 10);
  for (const auto& file : files) {
    INFO(file.path);
    Diagnostics diagnostics;
    const std::vector<Source> sources{file};
    const auto set = compile(sources, diagnostics);
    std::multimap<std::uint32_t, std::string> found;
    for (const auto& diagnostic : diagnostics.all()) {
      const std::pair<const std::uint32_t, std::string> entry{diagnostic.at.line, diagnostic.text};
      if (std::find(found.begin(), found.end(), entry) == found.end()) {
        found.insert(entry);
      }
    }
    CHECK(found == expected_messages(file.text));
    CHECK(set.view().verify().empty());
  }
}

TEST_CASE("a message begins with file, line and column") {
  const std::vector<Source> sources{{"syscalls/x.sys", "type a = i32\nread(fd: i33)\n"}};
  Diagnostics diagnostics;
  compile(sources, diagnostics);
  CHECK(diagnostics.text(sources) == "syscalls/x.sys:2:10: error: found i33, expected a type; did you mean i32?\n");
}

TEST_CASE("an error hides no other: parsing goes on at the next item") {
  const std::vector<Source> sources{{"x.sys", "type a i32\nstruct b { c d }\nread(fd: int) -> int %dsc\n"}};
  Diagnostics diagnostics;
  compile(sources, diagnostics);
  CHECK(diagnostics.all().size() == 3);
}

TEST_CASE("no warning is about the descriptions that others build upon") {
  const std::vector<Source> sources{{"mine.sys", "struct mine { a: u32 }\n"},
                                    {"known.sys", "struct known { a: u32 }\n"}};
  Diagnostics diagnostics;
  CompileOptions options;
  options.unused = true;
  options.first_replaceable = 1;
  compile(sources, diagnostics, options);
  CHECK(diagnostics.text(sources) == "mine.sys:1:8: warning: found mine, which nothing uses\n");
}

}  // namespace tracer::sysc
