// The signals that end tracing, by -I.
#pragma once

#include <signal.h>

#include "process/engine_options.h"

namespace tracer::process {

struct EndingSignals {
  sigset_t blocked;  ///< by the tracer while it traces; SIGCHLD among them
  sigset_t watched;  ///< which of these end tracing
};

EndingSignals ending_signals(Interruptible interruptible);

}  // namespace tracer::process
