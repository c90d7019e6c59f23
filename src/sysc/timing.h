// Determines whether an argument can be printed at the entry of a call or only at its exit.
#pragma once

#include "spec/table_set.h"

namespace tracer::sysc {

/// Sets `at_exit` and `saved` of every parameter from its type and expressions.
void derive_timing(spec::TableSet& set);

}  // namespace tracer::sysc
