// Parses the command line.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/options.h"
#include "spec/spec.h"

namespace tracer::cli {

/// -h, -V: print on standard output and exit with 0.
struct Information {
  std::string text;
};

/// Print on standard error and exit with 1. `text` consists of lines, with the warnings that precede the error.
struct UsageError {
  std::string text;
};

using Outcome = std::variant<Options, Information, UsageError>;

/// What the parser knows of the machine. The caller passes it, so that tests can choose it.
struct Environment {
  AbiMask abis = mask_of(Abi::x86_64) | mask_of(Abi::i386) | mask_of(Abi::x32);  ///< the ABIs that this machine can run
  uid_t user = 0;                                                                ///< effective user id; -u needs root
  unsigned columns = 0;  ///< width of the terminal, which aligns the results of ltrace; 0: unknown
};

/// What has to be read before the rest can be parsed, since it describes calls that the rest may name.
struct FilesAhead {
  std::vector<std::string> defined;  ///< --define
  std::string replayed;              ///< --replay
  std::string explained;             ///< --explain=FILE
};
[[nodiscard]] FilesAhead files_ahead(const std::vector<std::string>& words);

/// `words` is argv, including argv[0]. Accesses neither files nor global state.
[[nodiscard]] Outcome parse_command_line(const std::vector<std::string>& words, const spec::Tables& tables,
                                         const Environment& environment = {});

}  // namespace tracer::cli
