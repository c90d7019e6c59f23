// --folded-weight: what a folded stack counts.
#pragma once

#include <cstdint>

namespace tracer::pipeline::views {

/// The number of calls, their time in microseconds, or the bytes that they transferred.
enum class FoldedWeight : std::uint8_t { calls, time, bytes };

}  // namespace tracer::pipeline::views
