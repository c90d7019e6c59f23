// Failures that look bad and are not: searches that went on and succeeded, optional files.
#pragma once

#include <string>
#include <vector>

#include "explain/story.h"

namespace tracer::explain {

/// Why a failed call of the current program is harmless, as a heading: "lookups of libraries"; empty if it may not be.
std::string benign_reason(const Process& process, const Step& step);

/// "12 failed lookups of libraries (each found elsewhere)", …
std::vector<std::string> ruled_out(const Process& process);

}  // namespace tracer::explain
