// The description compiler: `sysc`, which the build runs, and `tracer-sysc`, which is installed.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "capture/plan_text.h"
#include "sysc/arrange.h"
#include "sysc/builtin_sources.h"
#include "sysc/compile.h"
#include "sysc/embed.h"
#include "sysc/emit.h"
#include "sysc/format.h"
#include "sysc/layout_text.h"

namespace {

using namespace tracer;
using namespace tracer::sysc;

// The name of the program that runs stands in place of each %.
constexpr std::string_view usage =
    "Usage: % check [--unused] [--numbers] PATH...\n"
    "         report the errors in descriptions\n"
    "       % format [--check] [--numbers] FILE...\n"
    "         rewrite files in the usual form\n"
    "       % plan CALL [PATH...]\n"
    "         print which memory of a system call is copied if no thread stops for it\n"
    "       % layout STRUCT [--abi=ABI,...] [PATH...]\n"
    "         print the offsets and sizes of the fields of a structure\n"
    "PATH is a .sys file, a .nr file or a directory of such files; see tracer-sys(5).\n"
    "  --unused    report also the types that nothing uses\n"
    "  --numbers   report also the numbers of ioctls that follow from a size; format replaces them\n"
    "  --check     change no file; report those that have another form\n"
    "  --abi=ABI   print the layout of these ABIs only: x86_64, i386, x32, aarch64, arm\n"
    "  -h, --help  print this text\n";
/// Only the program that the build runs has these commands, and it knows no description itself.
constexpr std::string_view usage_of_build =
    "Commands of the build:\n"
    "       % emit [--lenient] -o FILE PATH...\n"
    "         compile descriptions to C++\n"
    "       % embed -o FILE PATH...\n"
    "         put the text of descriptions into C++\n"
    "  --lenient   report errors and compile the rest; a call without a description shows as words\n";

/// How the program was called, without directories.
std::string program_name(const char* path) {
  return std::filesystem::path(path).filename().string();
}

std::string usage_of(const std::string& program) {
  std::string text(usage);
  if (builtin_sources().empty()) {
    text += usage_of_build;
  }
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + program.size())) {
    text.replace(at, 1, program);
  }
  return text;
}

struct Arguments {
  std::string program;
  std::string command;
  bool help = false;
  bool lenient = false;
  bool unused = false;
  bool numbers = false;
  bool check_only = false;
  std::string output;
  std::string subject;  ///< of plan and layout: which call or structure
  AbiMask abis = all_abis;
  std::vector<std::string> paths;
};

AbiMask parse_abis(std::string_view names) {
  AbiMask abis = 0;
  do {
    const std::string_view name = names.substr(0, names.find(','));
    const auto abi = std::find(abi_names.begin(), abi_names.end(), name);
    if (abi == abi_names.end()) {
      throw std::runtime_error("unknown ABI '" + std::string(name) + "'");
    }
    abis |= mask_of(static_cast<Abi>(abi - abi_names.begin()));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  } while (!names.empty());
  return abis;
}

bool has_subject(const Arguments& arguments) {
  return arguments.command == "plan" || arguments.command == "layout";
}

Arguments parse_arguments(int argc, char** argv) {
  constexpr std::string_view abi_option = "--abi=";
  Arguments arguments;
  arguments.program = program_name(argv[0]);
  const auto wrong = [&](const std::string& what) {
    return std::runtime_error(what + "\n" + usage_of(arguments.program));
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      arguments.help = true;
      return arguments;
    }
    if (word == "--lenient") {
      arguments.lenient = true;
    } else if (word == "--unused") {
      arguments.unused = true;
    } else if (word == "--numbers") {
      arguments.numbers = true;
    } else if (word == "--check") {
      arguments.check_only = true;
    } else if (word.starts_with(abi_option)) {
      arguments.abis = parse_abis(std::string_view(word).substr(abi_option.size()));
    } else if (word == "-o" && i + 1 < argc) {
      arguments.output = argv[++i];
    } else if (word.size() > 1 && word[0] == '-') {
      throw wrong("unknown option " + word);
    } else if (arguments.command.empty()) {
      arguments.command = word;
    } else if (has_subject(arguments) && arguments.subject.empty()) {
      arguments.subject = word;
    } else {
      arguments.paths.push_back(word);
    }
  }
  constexpr std::array<std::string_view, 6> commands = {"check", "format", "plan", "layout", "emit", "embed"};
  if (std::find(commands.begin(), commands.end(), arguments.command) == commands.end()) {
    throw wrong(arguments.command.empty() ? "no command given" : "unknown command " + arguments.command);
  }
  if (has_subject(arguments) && arguments.subject.empty()) {
    throw wrong(arguments.command + ": no name given");
  }
  if (arguments.paths.empty() && !(has_subject(arguments) && !builtin_sources().empty())) {
    throw wrong("no files named");
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

/// Returns the source whose path ends the given one; the longest; null: there is none.
const Source* namesake(const std::map<std::string_view, const Source*>& by_path, std::string_view given) {
  while (!given.empty()) {
    if (const auto found = by_path.find(given); found != by_path.end()) {
      return found->second;
    }
    given.remove_prefix(std::min(given.find('/'), given.size() - 1) + 1);
  }
  return nullptr;
}

/// Removes the built-in files that are among the given ones: of the same name and text, or of the same name if most of
/// the given ones are so, as a copy of the descriptions with changes is.
void leave_out_given(std::vector<Source>& builtin, const std::vector<Source>& given) {
  constexpr std::size_t fewest = 10;  // files with names of built-in ones that are no accident
  std::map<std::string_view, const Source*> by_path;
  for (const Source& source : builtin) {
    by_path.emplace(source.path, &source);
  }
  std::set<std::string> known;
  std::set<std::string> equal;
  for (const Source& source : given) {
    if (const Source* own = namesake(by_path, source.path); own != nullptr) {
      known.insert(own->path);
      if (own->text == source.text) {
        equal.insert(own->path);
      }
    }
  }
  const bool is_copy = known.size() >= fewest && known.size() > given.size() / 2;
  std::erase_if(builtin, [&](const Source& source) { return (is_copy ? known : equal).count(source.path) != 0; });
}

/// Compiles sources together with the built-in descriptions, of which they may replace calls and files.
spec::TableSet compile_files(std::vector<Source>& sources, CompileOptions options, Diagnostics& diagnostics) {
  auto builtin = builtin_sources();
  leave_out_given(builtin, sources);
  if (!builtin.empty()) {
    options.first_replaceable = sources.size();
    std::move(builtin.begin(), builtin.end(), std::back_inserter(sources));
  }
  return compile(sources, diagnostics, options);
}

int run_format(const Arguments& arguments) {
  auto sources = read_sources(arguments.paths);
  Diagnostics found;
  if (arguments.numbers) {
    auto all = sources;
    CompileOptions options;
    options.numbers = true;
    compile_files(all, options, found);
    if (found.has_errors()) {
      std::fputs(found.text(all).c_str(), stderr);
      return 1;
    }
  }
  int status = 0;
  for (std::uint32_t file = 0; file < sources.size(); ++file) {
    const Source& source = sources[file];
    if (source.path.ends_with(".nr")) {
      continue;
    }
    Diagnostics diagnostics;
    const auto formatted = format({source.path, with_numbers_replaced(source.text, file, found.all())}, diagnostics);
    if (!formatted) {
      std::fputs(diagnostics.text({&source, 1}).c_str(), stderr);
      status = 1;
    } else if (*formatted != source.text && arguments.check_only) {
      std::fprintf(stderr, "%s: not formatted; run: %s format %s\n", source.path.c_str(), arguments.program.c_str(),
                   source.path.c_str());
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

/// `nothing`: what is wrong if there is no text.
int print(const std::string& text, const std::string& nothing) {
  if (text.empty()) {
    throw std::runtime_error(nothing);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

int run_on_tables(const Arguments& arguments, spec::TableSet set) {
  if (arguments.command == "emit") {
    set = arrange(std::move(set));
  }
  const spec::Tables tables = set.view();
  if (const auto broken = tables.verify(); !broken.empty()) {
    throw std::runtime_error("the tables are broken, which is a bug of sysc: " + broken);
  }
  if (arguments.command == "emit") {
    write_file(arguments.output, emit_cpp(set));
  } else if (arguments.command == "plan") {
    return print(capture::plan_text(tables, arguments.subject),
                 arguments.subject + ": no call of this name has a number");
  } else if (arguments.command == "layout") {
    return print(layout_text(tables, arguments.subject, arguments.abis),
                 arguments.subject + ": no structure has this name");
  }
  return 0;
}

int run(const Arguments& arguments) {
  if (arguments.help) {
    return print(usage_of(arguments.program), {});
  }
  if (arguments.command == "format") {
    return run_format(arguments);
  }
  auto sources = read_sources(arguments.paths);
  if (arguments.command == "embed") {
    write_file(arguments.output, embed_cpp(sources, arguments.paths.front()));
    return 0;
  }
  Diagnostics diagnostics;
  auto set = compile_files(sources, {arguments.lenient, arguments.unused, arguments.numbers}, diagnostics);
  std::fputs(shortened(diagnostics.text(sources), arguments.lenient).c_str(), stderr);
  if (diagnostics.has_errors() && !arguments.lenient) {
    return 1;
  }
  return run_on_tables(arguments, std::move(set));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse_arguments(argc, argv));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", program_name(argv[0]).c_str(), failure.what());
    return 2;
  }
}
