// How much of a call's memory is wanted.
#pragma once

#include <cstdint>

namespace tracer::capture {

struct CaptureLimits {
  std::uint32_t string_limit = 32;  ///< -s
  bool whole = false;               ///< -v: also what the short form leaves out
  bool descriptors = false;         ///< what those stand for that a call names, by their paths
  bool details = false;             ///< and more of sockets, pidfds, eventfds and signalfds
  bool processes = false;           ///< the same of ids of threads, processes and groups
};

}  // namespace tracer::capture
