// Formats sets of signals.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "format/constants.h"

namespace tracer::format {

/// Appends `[INT TERM]` (under -X raw `[2 15]`, under -X verbose `[2 /* INT */ 15 /* TERM */]`), or `~[KILL STOP]` if
/// at least two thirds of the signals are in the set.
void append_signal_set(TextBuffer& text, std::uint64_t set, unsigned bits, ConstantForm form);

}  // namespace tracer::format
