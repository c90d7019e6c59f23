// A recorded run: the records of --format=json, told to a story.
#pragma once

#include <istream>

#include "base/result.h"
#include "explain/story.h"

namespace tracer::explain {

/// Reads records until the end. An error names the first line that is no record; what came before has been told.
Status read_json_trace(std::istream& lines, Story& story);

}  // namespace tracer::explain
