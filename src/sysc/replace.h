// Removes descriptions that others replace.
#pragma once

#include "sysc/ast.h"

namespace tracer::sysc {

/// Removes calls, functions and numbers of the sources from `first_replaceable` on if an earlier source has one of the
/// same name on the same ABIs, in the same library or with the same number.
void replace(ast::Program& program);

}  // namespace tracer::sysc
