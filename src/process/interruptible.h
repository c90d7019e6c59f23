// -I: which signals end the tracer.
#pragma once

#include <cstdint>

namespace tracer::process {

/// What the signals do that would end the tracer. SIGKILL always ends it.
enum class Interruptible : std::uint8_t {
  anywhere,    ///< they end it at once, even if it blocks in a write; the kernel detaches from the tracees
  waiting,     ///< they make it detach and stop; the default
  never,       ///< it ignores them; the default of -o FILE PROG
  never_tstp,  ///< it ignores them, and blocks SIGTSTP as well; the default of -D
};

}  // namespace tracer::process
