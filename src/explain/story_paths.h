// Resolves the path that a call accesses, in the view of the process.
#pragma once

#include <string>

#include "explain/story.h"

namespace tracer::explain {

/// Returns the absolute path that the call accesses, or the path as written if its directory is unknown; empty if the
/// call has none.
std::string resolve_path(const Process& process, const Moment& moment, const Call& call);

/// Returns the absolute path of a relative one; as written if the working directory is unknown.
std::string absolute_path(const Process& process, const Moment& moment, const std::string& path);

/// Returns the second path of rename, link and the like; empty if the call has only one.
std::string resolve_new_path(const Process& process, const Moment& moment, const Call& call);

}  // namespace tracer::explain
