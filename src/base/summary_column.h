// The columns of the table of -c: what -U and -S name and what the table shows.
#pragma once

#include <cstdint>

namespace tracer {
inline namespace base {

enum class SummaryColumn : std::uint8_t {
  time_percent,
  total_time,
  min_time,
  max_time,
  avg_time,
  calls,
  errors,
  name,
  wall_total,
  wall_min,
  wall_max,
  wall_avg,
  p50,  ///< and the others: elapsed time that so many percent of the calls do not exceed
  p95,
  p99,
};

}  // namespace base
}  // namespace tracer
