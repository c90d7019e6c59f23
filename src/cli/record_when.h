// Parses the conditions of --record-when.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "filter/trigger.h"

namespace tracer::cli {

/// Parses conditions with `||` between them: `exit != 0 || sig in (SIGSEGV, SIGABRT) || dur > 1s`. The error is a
/// sentence.
[[nodiscard]] Result<std::vector<filter::Trigger>> read_triggers(std::string_view text);

}  // namespace tracer::cli
