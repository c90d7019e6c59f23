// Reads the auxiliary vector of another process (getauxval(3)).
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tracer::proc {

/// Returns the value of the entry `type` (AT_…) in /proc/PID/auxv; 0 if there is none. `word_size` is the size of a
/// long in that process, in bytes.
[[nodiscard]] std::uint64_t auxiliary_value(pid_t pid, unsigned type, unsigned word_size);

}  // namespace tracer::proc
