// What the command line knows and this build cannot do. Such an option is refused, never passed over.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace tracer {

/// One sentence about the first such option, with what to do instead.
std::optional<std::string> not_built_yet(const cli::Options& options);

}  // namespace tracer
