// The texts of -h and -V.
#pragma once

#include <string>
#include <string_view>

namespace tracer::cli {

/// Returns the text of --help, generated from options.def.
[[nodiscard]] std::string help_text(std::string_view program_name);

/// Returns what is said when no word follows the program's name: what it is, and what to try first.
[[nodiscard]] std::string first_steps(std::string_view program_name);

[[nodiscard]] std::string version_text(unsigned asked, bool strict);  ///< `asked`: how often -V was given

/// Returns the section OPTIONS of the manual page in roff, generated from options.def.
[[nodiscard]] std::string manual_options();

}  // namespace tracer::cli
