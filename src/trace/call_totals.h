// The counts of one call, from an engine that counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/abi.h"

namespace tracer::trace {

struct TimeTotals {
  std::chrono::nanoseconds total{};
  std::chrono::nanoseconds shortest{};
  std::chrono::nanoseconds longest{};
};

struct CallTotals {
  Abi abi = Abi::x86_64;
  std::uint64_t number = 0;
  std::uint64_t calls = 0;  ///< never 0
  std::uint64_t errors = 0;
  TimeTotals cpu;  ///< CPU time inside the call; zero if the engine was not asked for it
  TimeTotals wall;
  /// The histogram of the elapsed times, one count for each latency_bucket_of(); empty if the engine was not asked for
  /// it.
  std::vector<std::uint64_t> latencies;
};

}  // namespace tracer::trace
