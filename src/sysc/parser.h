// Tokens to syntax tree.
#pragma once

#include <span>

#include "sysc/ast.h"
#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// Parses `.sys` and `.nr` sources. An error skips to the next item; what could be parsed is returned.
ast::Program parse(std::span<const Source> sources, Diagnostics& diagnostics);

}  // namespace tracer::sysc
