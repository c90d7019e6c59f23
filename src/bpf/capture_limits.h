// How much of a call's memory is wanted.
#pragma once

#include <cstdint>

namespace tracer {

struct CaptureLimits {
  std::uint32_t string_limit = 32;  ///< -s
  bool whole = false;               ///< -v: also what the short form leaves out
};

}  // namespace tracer
