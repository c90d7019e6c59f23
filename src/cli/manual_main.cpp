// Writes the manual page from its template, at build time: manual TEMPLATE VERSION > tracer.1
#include <cstdio>
#include <fstream>
#include <sstream>

#include "cli/help.h"

namespace {

void replace(std::string& text, const std::string& mark, const std::string& by) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size())) {
    text.replace(at, mark.size(), by);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("Usage: manual TEMPLATE VERSION\n", stderr);
    return 1;
  }
  const std::ifstream file(argv[1]);
  std::ostringstream content;
  content << file.rdbuf();
  std::string page = content.str();
  replace(page, "@VERSION@", argv[2]);
  replace(page, "@OPTIONS@\n", tracer::cli::manual_options());
  return !file || std::fputs(page.c_str(), stdout) < 0 ? 1 : 0;
}
