// Choices of the user about text.
#pragma once

#include <cstdint>

#include "format/escape.h"

namespace tracer::render {

/// -t, -tt, -ttt: the time in front of a line.
enum class Clock : std::uint8_t { none, time_of_day, unix_time };

using format::HexStrings;

/// --folded-weight: what a folded stack counts: calls, their time in microseconds, or the bytes that they transferred.
enum class FoldedWeight : std::uint8_t { calls, time, bytes };

}  // namespace tracer::render
