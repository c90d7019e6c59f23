// Contexts from SELinux, through libselinux.
#pragma once

#include <memory>

#include "base/result.h"
#include "names/security_contexts.h"

namespace tracer::app {

/// Null where SELinux is off. An error says why contexts cannot be shown where it is on: this build knows nothing of
/// it, or the library is not installed. The library is loaded now: linked, it would look for SELinux at every start.
Result<std::unique_ptr<names::ContextSource>> open_selinux();

}  // namespace tracer::app
