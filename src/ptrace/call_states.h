// Where a stopped thread is in a system call.
#pragma once

#include <optional>

#include "ptrace/tracee.h"

namespace tracer::ptrace {

/// Asks the kernel (PTRACE_GET_SYSCALL_INFO) as long as that works, and reads the registers where it does not.
class CallStates {
 public:
  /// `by_seccomp`: a filter stopped the thread. Empty if the thread is gone.
  std::optional<CallState> of(const Tracee& tracee, bool by_seccomp);

 private:
  bool call_info_works_ = true;
};

}  // namespace tracer::ptrace
