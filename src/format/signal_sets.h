// Sets of signals as words.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"
#include "format/constants.h"

namespace tracer::format {

/// `[INT TERM]` (with numbers by -X: `[2 15]`, `[2 /* INT */ 15 /* TERM */]`), or `~[KILL STOP]` if two thirds or more
/// of the signals are in the set.
void append_signal_set(TextBuffer& text, std::uint64_t set, unsigned bits, ConstantForm form);

}  // namespace tracer::format
