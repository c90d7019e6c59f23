// Parses descriptions to a syntax tree.
#pragma once

#include <span>

#include "sysc/ast.h"
#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// Parses `.sys` and `.nr` sources. Skips an item with an error, and returns the others.
ast::Program parse(std::span<const Source> sources, Diagnostics& diagnostics);

}  // namespace tracer::sysc
