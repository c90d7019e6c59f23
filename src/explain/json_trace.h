// A recorded run: the records of --format=json, told to a story.
#pragma once

#include "base/result.h"
#include "explain/story.h"

namespace tracer::explain {

/// Reads records from `fd` until its end. An error names the first line that is no record, or the errno of a failed
/// read; what came before has been told.
Status read_json_trace(int fd, Story& story);

}  // namespace tracer::explain
