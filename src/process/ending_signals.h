// The signals that end tracing, by -I.
#pragma once

#include <signal.h>

#include "process/engine_options.h"

namespace tracer::process {

struct EndingSignals {
  sigset_t blocked;  ///< by the tracer while it traces; SIGCHLD among them
  sigset_t watched;  ///< which of these end tracing
};

/// To be asked before any of them is blocked: what the caller of the tracer has blocked ends nothing.
EndingSignals ending_signals(Interruptible interruptible);

}  // namespace tracer::process
