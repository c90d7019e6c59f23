// Tracing of functions with breakpoints: what a thread's running into one means.
#pragma once

#include <map>
#include <memory>
#include <set>

#include "functions/counter.h"
#include "functions/function_table.h"
#include "functions/library/symbol_filter.h"
#include "functions/moment.h"
#include "functions/placement.h"
#include "functions/thread_state.h"
#include "ptrace/function_hooks.h"
#include "trace/function_counter.h"

namespace tracer::functions {

struct Options {
  library::LibrarySelection selection;
  /// Whether the start and the end of each call are to be reported, or, as LibraryCalls, only how many there were.
  bool one_by_one = true;
  /// Processes count calls through linkage tables themselves, where that is possible, if they are only counted.
  bool counts_inside = false;
  /// Processes record calls through linkage tables themselves, where that is possible.
  bool records_inside = false;
  /// Counts calls in the kernel; null: breakpoints do, if they are only counted.
  std::shared_ptr<trace::FunctionCounter> counter;
  /// Records calls and static probes in the kernel; null: breakpoints report them.
  std::shared_ptr<trace::FunctionRecorder> recorder;
};

class FunctionTracer final : public ptrace::FunctionHooks {
 public:
  FunctionTracer(Options options, ptrace::EventSink& sink);

  void refuse(pid_t process) override { refused_.insert(process); }
  void collect() override;
  void on_recorded(const trace::FunctionRecorder::Hit& hit) override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> due() const override;
  void begin(ptrace::Tracee& tracee) override;
  void leave_program(ptrace::Tracee& tracee) override;
  void inherit(ptrace::Tracee& parent, ptrace::Tracee& child, bool shares_memory) override;
  bool on_trap(ptrace::Tracee& tracee) override;
  void put_back(ptrace::Tracee& tracee) override;
  bool on_fault(ptrace::Tracee& tracee) override;
  bool on_held(ptrace::Tracee& tracee) override;
  ptrace::Detachment prepare_detach(ptrace::Tracee& tracee, bool at_trap) override;
  void end_calls(ptrace::Tracee& tracee) override;
  void conclude(ptrace::Tracee& tracee) override;
  [[nodiscard]] bool found_nothing() const override { return placement_.found_nothing(); }
  [[nodiscard]] std::vector<std::string> why_missed() const override;

 private:
  /// A thread of a process that has breakpoints already shares them.
  void join(ptrace::Tracee& tracee);
  /// Moves a thread that has stopped at the breakpoint at `address` on, past the instruction there. `registers` are
  /// those without the trap, `at_trap` those that it has.
  void pass(ptrace::Tracee& tracee, std::uint64_t address, arch::Registers registers, const arch::Registers& at_trap);
  /// A thread has come to the breakpoint at `address`.
  void on_breakpoint(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address);
  void come_back(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address);
  static void expect_restart(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers);
  void enter(ptrace::Tracee& tracee, Breakpoint& point, std::uint64_t address, const Moment& moment);
  void report_start(ptrace::Tracee& tracee, const OpenCall& call, const arch::FunctionEntry& entry,
                    const Moment& moment);
  /// The thread is about to walk its stack: puts return addresses back that the kernel has replaced, and breakpoints
  /// where they lead.
  static void restore_stack(ptrace::Tracee& tracee, Abi abi);
  /// A thread has come to the trap of a stub, as the recorder inside has not taken its call.
  void on_untaken(ptrace::Tracee& tracee, const CountingStubs::Untaken& untaken, arch::Registers registers,
                  const arch::Registers& at_trap);

  Options options_;
  ptrace::EventSink& sink_;
  FunctionTable functions_;
  Counter counter_;
  Placement placement_;
  std::map<pid_t, std::weak_ptr<Breakpoints>> spaces_;  ///< by process
  std::set<pid_t> refused_;
  std::uint64_t calls_ = 0;
  bool collecting_ = false;
  std::chrono::nanoseconds due_{};    ///< see due()
  std::chrono::nanoseconds pause_{};  ///< until then, from the last look on
};

}  // namespace tracer::functions
