// Hostile files of those whose functions are traced: programs with bytes changed are read, and so are prototype files.
// Nothing may crash or take long, and no prototype file may lead to descriptions with errors.
//
//   fuzz_functions PROGRAM PROTOTYPES SECONDS [SEED]
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "change_bytes.h"
#include "change_dwarf.h"
#include "change_elf.h"
#include "debuginfo/prototype_questions.h"
#include "functions/library/ltrace_conf.h"
#include "functions/library/module_file.h"
#include "sysc/compile.h"

namespace {

using namespace tracer;
using Random = std::mt19937_64;

std::string content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

[[noreturn]] void fail(const std::string& what, std::uint64_t seed) {
  std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
  std::exit(1);
}

// ---------------------------------------------------------------------------------------------- programs

/// What the debugging information says of all functions, by their addresses and by their names.
void read_debugging_information(int descriptor, const functions::library::ModuleFile& module, std::uint64_t seed) {
  spec::Tables tables;
  spec::GrowingTables grown(tables);
  debuginfo::PrototypeQuestions questions(grown, {}, {});
  debuginfo::ReadFile file({"/nonexistent/program", UniqueFd(::dup(descriptor)), {}, {}});
  for (const auto symbols : {module.exported(), module.all_functions()}) {
    for (const functions::library::Symbol& symbol : symbols.first(std::min<std::size_t>(symbols.size(), 64))) {
      static_cast<void>(questions.find_definition(file, symbol.address, symbol.name));
      static_cast<void>(questions.find_declaration(file, symbol.name));
    }
  }
  if (const std::string wrong = tables.verify(); !wrong.empty()) {
    fail("of debugging information: " + wrong, seed);
  }
}

void read_program(std::string file, Random& random, std::uint64_t seed) {
  // Mostly where headers and tables are.
  switch (seed % 4) {
    case 0:
      fuzz::change_bytes(file, random, [size = file.size()](Random& dice) {
        return dice() % (dice() % 2 == 0 ? std::min<std::size_t>(size, 4096) : size);
      });
      break;
    case 1:
      fuzz::ElfChanger(file, random).change();
      break;
    default:
      fuzz::DwarfChanger(file, random).change();
      break;
  }
  const UniqueFd descriptor(::memfd_create("program", MFD_CLOEXEC));
  if (::write(descriptor.get(), file.data(), file.size()) != static_cast<ssize_t>(file.size())) {
    return;
  }
  const auto read = functions::library::ModuleFile::read(descriptor.get());
  if (!read) {
    return;
  }
  const functions::library::ModuleFile& module = *read.value();
  for (const functions::library::Stub& stub : module.stubs()) {
    static_cast<void>(module.slots()[stub.slot].symbol.size());
  }
  read_debugging_information(descriptor.get(), module, seed);
  for (const functions::library::StaticProbe& probe : module.probes()) {
    static_cast<void>(functions::library::ProbePattern("*:*").matches(probe));
  }
  for (const auto symbols : {module.exported(), module.all_functions()}) {
    for (const functions::library::Symbol& symbol : symbols) {
      static_cast<void>(module.find_exported(symbol.name));
    }
  }
}

// ---------------------------------------------------------------------------------------------- prototypes

/// Words of the language, in any order.
std::string any_text(Random& random) {
  static const std::vector<std::string> words = {"int",
                                                 "char",
                                                 "void",
                                                 "struct",
                                                 "(",
                                                 ")",
                                                 ",",
                                                 ";",
                                                 "*",
                                                 "array",
                                                 "string",
                                                 "[",
                                                 "]",
                                                 "zero",
                                                 "arg1",
                                                 "arg9",
                                                 "retval",
                                                 "elt1",
                                                 "elt2",
                                                 "enum",
                                                 "=",
                                                 "bitvec",
                                                 "hex",
                                                 "oct",
                                                 "bool",
                                                 "hide",
                                                 "guess",
                                                 "format",
                                                 "typedef",
                                                 "node",
                                                 "S",
                                                 "string0",
                                                 "string3",
                                                 "addr",
                                                 "file",
                                                 "octal",
                                                 "double",
                                                 "float",
                                                 "ulong",
                                                 "+",
                                                 " ",
                                                 "func",
                                                 "calls",
                                                 "type",
                                                 "library",
                                                 "0",
                                                 "3",
                                                 "-1",
                                                 "0x10",
                                                 "99999999999999999999",
                                                 "\n",
                                                 "ushort",
                                                 "import",
                                                 "if",
                                                 "out",
                                                 "as",
                                                 "bin",
                                                 "llong",
                                                 "ltrace_struct_1"};
  std::string text;
  for (std::size_t i = random() % 60; i > 0; --i) {
    text += words[random() % words.size()];
    text += random() % 4 == 0 ? " " : "";
  }
  return text;
}

std::string changed_prototypes(const std::string& prototypes, Random& random) {
  if (random() % 4 == 0) {
    return any_text(random) + "\n" + prototypes + "\n" + any_text(random);
  }
  std::string text = prototypes;
  for (std::size_t i = 1 + random() % 6; i > 0; --i) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 12);
        break;
      case 2:
        text.insert(at, any_text(random));
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
        break;
    }
    text += "\n";
  }
  return text;
}

void read_prototypes(const std::string& text, std::uint64_t seed) {
  functions::library::LtraceConf conf;
  conf.read(text, "fuzz.conf");
  const std::vector<sysc::Source> sources = {
      {"fuzz.conf", conf.descriptions()},
      {"types.sys", "type ptr = ulong as address\ntype str = *cstr\ntype wstr = *custom wide_text : i32\n"}};
  sysc::Diagnostics diagnostics;
  const spec::TableSet set = sysc::compile(sources, diagnostics);
  if (diagnostics.has_errors()) {
    fail("descriptions with errors:\n" + diagnostics.text(sources) + "made of:\n" + text + "\nnamely:\n" +
             sources[0].text,
         seed);
  }
  spec::Tables tables = set.view();
  spec::GrowingTables grown(tables);
  grown.literal(1);
  grown.text("moves all");
  spec::TableSet others = set;
  others.functions.clear();  // which are there already
  grown.add(others);
  for (const std::string& wrong : {set.view().verify(), tables.verify()}) {
    if (!wrong.empty()) {
      fail(wrong, seed);
    }
  }
}

// ---------------------------------------------------------------------------------------------- static probes

void read_arguments(Random& random) {
  static const std::vector<std::string> words = {"8@",
                                                 "-4@",
                                                 "4f@",
                                                 "%rax",
                                                 "%eax",
                                                 "(",
                                                 ")",
                                                 ",",
                                                 "$",
                                                 "-12",
                                                 "+",
                                                 "x0",
                                                 "[sp",
                                                 ", ",
                                                 "]",
                                                 "sxtw",
                                                 "2",
                                                 "%fs:",
                                                 " ",
                                                 "g",
                                                 "%rip",
                                                 "0x7f",
                                                 "#",
                                                 "99999999999999999999",
                                                 "-9223372036854775808",
                                                 "3@",
                                                 "lsl ",
                                                 "w1",
                                                 "@"};
  std::string text;
  for (std::size_t i = random() % 30; i > 0; --i) {
    text += words[random() % words.size()];
  }
  for (const Abi abi : {Abi::x86_64, Abi::i386, Abi::aarch64}) {
    for (const functions::library::ProbeArgument& argument : functions::library::parse_probe_arguments(text, abi)) {
      const bool usable = argument.where == functions::library::ProbeArgument::Where::unknown ||
                          (argument.size >= 1 && argument.size <= 8 && argument.scale >= 1 && argument.scale <= 16);
      if (!usable) {
        fail("an argument of a strange size in '" + text + "'", 0);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s PROGRAM PROTOTYPES SECONDS [SEED]\n", argv[0]);
    return 2;
  }
  const std::string program = content(argv[1]);
  const std::string prototypes = content(argv[2]);
  if (program.empty() || prototypes.empty()) {
    std::fprintf(stderr, "nothing to change\n");
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]));
  std::uint64_t seed = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : std::random_device()();
  std::uint64_t rounds = 0;
  for (; rounds < 50 || std::chrono::steady_clock::now() < end; ++rounds, ++seed) {
    Random random(seed);
    read_program(program, random, seed);
    read_arguments(random);
    read_prototypes(changed_prototypes(prototypes, random), seed);
  }
  std::printf("%llu rounds\n", static_cast<unsigned long long>(rounds));
  return 0;
}
