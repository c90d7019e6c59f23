// Writes descriptions as C++ source, which is compiled into the program.
#pragma once

#include <span>
#include <string>

#include "sysc/source.h"

namespace tracer::sysc {

/// Returns a translation unit that defines builtin_sources(), whose paths are those below `directory`.
std::string embed_cpp(std::span<const Source> sources, const std::string& directory);

}  // namespace tracer::sysc
