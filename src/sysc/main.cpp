#include <cstdio>
#include <exception>
#include <fstream>

#include "sysc/emit.h"
#include "sysc/lowering.h"
#include "sysc/parser.h"

int main(int argc, char** argv) {
  using namespace tracer::sysc;
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    bool lenient = false;
    std::string output;
    std::vector<std::string> paths;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "--lenient")
        lenient = true;
      else if (words[i] == "-o")
        output = words[++i];
      else
        paths.push_back(words[i]);
    }
    const auto sources = read_sources(paths);
    Diagnostics diagnostics;
    const auto program = parse(sources, diagnostics);
    Lowering lowering(program, diagnostics);
    const auto set = lowering.run(lenient);
    std::fputs(diagnostics.text(sources).c_str(), stderr);
    if (words[0] == "emit") {
      std::ofstream(output) << emit_cpp(set);
    }
    return diagnostics.has_errors() && !lenient ? 1 : 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sysc: %s\n", failure.what());
    return 2;
  }
}
