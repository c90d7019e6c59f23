// sysc: the description compiler.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "capture/plan_text.h"
#include "sysc/arrange.h"
#include "sysc/compile.h"
#include "sysc/embed.h"
#include "sysc/emit.h"
#include "sysc/format.h"

namespace {

using namespace tracer::sysc;

constexpr const char* usage =
    "Usage: sysc check PATH...                 report errors in descriptions\n"
    "       sysc emit [--lenient] -o FILE PATH...  compile them to C++\n"
    "       sysc embed -o FILE PATH...         put their text into C++\n"
    "       sysc plan NAME PATH...             show what is captured of a call\n"
    "       sysc format [--check] FILE...      rewrite files in the one style\n"
    "PATH is a .sys or .nr file or a directory of them.\n"
    "  --lenient  report errors, compile the rest, and decode calls without a description as words\n"
    "  --unused   with check: also report types that nothing uses\n"
    "  --numbers  with check: also report numbers of ioctls that have a size and do not say it\n";

struct Arguments {
  std::string command;
  bool lenient = false;
  bool unused = false;
  bool numbers = false;
  bool check_only = false;
  std::string output;
  std::string call;
  std::vector<std::string> paths;
};

Arguments parse_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--lenient") {
      arguments.lenient = true;
    } else if (word == "--unused") {
      arguments.unused = true;
    } else if (word == "--numbers") {
      arguments.numbers = true;
    } else if (word == "--check") {
      arguments.check_only = true;
    } else if (word == "-o" && i + 1 < argc) {
      arguments.output = argv[++i];
    } else if (word.size() > 1 && word[0] == '-') {
      throw std::runtime_error("unknown option " + word + "\n" + usage);
    } else if (arguments.command.empty()) {
      arguments.command = word;
    } else if (arguments.command == "plan" && arguments.call.empty()) {
      arguments.call = word;
    } else {
      arguments.paths.push_back(word);
    }
  }
  if (arguments.paths.empty()) {
    throw std::runtime_error(std::string("no files named\n") + usage);
  }
  return arguments;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw std::runtime_error(path + ": cannot be written");
  }
}

int run_format(const Arguments& arguments) {
  int status = 0;
  for (const auto& source : read_sources(arguments.paths)) {
    if (source.path.ends_with(".nr")) {
      continue;
    }
    Diagnostics diagnostics;
    const auto formatted = format(source, diagnostics);
    if (!formatted) {
      std::fputs(diagnostics.text({&source, 1}).c_str(), stderr);
      status = 1;
    } else if (*formatted != source.text && arguments.check_only) {
      std::fprintf(stderr, "%s: not formatted; run: sysc format %s\n", source.path.c_str(), source.path.c_str());
      status = 1;
    } else if (*formatted != source.text) {
      write_file(source.path, *formatted);
    }
  }
  return status;
}

/// Shortens the messages of a lenient run, which is part of a build.
std::string shortened(std::string text, bool lenient) {
  constexpr int shown_lines = 20;
  std::size_t end = 0;
  for (int line = 0; lenient && line < shown_lines && end != std::string::npos; ++line) {
    end = text.find('\n', end == 0 ? 0 : end + 1);
  }
  if (lenient && end != std::string::npos && end + 1 < text.size()) {
    text.resize(end + 1);
    text += "... and more: run sysc check\n";
  }
  return text;
}

int run(const Arguments& arguments) {
  if (arguments.command == "format") {
    return run_format(arguments);
  }
  const auto sources = read_sources(arguments.paths);
  if (arguments.command == "embed") {
    write_file(arguments.output, embed_cpp(sources));
    return 0;
  }
  Diagnostics diagnostics;
  auto set = compile(sources, diagnostics, {arguments.lenient, arguments.unused, arguments.numbers});
  std::fputs(shortened(diagnostics.text(sources), arguments.lenient).c_str(), stderr);
  if (diagnostics.has_errors() && !arguments.lenient) {
    return 1;
  }
  if (arguments.command == "emit") {
    set = arrange(std::move(set));
  }
  if (const auto broken = set.view().verify(); !broken.empty()) {
    throw std::runtime_error("the tables are broken, which is a bug of sysc: " + broken);
  }
  if (arguments.command == "emit") {
    write_file(arguments.output, emit_cpp(set));
  } else if (arguments.command == "plan") {
    const auto plan = tracer::capture::plan_text(set.view(), arguments.call);
    if (plan.empty()) {
      throw std::runtime_error(arguments.call + ": no call of this name has a number");
    }
    std::fputs(plan.c_str(), stdout);
  } else if (arguments.command != "check") {
    throw std::runtime_error("unknown command " + arguments.command + "\n" + usage);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse_arguments(argc, argv));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "sysc: %s\n", failure.what());
    return 2;
  }
}
