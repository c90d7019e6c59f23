// How large the tracer's own stack may get.
#pragma once

#include <sys/resource.h>

#include <optional>

#include "base/result.h"

namespace tracer::process {

/// Raises the limit of this process's stack (RLIMIT_STACK) if it is too low for a tracer, the hard one too where that
/// is allowed. Returns the limit that it had, which is for the programs that it starts; nothing if it was high enough.
/// An error if the user's hard limit is too low.
Result<std::optional<rlimit>> raise_stack_limit();

}  // namespace tracer::process
