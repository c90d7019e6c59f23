// What the kernel tells a program at its start (getauxval(3)), from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tracer::proc {

/// A value from /proc/PID/auxv, whose words have `word_size` bytes; 0 if there is none.
[[nodiscard]] std::uint64_t auxiliary_value(pid_t pid, unsigned type, unsigned word_size);

}  // namespace tracer::proc
