// Descriptions as C++, to be compiled into a program.
#pragma once

#include <span>
#include <string>

#include "sysc/source.h"

namespace tracer::sysc {

/// A file that defines builtin_sources().
std::string embed_cpp(std::span<const Source> sources);

}  // namespace tracer::sysc
