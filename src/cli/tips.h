// --tips: a hint at the end.
#pragma once

#include <string>

#include "cli/options.h"

namespace tracer::cli {

/// The tip that was asked for, ended lines. Numbers beyond the last tip begin again from the first.
[[nodiscard]] std::string tip_text(const Tips& tips);

}  // namespace tracer::cli
