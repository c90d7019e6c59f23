// Functions whose return address can be replaced without harm.
#pragma once

#include "trace/library_call.h"

namespace tracer::functions {

/// Whether the function is one of the C library's that neither look at their return address nor return twice, and
/// return on the stack that they were called on: no code of the program's runs in them but signal handlers.
bool returns_plainly(const trace::LibraryFunction& function);

}  // namespace tracer::functions
