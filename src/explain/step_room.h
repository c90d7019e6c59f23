// Which steps of a process are forgotten where there is no room for more.
#pragma once

#include <deque>

#include "explain/story.h"

namespace tracer::explain {

/// Drops the older half of the kind that has the most: a server's thousands of children that it waited for leave the
/// one failure that explains its end.
void make_room(std::deque<Step>& steps);

}  // namespace tracer::explain
