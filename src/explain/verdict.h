// Judges a process that still runs: is it a deadlock, does it try something again and again, or is it merely idle?
#pragma once

#include <string>
#include <vector>

#include "explain/blocked_threads.h"

namespace tracer::explain {

/// Returns a sentence about the run as a whole; empty if there is nothing to say beyond what each thread waits for.
std::string verdict_on(const Story& story, const std::vector<ThreadWait>& waits);

}  // namespace tracer::explain
