// Moments as people read them.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"

namespace tracer::format {

/// `1970-01-01T00:00:05.000000006+0000` in the tracer's time zone. `digits` is how many the fraction has (0, 6 or 9);
/// a fraction of 0 is left out. False, with nothing appended, for moments that no calendar has.
bool append_date(TextBuffer& text, std::int64_t seconds, std::uint64_t fraction, unsigned digits);

}  // namespace tracer::format
