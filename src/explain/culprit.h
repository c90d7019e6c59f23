// Finds the process whose failure made other processes fail.
#pragma once

#include <vector>

#include "explain/story.h"

namespace tracer::explain {

/// Follows failed children from `first`: fills `chain` with `first`, the failed child that it waited for, and so on.
/// Returns the last process of the chain.
const Process* culprit(const Story& story, const Process& first, std::vector<const Process*>& chain);

/// Returns a process that failed after its parent had exited and that nobody waited for, although `first` succeeded;
/// nullptr if there is none.
const Process* abandoned_failure(const Story& story, const Process& first);

}  // namespace tracer::explain
