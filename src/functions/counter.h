// Places where no thread stops: the kernel counts calls of functions (FunctionCounter) or records them (Recorder), or
// the process counts them itself (CountingStubs). Calls that are only counted, by breakpoints where that cannot be.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "arch/breakpoint.h"
#include "base/result.h"
#include "functions/counting_stubs.h"
#include "functions/function_table.h"
#include "functions/recorder.h"
#include "functions/thread_state.h"
#include "trace/function_counter.h"

namespace tracer::functions {

class Counter {
 public:
  /// How far processes do it themselves.
  enum class Inside : std::uint8_t { nothing, counts, records };
  /// `kernel`: null if it counts none. `recorder`: null if calls are only
  /// counted, or breakpoints report them. `only_probes`: no functions are asked for.
  Counter(Inside inside, std::shared_ptr<trace::FunctionCounter> kernel,
          std::shared_ptr<trace::FunctionRecorder> recorder, bool only_probes, FunctionTable& functions,
          ptrace::EventSink& sink)
      : inside_(inside), kernel_(std::move(kernel)), functions_(functions), sink_(sink) {
    if (recorder != nullptr) {
      recorder_.emplace(std::move(recorder), functions, only_probes);
    }
  }

  /// Whether places are noted first, and breakpoints are the last resort.
  [[nodiscard]] bool notes_places() const { return inside_ != Inside::nothing || in_kernel(); }
  [[nodiscard]] bool counts_in_kernel() const { return kernel_ != nullptr; }
  /// Whether return addresses are replaced while calls are recorded.
  [[nodiscard]] bool replaces_returns() const { return recorder_ || inside_ == Inside::records; }
  [[nodiscard]] bool records_inside() const { return inside_ == Inside::records; }
  /// Null: the kernel records nothing.
  [[nodiscard]] Recorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  [[nodiscard]] const Recorder* recorder() const { return recorder_ ? &*recorder_ : nullptr; }

  /// Keeps a place in mind that is to be watched.
  static Breakpoint& note(Breakpoints& space, std::uint64_t address);
  /// Watches the places that were noted. Where nobody else can, a breakpoint does.
  void watch_noted(ptrace::Tracee& tracee);
  /// The modules are others than before: sees to it that the kernel records nothing that would harm one of them.
  void heed_modules(ptrace::Tracee& tracee);
  /// `child` is a new process.
  void inherit(const ptrace::Tracee& parent, ptrace::Tracee& child);
  /// Watches the places that it has inherited.
  void watch_inherited(ptrace::Tracee& tracee);
  /// The process has another file there now, or none.
  void forget(pid_t process, std::uint64_t start, std::uint64_t end);

  /// Reports what was counted in the process without a stop.
  void report_counts(ptrace::Tracee& tracee);
  /// The same, and counts no more.
  void end(ptrace::Tracee& tracee);

  /// The memory of the stub that has faulted there, as a thread ran it, is gone: a breakpoint counts from now on.
  /// Returns where the thread has to go on; empty if there is no stub.
  static std::optional<std::uint64_t> give_up_stub(ptrace::Tracee& tracee, std::uint64_t address, std::uint64_t fault);

  /// A thread has come to the breakpoint of a call that is only counted.
  void count_call(ptrace::Tracee& tracee, trace::LibraryFunction& function, const Breakpoint& point,
                  const arch::FunctionEntry& entry, Abi abi);

 private:
  [[nodiscard]] bool in_kernel() const { return kernel_ != nullptr || recorder_; }
  void watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  /// Returns those that the kernel counts now.
  std::set<std::uint64_t> count_at(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  /// Returns those that the process counts itself now.
  static std::set<std::uint64_t> count_inside(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  /// Returns those where the process records calls itself now.
  std::set<std::uint64_t> record_inside(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  /// What is to lead to the recorder there, or why breakpoints have to report the calls.
  Result<CountingStubs::Place> recording_place(ptrace::Tracee& tracee, std::uint64_t address);
  /// Returns the addresses of those that are there now.
  static std::set<std::uint64_t> add_stubs(ptrace::Tracee& tracee, const std::vector<CountingStubs::Place>& places,
                                           Others others);
  /// Has breakpoints take the place of the stubs of these functions.
  static void stop_at_stubs(ptrace::Tracee& tracee, const CountingStubs::Chooses& which, Others others);
  void report_counts_inside(ptrace::Tracee& tracee);
  [[nodiscard]] static trace::FunctionCounter::Place place_of(ptrace::Tracee& tracee, const library::Module& module,
                                                              std::uint64_t address);

  Inside inside_;
  std::shared_ptr<trace::FunctionCounter> kernel_;
  std::optional<Recorder> recorder_;
  FunctionTable& functions_;
  ptrace::EventSink& sink_;
  bool complained_ = false;
};

}  // namespace tracer::functions
