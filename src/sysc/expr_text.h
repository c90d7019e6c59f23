// Lowered expressions, spelled as in a description.
#pragma once

#include <string>

#include "spec/spec.h"

namespace tracer::sysc {

std::string expr_text(const spec::Tables& tables, spec::ExprId id);

}  // namespace tracer::sysc
