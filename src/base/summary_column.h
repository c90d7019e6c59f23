// The columns of the summary table (-c). -U selects columns, -S sorts by one.
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
  p50,  ///< percentiles of the elapsed time
  p95,
  p99,
};

}  // namespace base
}  // namespace tracer
