// What gives way where two descriptions are about the same thing.
#pragma once

#include "sysc/ast.h"

namespace tracer::sysc {

/// Takes calls, functions and numbers of sources from `first_replaceable` on out of the program where an earlier source
/// has one of the same name on the same ABIs, the same library or number.
void replace(ast::Program& program);

}  // namespace tracer::sysc
