// Contexts from SELinux, through libselinux.
#pragma once

#include <memory>

#include "base/result.h"
#include "names/security_contexts.h"

namespace tracer::app {

/// Returns null if SELinux is disabled. An error says why contexts cannot be shown although it is enabled: this build
/// does not support it, or libselinux is not installed. The library is loaded at run time because a linked one would
/// probe for SELinux at every start.
Result<std::unique_ptr<names::ContextSource>> open_selinux();

}  // namespace tracer::app
