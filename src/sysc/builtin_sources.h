// The text of the built-in descriptions, which those of --define extend.
#pragma once

#include <vector>

#include "sysc/source.h"

namespace tracer::sysc {

/// Returns copies of the files of syscalls/ as they were when the program was built.
std::vector<Source> builtin_sources();

}  // namespace tracer::sysc
