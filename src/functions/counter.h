// Calls of functions that are only counted: by breakpoints, or in the kernel (FunctionCounter), where no thread stops
// for it.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "arch/breakpoint.h"
#include "functions/function_table.h"
#include "functions/thread_state.h"
#include "trace/function_counter.h"

namespace tracer::functions {

class Counter {
 public:
  /// `kernel`: null if breakpoints count.
  Counter(std::shared_ptr<trace::FunctionCounter> kernel, FunctionTable& functions, ptrace::EventSink& sink)
      : kernel_(std::move(kernel)), functions_(functions), sink_(sink) {}

  [[nodiscard]] bool in_kernel() const { return kernel_ != nullptr; }

  /// Keeps a place in mind at which calls are to be counted in the kernel.
  static Breakpoint& note(Breakpoints& space, std::uint64_t address);
  /// Counts at the places that were noted. Where the kernel cannot count, a breakpoint does.
  void watch_noted(ptrace::Tracee& tracee);
  /// `child` is a new process.
  void inherit(const ptrace::Tracee& parent, ptrace::Tracee& child);
  /// Counts at the places that it has inherited.
  void watch_inherited(ptrace::Tracee& tracee);
  /// The process has another file there now, or none.
  void forget(pid_t process, std::uint64_t start, std::uint64_t end);

  /// Reports what the kernel has counted in the process.
  void report_counts(ptrace::Tracee& tracee);
  /// Reports what the kernel has counted in the process, and counts no more.
  void end(ptrace::Tracee& tracee);

  /// A thread has come to the breakpoint of a call that is only counted.
  void count_call(ptrace::Tracee& tracee, trace::LibraryFunction& function, const Breakpoint& point,
                  const arch::FunctionEntry& entry, Abi abi);

 private:
  void watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  [[nodiscard]] static trace::FunctionCounter::Place place_of(ptrace::Tracee& tracee, const library::Module& module,
                                                              std::uint64_t address, Breakpoint& point);

  std::shared_ptr<trace::FunctionCounter> kernel_;
  FunctionTable& functions_;
  ptrace::EventSink& sink_;
};

}  // namespace tracer::functions
