// Places that the kernel watches, so that no thread stops there: it counts calls of functions (FunctionCounter), or
// records them (Recorder). Calls that are only counted, by breakpoints where the kernel cannot.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "arch/breakpoint.h"
#include "functions/function_table.h"
#include "functions/recorder.h"
#include "functions/thread_state.h"
#include "trace/function_counter.h"

namespace tracer::functions {

class Counter {
 public:
  /// `kernel`: null if breakpoints count. `recorder`: null if calls are only counted, or breakpoints report them.
  /// `only_probes`: no functions are asked for.
  Counter(std::shared_ptr<trace::FunctionCounter> kernel, std::shared_ptr<trace::FunctionRecorder> recorder,
          bool only_probes, FunctionTable& functions, ptrace::EventSink& sink)
      : kernel_(std::move(kernel)), functions_(functions), sink_(sink) {
    if (recorder != nullptr) {
      recorder_.emplace(std::move(recorder), functions, only_probes);
    }
  }

  [[nodiscard]] bool in_kernel() const { return kernel_ != nullptr || recorder_; }
  /// Null: the kernel records nothing.
  [[nodiscard]] Recorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  [[nodiscard]] const Recorder* recorder() const { return recorder_ ? &*recorder_ : nullptr; }

  /// Keeps a place in mind that the kernel is to watch.
  static Breakpoint& note(Breakpoints& space, std::uint64_t address);
  /// Watches the places that were noted. Where the kernel cannot, a breakpoint does.
  void watch_noted(ptrace::Tracee& tracee);
  /// The modules are others than before: sees to it that the kernel records nothing that would harm one of them.
  void heed_modules(ptrace::Tracee& tracee);
  /// `child` is a new process.
  void inherit(const ptrace::Tracee& parent, ptrace::Tracee& child);
  /// Watches the places that it has inherited.
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
  /// Returns those that the kernel counts now.
  std::set<std::uint64_t> count_at(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  [[nodiscard]] static trace::FunctionCounter::Place place_of(ptrace::Tracee& tracee, const library::Module& module,
                                                              std::uint64_t address);

  std::shared_ptr<trace::FunctionCounter> kernel_;
  std::optional<Recorder> recorder_;
  FunctionTable& functions_;
  ptrace::EventSink& sink_;
  bool complained_ = false;
};

}  // namespace tracer::functions
