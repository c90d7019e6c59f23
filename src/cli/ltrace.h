// Parses the command line of ltrace.
#pragma once

#include "cli/parser.h"

namespace tracer::cli {

/// Returns whether argv[0] has the name `ltrace`.
[[nodiscard]] bool is_ltrace(const std::vector<std::string>& words);

/// Parses the options of ltrace as parse_command_line() does those of strace.
[[nodiscard]] Outcome parse_ltrace_command_line(const std::vector<std::string>& words, const Environment& environment);

}  // namespace tracer::cli
