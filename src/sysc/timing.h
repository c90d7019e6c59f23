// When an argument can be shown: at the entry of a call, or only at its exit.
#pragma once

#include "spec/table_set.h"

namespace tracer::sysc {

/// Sets `at_exit` and `saved` of every parameter from what its type and expressions say.
void derive_timing(spec::TableSet& set);

}  // namespace tracer::sysc
