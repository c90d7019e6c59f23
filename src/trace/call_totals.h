// All calls of one kind that an engine has counted.
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
  TimeTotals cpu;  ///< on a CPU inside the call; zero where the engine was not asked for it
  TimeTotals wall;
  /// How many calls took how long by the wall clock, one number for each latency_bucket_of(); empty where the engine
  /// was not asked for it.
  std::vector<std::uint64_t> latencies;
};

}  // namespace tracer::trace
