// What an engine has to copy out of a tracee so that a call can be decoded later, and when.
#pragma once

#include <string>
#include <string_view>

#include "spec/spec.h"

namespace tracer::sysc {

/// The capture plan of a call as text: one block a signature, one line a piece of memory, and the argument at which
/// `<unfinished ...>` falls. Empty if no call of that name has a number or is redirected to.
std::string capture_plan(const spec::Tables& tables, std::string_view call);

}  // namespace tracer::sysc
