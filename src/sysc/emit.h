// Writes tables as C++ source.
#pragma once

#include <string>

#include "spec/table_set.h"

namespace tracer::sysc {

/// Returns a translation unit that defines tracer::spec::builtin_tables().
std::string emit_cpp(const spec::TableSet& set);

}  // namespace tracer::sysc
