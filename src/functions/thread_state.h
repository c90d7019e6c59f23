// What function tracing knows of a thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "functions/breakpoints.h"
#include "functions/call_stack.h"
#include "ptrace/function_hooks.h"
#include "ptrace/tracee.h"

namespace tracer::functions {

struct ThreadState final : ptrace::ThreadFunctions {
  std::shared_ptr<Breakpoints> space;
  CallStack calls;
  /// A breakpoint that has been reported, but whose instruction has yet to run: a signal came in between.
  struct Reported {
    std::uint64_t address = 0;
    std::uint64_t stack_pointer = 0;
  };
  void expect_again(const Reported& breakpoint) {
    trace::keep_innermost(reported);
    reported.push_back(breakpoint);
  }
  /// Whether the thread has come to such a breakpoint again.
  bool comes_again(const Reported& breakpoint);
  std::vector<Reported> reported;  ///< the last one last: a handler may come to breakpoints, too
  /// The stub that it came to last, where calls are only counted.
  struct Stub {
    const trace::LibraryFunction* function = nullptr;
    std::uint64_t stack_pointer = 0;
    std::uint64_t return_address = 0;
  };
  Stub stub;
  /// It stops by a signal that the kernel has sent as it recorded, and then breakpoints have to be where these calls
  /// return to.
  std::vector<std::uint64_t> unseen_returns;
  /// What a function has chosen as another's code (IFUNC), to be watched when the thread stops next: where the function
  /// returns to. That it has returned was recorded.
  struct Chosen {
    std::uint64_t address = 0;
    trace::LibraryFunction* function = nullptr;
  };
  std::vector<Chosen> chosen;
  /// In a new process, the places where the kernel counts its creator's calls, but not its own yet.
  std::vector<std::uint64_t> inherited;
};

inline bool ThreadState::comes_again(const Reported& breakpoint) {
  bool found = false;
  // Handlers run below the stack of what they interrupt, so what is below this one is over.
  while (!found && !reported.empty() && reported.back().stack_pointer <= breakpoint.stack_pointer) {
    found = reported.back().address == breakpoint.address && reported.back().stack_pointer == breakpoint.stack_pointer;
    reported.pop_back();
  }
  return found;
}

/// Null: its functions are not traced. FunctionTracer alone puts anything there.
inline ThreadState* thread_state(const ptrace::Tracee& tracee) {
  return static_cast<ThreadState*>(tracee.functions.get());
}

/// Of a thread whose functions are traced.
inline Breakpoints& space_of(const ptrace::Tracee& tracee) {
  return *thread_state(tracee)->space;
}

/// Where others may be that run in the thread's memory while its code is replaced.
Others others_of(const ptrace::Tracee& tracee);

/// Reports what a thread does, if it is visible.
inline void report(ptrace::EventSink& sink, ptrace::Tracee& tracee, ptrace::EventSink::What what) {
  if (tracee.visible()) {
    sink.emit(tracee, what);
  }
}

}  // namespace tracer::functions
