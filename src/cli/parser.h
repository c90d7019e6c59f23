// From the words of the command line to Options, or to what must be said instead.
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

/// Print on standard error and exit with 1. `text` is whole lines, warnings that came before it included.
struct UsageError {
  std::string text;
};

using Outcome = std::variant<Options, Information, UsageError>;

/// What of the parser's surroundings it may know, given by the caller so that tests choose it.
struct Surroundings {
  AbiMask abis = mask_of(Abi::x86_64) | mask_of(Abi::i386) | mask_of(Abi::x32);  ///< those this machine can run
  uid_t user = 0;                                                                ///< effective user id: -u is for root
  unsigned columns = 0;  ///< of the terminal; 0: unknown. What ltrace's results are aligned by
};

/// The files of --define, which are to be loaded before the rest can be understood.
[[nodiscard]] std::vector<std::string> defined_files(const std::vector<std::string>& words);

/// `words` is argv, its [0] included. Touches neither files nor global state.
[[nodiscard]] Outcome parse_command_line(const std::vector<std::string>& words, const spec::Tables& tables,
                                         const Surroundings& surroundings = {});

}  // namespace tracer::cli
