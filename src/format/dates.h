// Formats points in time as ISO 8601 dates.
#pragma once

#include <cstdint>

#include "base/text_buffer.h"

namespace tracer::format {

/// Appends `1970-01-01T00:00:05.000000006+0000`, in the tracer's time zone. `digits` is the number of digits of the
/// fraction (0, 6 or 9); a fraction of 0 is omitted. Returns false and appends nothing if localtime_r(3) cannot
/// represent the time.
bool append_date(TextBuffer& text, std::int64_t seconds, std::uint64_t fraction, unsigned digits);

}  // namespace tracer::format
