// Two processes in the place of one, where tracees have a seccomp filter.
//
// A filter cannot be taken off, and without a tracer the calls that it traps fail with ENOSYS. So whoever traces has to
// stay until the last filtered process ends, though a tracer is expected to go when the program ends, or when it is
// interrupted or killed. Hence the process that the user started stays in front: it is the program's parent, takes the
// signals, and ends with the status that it is told. The tracer works behind it. When it has nothing more to report, it
// lets the front go and serves the filtered processes silently to their end. Killing the front, even by SIGKILL, is
// an interruption like others: tracing ends and all tracees go on.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/engine_options.h"

namespace tracer::ptrace {

/// The tracer's end of the arrangement.
class Backstage {
 public:
  /// Forks. The parent becomes the front and never returns; the child returns. Where the tracer does not stop for the
  /// terminal (never_tstp), its front does not either.
  static Result<Backstage> step_behind_front(process::Interruptible interruptible);

  /// Comes when the front is gone.
  static int front_died_signal();

  /// Makes the front end as `wait_status` says (waitpid(2)).
  void dismiss_front(int wait_status);

 private:
  explicit Backstage(UniqueFd status) : status_(std::move(status)) {}
  UniqueFd status_;
};

/// Ends this process as `wait_status` says: by the same signal, without a core of its own, or with the same exit
/// status.
[[noreturn]] void end_like(int wait_status);

}  // namespace tracer::ptrace
