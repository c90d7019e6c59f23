// ltrace's command line.
#pragma once

#include "cli/parser.h"

namespace tracer::cli {

/// Whether argv[0] is a link named `ltrace`.
[[nodiscard]] bool is_ltrace(const std::vector<std::string>& words);

/// As parse_command_line(), of the words that ltrace takes.
[[nodiscard]] Outcome parse_ltrace_command_line(const std::vector<std::string>& words,
                                                const Surroundings& surroundings);

}  // namespace tracer::cli
