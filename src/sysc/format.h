// The one style of description files.
#pragma once

#include <optional>
#include <string>

#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// The source in the canonical style. Line breaks and comments are the author's; indentation, spaces, columns and
/// blank lines are the formatter's. Formatting what is formatted changes nothing. Nothing if the source has no
/// sound tokens; that is reported.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

}  // namespace tracer::sysc
