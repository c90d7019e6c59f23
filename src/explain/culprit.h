// Of the processes of a run: the one whose failure made the others fail.
#pragma once

#include <vector>

#include "explain/story.h"

namespace tracer::explain {

/// The last of `chain`, which becomes `first`, the failed child that it waited for, and so on.
const Process* culprit(const Story& story, const Process& first, std::vector<const Process*>& chain);

/// Of a program that ended well itself: a child that failed and that nobody waited for; nullptr: none.
const Process* abandoned_failure(const Story& story, const Process& first);

}  // namespace tracer::explain
