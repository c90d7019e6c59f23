// The submission queue of an io_uring (--io-uring).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote_addr.h"

namespace tracer::names {

/// Finds submission queue entries: /proc/PID/fdinfo lists the pending ones, and /proc/PID/maps shows where the tracee
/// has mapped them. Earlier calls do not matter.
class RingEntries {
 public:
  /// Returns the addresses of the first pending entries in the memory of `tid`, in the order of their submission, at
  /// most `most`. Nothing if `fd` is not an io_uring, the kernel is older than 6.0, or the program allocated the memory
  /// itself (IORING_SETUP_NO_MMAP). Valid until the next call.
  std::optional<std::span<const RemoteAddr>> waiting(std::int32_t tid, std::int32_t fd, std::uint64_t most);

 private:
  std::vector<RemoteAddr> entries_;
};

}  // namespace tracer::names
