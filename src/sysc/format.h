// Formats description files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "sysc/diagnostics.h"

namespace tracer::sysc {

/// Returns the source in the canonical style. It keeps line breaks and comments, and sets indentation, spaces, columns
/// and blank lines. Formatting is idempotent. Returns nothing if the source contains an invalid token, which is
/// reported.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

/// Returns the text of file number `file` with the numbers replaced that a warning has something in place of.
std::string with_numbers_replaced(std::string text, std::uint32_t file, std::span<const Diagnostic> warnings);

}  // namespace tracer::sysc
