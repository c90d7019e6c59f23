// Which calls are wanted by how they end: -e status=, --errno and --min-duration. The pipeline asks it about each call;
// the BPF engine lets the kernel ask the same (bpf/tracing_engine.cpp).
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "filter/status.h"

namespace tracer::filter {

struct EndFilter {
  StatusSet status = every_status;
  std::vector<int> errnos;                               ///< only calls that failed with one of these; empty: all
  std::optional<std::chrono::nanoseconds> min_duration;  ///< only calls that took as long

  /// Whether the end of a call decides if it is wanted.
  [[nodiscard]] bool any() const { return status != every_status || !errnos.empty() || min_duration; }

  /// `error`: the errno of a call that failed, else 0.
  [[nodiscard]] bool wants(CallStatus end, int error, std::chrono::nanoseconds duration) const {
    const bool right_error =
        errnos.empty() || (end == CallStatus::failed && std::find(errnos.begin(), errnos.end(), error) != errnos.end());
    return status.has(end) && right_error && (!min_duration || duration >= *min_duration);
  }
};

}  // namespace tracer::filter
