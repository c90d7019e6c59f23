// What is in a trace file, in words (--info).
#pragma once

#include <string>

#include "replay/trace_file.h"

namespace tracer::replay {

/// Reads the file to its end.
[[nodiscard]] std::string describe(TraceFile& file);

}  // namespace tracer::replay
