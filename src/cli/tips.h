// --tips: prints a tip at the end.
#pragma once

#include <string>

#include "cli/options.h"

namespace tracer::cli {

/// Returns the lines of the tip that the options ask for. Numbers beyond the last tip start again from the first.
[[nodiscard]] std::string tip_text(const Tips& tips);

}  // namespace tracer::cli
