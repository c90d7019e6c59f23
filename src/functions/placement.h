// Where breakpoints for calls of functions and for static probes go.
#pragma once

#include <map>
#include <memory>

#include "functions/counter.h"
#include "functions/function_table.h"
#include "functions/library/debug_symbols.h"
#include "functions/library/modules.h"
#include "functions/library/symbol_filter.h"
#include "functions/missed_filters.h"
#include "functions/thread_state.h"

namespace tracer::functions {

class Placement {
 public:
  /// `one_by_one`: the ends of calls are to be reported.
  Placement(const library::LibrarySelection& selection, bool one_by_one, FunctionTable& functions, Counter& counter,
            ptrace::EventSink& sink)
      : selection_(selection), one_by_one_(one_by_one), functions_(functions), counter_(counter), sink_(sink) {}

  /// The process may have other modules than before: sets the breakpoints that it lacks, and forgets those that are
  /// gone.
  void update(ptrace::Tracee& tracee);
  /// A resolver has chosen the code at `address` for `function`.
  void place_chosen(ptrace::Tracee& tracee, std::uint64_t address, trace::LibraryFunction& function);
  /// Takes all breakpoints of a process away, for good.
  static void withdraw(ptrace::Tracee& tracee);
  /// Does so if the memory of the thread, which has run into the breakpoint at `address`, cannot be read any more: the
  /// process has asked the kernel to hide it. False: it can be read, or nothing helps.
  bool withdraw_if_hidden(ptrace::Tracee& tracee, std::uint64_t address);
  /// Whether there was a program, and nothing in it or its libraries that the selection is about.
  [[nodiscard]] bool found_nothing() const { return looked_ && !found_; }
  /// Why parts of the selection have found nothing, as far as that can be said; a line each.
  [[nodiscard]] std::vector<std::string> reasons() const {
    return looked_ ? missed_.reasons(selection_, found_) : std::vector<std::string>();
  }

 private:
  std::map<std::uint64_t, library::Module> traceable_modules(pid_t process);
  void complain_of_hidden_memory(pid_t process);
  void place(ptrace::Tracee& tracee, const library::Module& module);
  /// Sets a breakpoint, or, where the kernel counts or records calls, notes the place.
  template <typename Change>
  bool add_watched(ptrace::Tracee& tracee, std::uint64_t address, Change change);
  void place_calls(ptrace::Tracee& tracee, const library::Module& module);
  /// A function that a module has the address of, at its first instruction.
  bool place_pointer(ptrace::Tracee& tracee, const Breakpoints::Pending& pending);
  void place_pending(ptrace::Tracee& tracee);
  /// Never null; empty if the file has a full symbol table itself.
  std::shared_ptr<const library::DebugSymbols> debug_symbols_of(const ptrace::Tracee& tracee,
                                                                const library::Module& module);
  void place_entries(ptrace::Tracee& tracee, const library::Module& module);
  /// Watches what the resolver of a function chooses.
  void place_resolver(ptrace::Tracee& tracee, const library::Module& module, const library::Symbol& symbol,
                      trace::LibraryFunction& function);
  /// A function whose code a resolver has chosen already: it stands where the loader has written its address.
  void place_resolved(ptrace::Tracee& tracee, const library::Module& module, const library::Symbol& symbol,
                      trace::LibraryFunction& function);
  [[nodiscard]] bool is_shown(const library::Slot& slot) const { return selection_.as_ltrace || !slot.is_startup; }
  /// The name that calls through the slot are traced by; empty: they are not. A function with a resolver may have
  /// several: this is the shortest that is wanted.
  [[nodiscard]] std::string_view wanted_name(const library::Module& module, const library::Slot& slot) const;
  /// What `caller` calls of `callee` through its linkage table, by the names that it was linked with.
  void place_export_calls(ptrace::Tracee& tracee, const library::Module& caller, const library::Module& callee);
  void place_probes(ptrace::Tracee& tracee, const library::Module& module);
  /// These report libraries that come and go, …
  void hook_loader(ptrace::Tracee& tracee);
  /// … exceptions and long jumps …
  void hook_jumps(ptrace::Tracee& tracee, const library::Module& module);
  /// … and goroutines that start a function again.
  void hook_goroutines(ptrace::Tracee& tracee, const library::Module& module);

  const library::LibrarySelection& selection_;
  bool one_by_one_;
  FunctionTable& functions_;
  Counter& counter_;
  ptrace::EventSink& sink_;
  library::ModuleCache files_;
  debuginfo::Reader reader_;
  std::map<std::weak_ptr<const library::ModuleFile>, std::shared_ptr<const library::DebugSymbols>, std::owner_less<>>
      debug_symbols_;
  MissedFilters missed_;
  bool complained_ = false;
  bool found_too_many_ = false;
  bool looked_ = false;
  bool found_ = false;
};

}  // namespace tracer::functions
