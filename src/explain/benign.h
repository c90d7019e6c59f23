// Recognizes harmless failures: searches that succeeded later, optional files.
#pragma once

#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

/// Returns why a failed call of the current program is harmless, as a heading ("lookups of libraries"); empty if it may
/// matter.
std::string benign_reason(const Process& process, const Step& step);

/// Returns a line for each kind of harmless failure: "12 failed: lookups of libraries (each found elsewhere)", …
std::vector<std::string> ruled_out(const Process& process);

}  // namespace tracer::explain
