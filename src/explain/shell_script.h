// Reads what a shell does after a test of a file that fails, from the text of its script.
#pragma once

#include <string>

#include "explain/prober.h"

namespace tracer::explain {

/// True if `process` is a shell whose script asks whether the file exists, and goes on if it does not: `[ -f FILE ] ||
/// true`, `[ -r FILE ] && . FILE`. `given`: the path as the script names it.
bool script_goes_on_without(const Process& process, const Prober& prober, const std::string& given);

}  // namespace tracer::explain
