// What waits in the submission queue of an io_uring (--io-uring).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/remote_addr.h"

namespace tracer::names {

/// The kernel tells in /proc/PID/fdinfo which entries of a ring wait, and in /proc/PID/maps where the tracee has mapped
/// them. Nothing hangs on what has been seen of the ring before.
class RingEntries {
 public:
  /// Where the first of the waiting entries are in the memory of `tid`, in the order of their submission, no more than
  /// `most`. Nothing if that cannot be told: `fd` is no ring, the kernel is older than 6.0, or the program gave the
  /// memory itself (IORING_SETUP_NO_MMAP). Valid until the next question.
  std::optional<std::span<const RemoteAddr>> waiting(std::int32_t tid, std::int32_t fd, std::uint64_t most);

 private:
  std::vector<RemoteAddr> entries_;
};

}  // namespace tracer::names
