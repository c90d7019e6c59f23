// What -h and -V print.
#pragma once

#include <string>
#include <string_view>

namespace tracer::cli {

/// The whole of --help, made from options.def.
[[nodiscard]] std::string help_text(std::string_view program_name);

[[nodiscard]] std::string version_text(unsigned asked, bool strict);  ///< `asked`: how often -V was given

/// The section OPTIONS of the manual page, in roff, made from options.def.
[[nodiscard]] std::string manual_options();

}  // namespace tracer::cli
