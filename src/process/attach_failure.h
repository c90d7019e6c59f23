// Why a process that runs already cannot be traced.
#pragma once

#include <sys/types.h>

#include <string>

#include "process/engine_options.h"

namespace tracer::process {

/// One sentence on why `pid` could not be attached to, which failed with `error`: in strace's words and, unless
/// `strict`, with cause and remedy.
std::string attach_failure(pid_t pid, int error, const EngineOptions& options);

/// strace's second sentence on that, on what may be the cause; empty if it has none, and where attach_failure() says
/// all.
std::string attach_hint(pid_t pid, int error, const EngineOptions& options);

}  // namespace tracer::process
