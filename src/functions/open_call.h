// A call of a function that has not returned yet.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "trace/library_call.h"

namespace tracer::functions {

struct OpenCall {
  const trace::LibraryFunction* function = nullptr;
  std::uint64_t number = 0;
  std::uint64_t stack_pointer = 0;  ///< at entry
  std::uint64_t return_address = 0;
  bool by_stub = false;
  trace::LibraryFunction* resolved = nullptr;  ///< see Breakpoint::resolved
  bool is_reported = true;
};

/// Takes the calls that end.
class CallEnds {
 public:
  using How = trace::LibraryExit::How;

  CallEnds() = default;
  CallEnds(const CallEnds&) = delete;
  CallEnds& operator=(const CallEnds&) = delete;
  virtual ~CallEnds() = default;

  /// A call of the thread that is stopped.
  virtual void end(const OpenCall& call, How how) = 0;
  /// A call of a goroutine, which has made it in `thread`.
  virtual void end_in(pid_t thread, const OpenCall& call, How how) = 0;
};

}  // namespace tracer::functions
