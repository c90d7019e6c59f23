#include "program_run.h"
#include "catch.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tracer::live {

bool Ran::has(const std::string& line) const {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

bool Ran::mentions(const std::string& text) const {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

Ran run(const std::string& command) {
  Process shell({"/bin/sh", "-c", "T=" TRACER "; " + command}, true);
  Ran ran;
  ran.lines = shell.rest();
  const auto status = shell.wait();
  REQUIRE(status);
  ran.status = *status;
  return ran;
}

std::string difference(const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string one = i < ours.size() ? ours[i] : "(no more lines)";
    const std::string other = i < theirs.size() ? theirs[i] : "(no more lines)";
    if (one != other) {
      return one + "\n" + other;
    }
  }
  return {};
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tracer-live-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = name;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tracer::live
