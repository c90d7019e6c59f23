// Builds a story from a recorded run, the records of --format=json.
#pragma once

#include "base/result.h"
#include "explain/story.h"

namespace tracer::explain {

/// Reads records from `fd` until its end. An error names the first line that is not a record, or is the errno of a
/// failed read; the story has the records before it.
Status read_json_trace(int fd, Story& story);

}  // namespace tracer::explain
