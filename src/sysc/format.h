// Formats description files.
#pragma once

#include <optional>
#include <string>

#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// Returns the source in the canonical style. It keeps line breaks and comments, and sets indentation, spaces, columns
/// and blank lines. Formatting is idempotent. Returns nothing if the source contains an invalid token, which is
/// reported.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

}  // namespace tracer::sysc
