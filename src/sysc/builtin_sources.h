// The descriptions that the program was built with, as text: what --define builds upon.
#pragma once

#include <vector>

#include "sysc/source.h"

namespace tracer::sysc {

/// Copies; made from syscalls/ when the program was built.
std::vector<Source> builtin_sources();

}  // namespace tracer::sysc
