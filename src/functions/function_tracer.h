// Tracing of functions: where breakpoints go, and what a thread's running into one means.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "functions/breakpoints.h"
#include "library/debug_symbols.h"
#include "library/modules.h"
#include "library/symbol_filter.h"
#include "process/engine_options.h"
#include "ptrace/tracee.h"
#include "trace/event.h"

namespace tracer::functions {

/// How a thread can be let go.
struct Leaving {
  enum class When : std::uint8_t {
    now,
    after_trap,  ///< it has run into a breakpoint, and must run on to the stop that is to come of that
    at_rest,     ///< it has to make a call for us, which it can do where PTRACE_INTERRUPT stops it
    after_stop,  ///< it has stopped once more already, which is yet to be waited for
  };
  When when = When::now;
  bool was_at_trap = false;  ///< the SIGTRAP that stopped it was our doing: it must not be delivered
};

class LibraryTracer {
 public:
  using Emit = std::function<void(ptrace::Tracee&, decltype(trace::Event::what))>;
  /// Tells of the thread with this id, which may run, what the stopped one has brought about.
  using EmitFor = std::function<void(pid_t, const ptrace::Tracee&, decltype(trace::Event::what))>;
  using Complain = std::function<void(const std::string&)>;

  /// With a `counter`, or if not `one_by_one`, calls are told of as LibraryCalls. `complain` is told a sentence when
  /// there is a program whose functions cannot be traced, the first time.
  LibraryTracer(library::LibrarySelection selection, bool one_by_one, std::shared_ptr<trace::FunctionCounter> counter,
                Emit emit, EmitFor emit_for, Complain complain);

  /// There shall be no breakpoints in this process, as some of its threads are not ours.
  void refuse(pid_t process) { refused_.insert(process); }
  /// A stopped thread is to be traced whose functions are not yet: sets what breakpoints its process lacks.
  void begin(ptrace::Tracee& tracee);
  /// The last thread of its process has left its program and what breakpoints are there: by execve, or as it ended.
  void leave_program(ptrace::Tracee& tracee);
  /// `parent` has created `child`, which has not run yet.
  void inherit(ptrace::Tracee& parent, ptrace::Tracee& child, bool shares_memory);
  /// A SIGTRAP stopped the thread. False if that is none of ours; else it can go on, without the signal.
  bool on_trap(ptrace::Tracee& tracee);
  /// The thread is about to show where it is, or to run a signal handler: if it is among displaced instructions, it
  /// is put to where it would be without us.
  void put_back(ptrace::Tracee& tracee);
  /// A SIGSEGV stopped the thread. If that is so because displaced instructions are gone, it can go on without.
  bool on_fault(ptrace::Tracee& tracee);
  /// It will not be heard of again, but is stopped and lives on: leaves nothing of ours behind, or says when that can
  /// be. `at_trap`: what stopped it is a SIGTRAP.
  Leaving leave(ptrace::Tracee& tracee, bool at_trap);
  /// The thread has ended, or its program was replaced: its open calls end.
  void end_calls(ptrace::Tracee& tracee);
  /// Whether there was a program, and nothing in it or its libraries that the selection is about.
  [[nodiscard]] bool found_nothing() const { return looked_ && !found_; }

 private:
  /// A thread of which nothing is known yet, of a process that has breakpoints: they are its, too.
  void join(ptrace::Tracee& tracee);
  void update_modules(ptrace::Tracee& tracee);
  void place(ptrace::Tracee& tracee, const library::Module& module);
  bool place_pointer(ptrace::Tracee& tracee, const Breakpoints::Pending& pending);
  void place_pending(ptrace::Tracee& tracee);
  /// Never null; empty if the file has a full symbol table itself.
  std::shared_ptr<const library::DebugSymbols> debug_symbols_of(const ptrace::Tracee& tracee,
                                                                const library::Module& module);
  void place_entries(ptrace::Tracee& tracee, const library::Module& module);
  void place_resolved(ptrace::Tracee& tracee, const library::Module& module, const library::Symbol& symbol,
                      trace::LibraryFunction& function);
  void place_resolved_exports(ptrace::Tracee& tracee, const library::Module& caller, const library::Module& callee);
  void place_exports(ptrace::Tracee& tracee, const library::Module& module);
  void place_probes(ptrace::Tracee& tracee, const library::Module& module);
  void hit_probes(ptrace::Tracee& tracee, const Breakpoint& point, std::uint64_t address,
                  const arch::Registers& registers);
  void hook_loader(ptrace::Tracee& tracee);

  // Counting in the kernel.
  /// A breakpoint, or, where calls are counted in the kernel, what count_noted() will make of it.
  template <typename Change>
  bool add_for_calls(ptrace::Tracee& tracee, std::uint64_t address, Change change);
  void count_noted(ptrace::Tracee& tracee);
  void inherit_counts(const ptrace::Tracee& parent, ptrace::Tracee& child);
  void count_inherited(ptrace::Tracee& tracee);
  void watch(ptrace::Tracee& tracee, const std::vector<std::uint64_t>& addresses);
  [[nodiscard]] trace::FunctionCounter::Place place_of(ptrace::Tracee& tracee, const library::Module& module,
                                                       std::uint64_t address, Breakpoint& point) const;
  /// Tells what has been counted in the process.
  void tell_counts(ptrace::Tracee& tracee);
  /// Tells what has been counted, and counts no more.
  void end_counts(ptrace::Tracee& tracee);

  void tell(ptrace::Tracee& tracee, const arch::Registers& registers, std::uint64_t address);
  void enter(ptrace::Tracee& tracee, Breakpoint& point, std::uint64_t address, const arch::Registers& registers);
  /// Tells of a call whose end does not matter.
  void count(ptrace::Tracee& tracee, trace::LibraryFunction& function, const Breakpoint& point,
             const arch::FunctionEntry& entry, Abi abi);
  void resume_stack(ptrace::Tracee& tracee, std::size_t last, const arch::Registers& registers);
  void come_back(ptrace::Tracee& tracee, std::uint64_t address, const arch::Registers& registers);
  void drop_unwound(ptrace::Tracee& tracee, std::uint64_t stack_pointer);
  // Go's goroutines (library_goroutines.cpp).
  /// Where a thread is on a goroutine's stack.
  struct OnGoroutine {
    GoroutineCalls* calls = nullptr;
    std::uint64_t used = 0;  ///< of the stack
    std::uint64_t top = 0;
  };
  static std::optional<OnGoroutine> goroutine_of(const ptrace::Tracee& tracee, const arch::Registers& registers);
  void hook_goroutines(ptrace::Tracee& tracee, const library::Module& module);
  static void expect_restart(const ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers);
  /// A function begins. False: it has done so before, and was interrupted.
  static bool begins(const OnGoroutine& place, std::uint64_t address);
  void drop_unwound(const ptrace::Tracee& tracee, OnGoroutine& place, const arch::FunctionEntry& entry,
                    const trace::LibraryFunction& function);
  bool come_back(const ptrace::Tracee& tracee, OnGoroutine& place, std::uint64_t address,
                 const arch::Registers& registers);
  void finish(const ptrace::Tracee& tracee, const GoroutineCalls::Call& call, trace::LibraryExit::How how,
              const arch::Registers* registers);
  void end_goroutine_calls(const ptrace::Tracee& tracee);

  void hook_leaps(ptrace::Tracee& tracee, const library::Module& module);
  static void expect_landing(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers);
  void finish(ptrace::Tracee& tracee, const LibraryFrame& frame, trace::LibraryExit::How how,
              const arch::Registers* registers);
  trace::LibraryFunction& function_of(std::string_view caller, bool of_program, std::string_view name);
  static void set_place(trace::LibraryFunction& function, const library::Module& module, const library::Symbol& symbol);
  void find_library(const ptrace::Tracee& tracee, trace::LibraryFunction& function) const;
  [[nodiscard]] trace::LibraryFunction* entered_function(ptrace::Tracee& tracee, Breakpoint& point,
                                                         std::uint64_t address, std::uint64_t return_address);
  [[nodiscard]] trace::LibraryFunction* exported_function(ptrace::Tracee& tracee, const library::Module& caller,
                                                          Breakpoint& point, std::uint64_t address);

  library::LibrarySelection selection_;
  bool one_by_one_;
  std::shared_ptr<trace::FunctionCounter> counter_;  ///< null: breakpoints count, if they do
  Emit emit_;
  EmitFor emit_for_;
  library::ModuleCache files_;
  std::map<pid_t, std::weak_ptr<Breakpoints>> spaces_;  ///< by process
  std::map<std::shared_ptr<const library::ModuleFile>, std::shared_ptr<const library::DebugSymbols>> debug_symbols_;
  std::set<pid_t> refused_;
  Complain complain_;  ///< empty once it was told
  std::deque<trace::LibraryFunction> functions_;
  std::map<std::pair<std::string, std::string>, trace::LibraryFunction*> by_name_;  ///< caller and name
  std::uint64_t calls_ = 0;
  bool looked_ = false;
  bool found_ = false;
};

template <typename Change>
bool LibraryTracer::add_for_calls(ptrace::Tracee& tracee, std::uint64_t address, Change change) {
  found_ = true;
  Breakpoints& space = *tracee.library->space;
  if (counter_ == nullptr) {
    return space.add(ptrace::stopped_thread(tracee), tracee.memory, address, change);
  }
  Breakpoint& point = space.note(address);
  if (!point.inserted && !point.counted) {
    space.noted.push_back(address);
  }
  change(point);
  return true;
}

}  // namespace tracer::functions
