// Two processes stand in the place of one where tracees have a seccomp filter, or breakpoints.
//
// A filter cannot be taken off, and without a tracer the calls that it traps fail with ENOSYS. So whoever traces has to
// stay until the last filtered process ends, though a tracer is expected to end when the program ends, or when it is
// interrupted or killed. Hence there are two processes. The one that the user started becomes the foreground proxy: it
// is the program's parent, takes the signals, and ends with the status that the tracer process sends it. When the
// tracer process has nothing more to report, it ends the proxy and serves the filtered processes, unreported, until
// they end. Killing the proxy, even by SIGKILL, is an interruption like others: tracing ends and all tracees go on.
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"
#include "process/engine_options.h"

namespace tracer::ptrace {

/// The foreground proxy, as the tracer process has it.
class ForegroundProxy {
 public:
  /// Forks. The parent becomes the proxy and never returns; the child becomes the tracer process and returns. Where the
  /// tracer does not stop for the terminal (never_tstp), its proxy does not either. The proxy calls `on_child_end` with
  /// the id and the wait status of each of its other children that ends.
  static Result<ForegroundProxy> start(process::Interruptible interruptible,
                                       const std::function<void(pid_t, int)>& on_child_end);

  /// The signal that the tracer process gets when the proxy has died.
  static int died_signal();

  /// Makes the proxy end as `wait_status` says (waitpid(2)).
  void end(int wait_status);

 private:
  explicit ForegroundProxy(UniqueFd status) : status_(std::move(status)) {}
  UniqueFd status_;
};

/// Ends this process as `wait_status` says: by the same signal, without a core of its own, or with the same exit
/// status.
[[noreturn]] void end_like(int wait_status);

}  // namespace tracer::ptrace
