// Capture plans for people to read: `sysc plan`.
#pragma once

#include <string>
#include <string_view>

#include "capture/limits.h"
#include "spec/spec.h"

namespace tracer::capture {

/// The plan of the call `name` and of each form of it that has its own; one block for all ABIs that have the same.
/// Empty if no call of that name has a number.
std::string plan_text(const spec::Tables& tables, std::string_view name, CaptureLimits limits = {});

}  // namespace tracer::capture
