// The breakpoints in one address space. Threads share them, and so does a vfork's child; a fork's child has its own
// copy of all.
//
// A breakpoint stays in place while threads run. A thread that ran into one goes on with the instruction that it
// covers displaced, that is, copied to a page of its own where a jump back follows it, or emulated if it is itself a
// jump.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/breakpoint.h"
#include "library/modules.h"
#include "ptrace/live_memory.h"
#include "ptrace/stopped_thread.h"
#include "trace/library_call.h"

namespace tracer::functions {

/// What is to be done where a breakpoint stands.
struct Breakpoint {
  std::array<std::byte, arch::max_instruction_size> code{};  ///< as it was, as far as it could be read
  std::size_t code_size = 0;
  bool inserted = false;
  bool counted = false;            ///< there is none: the kernel counts who comes here (FunctionCounter)
  std::uint64_t probe_offset = 0;  ///< where in the module's file, if so

  // Why it is there.
  trace::LibraryFunction* stub = nullptr;  ///< a module's call of a function
  trace::LibraryFunction* entry =
      nullptr;  ///< the first instruction of a function that was asked for, whoever calls it
  trace::LibraryFunction* resolved = nullptr;  ///< what the code here returns is the first instruction of this one
  std::string entry_symbol;                    ///< or one that matters if these modules call it:
  std::vector<std::uint64_t> callers;          ///< where their code starts
  bool for_other_modules = false;              ///< … or if any but the one that it is in does
  std::map<std::uint64_t, trace::LibraryFunction*>
      called_by;  ///< what such modules call it, by where their code starts; null: nothing
  bool returns_here = false;
  bool unwinds = false;     ///< _Unwind_SetIP: its second argument is where the thread goes on
  bool jumps = false;       ///< longjmp: where its buffer says
  bool is_landing = false;  ///< … here
  struct Probe {
    std::shared_ptr<const library::ModuleFile> file;  ///< keeps …
    const library::StaticProbe* probe = nullptr;
  };
  std::vector<Probe> probes;  ///< static ones
  bool makes_room = false;    ///< Go's runtime.morestack: the function that calls it will begin again
  bool preempts = false;  ///< Go's runtime.asyncPreempt: so will the one at whose first instruction a signal has come
  bool is_loader_hook = false;
  bool is_program_entry = false;

  // How to get over it.
  bool prepared = false;
  arch::StepStrategy strategy = arch::StepStrategy::in_place;
  std::uint64_t displaced_at = 0;
  std::size_t jump_back = 0;  ///< from there
};

/// An open call of a function.
struct LibraryFrame {
  const trace::LibraryFunction* function = nullptr;
  std::uint64_t call = 0;
  std::uint64_t stack_pointer = 0;  ///< at entry
  std::uint64_t return_address = 0;
  bool by_stub = false;
  trace::LibraryFunction* resolved = nullptr;  ///< not shown: see Breakpoint::resolved
};

/// What a goroutine of Go is in. It may go on in another thread, and its stack be moved; what has been used of the
/// stack stays the same.
struct GoroutineCalls {
  struct Call {
    LibraryFrame frame;
    std::uint64_t used = 0;  ///< of the stack, at entry
    pid_t thread = 0;        ///< that it began in
  };
  std::vector<Call> calls;  ///< the innermost last
  /// The function that has begun last, and how much of the stack was in use then.
  std::uint64_t begun = 0;
  std::uint64_t begun_at = 0;
  bool begins_again = false;  ///< it has been interrupted before it has done anything
};

class Breakpoints {
 public:
  /// Puts one where there is none yet, and has `change` say what for. False if the memory cannot be written.
  template <typename Change>
  bool add(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address, Change change) {
    Breakpoint* breakpoint = insert(thread, memory, address);
    if (breakpoint != nullptr) {
      change(*breakpoint);
    }
    return breakpoint != nullptr;
  }
  /// The same where there is code, and nowhere else: what a program leaves on its stack may be the address of anything.
  template <typename Change>
  bool add_in_code(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address, Change change) {
    return is_code(thread.tid(), address) && add(thread, memory, address, change);
  }
  /// Makes a record for one that may turn out not to be needed.
  Breakpoint& note(std::uint64_t address) { return points_[address]; }
  /// All records, those of former ones among them.
  std::map<std::uint64_t, Breakpoint>& records() { return points_; }
  /// Null if none was ever there.
  Breakpoint* find(std::uint64_t address);
  /// The same, with places left out that have only been noted.
  Breakpoint* find_trap(std::uint64_t address);
  /// Takes one away; its record stays, for threads that have run into it already.
  void remove(const ptrace::Stopped& thread, std::uint64_t address);
  void put_again(const ptrace::Stopped& thread, std::uint64_t address);
  /// Adds us to those who watch a static probe, by its counter of 16 bits.
  void raise_semaphore(const ptrace::Stopped& thread, const ptrace::LiveMemory& memory, std::uint64_t address);
  /// Takes all away, and all traps that may be left of former ones.
  void remove_all(const ptrace::Stopped& thread);
  /// The memory there is gone, and all breakpoints with it.
  void forget(std::uint64_t start, std::uint64_t end);

  /// Makes `registers`, of a thread that stands at a breakpoint, those with which it goes on. False: it has to step
  /// over it in place.
  bool pass(const ptrace::Stopped& thread, const trace::Memory& memory, pid_t pid, std::uint64_t address,
            arch::Registers& registers);
  /// Code that the program has copied has the traps of breakpoints, too. If there seems to be such a one at `address`,
  /// puts there what stood in its place. False: there is not, or it is not clear what that was.
  bool mend_copy(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address);
  /// Of an address among the displaced instructions, the one in the code that it stands for.
  [[nodiscard]] std::optional<std::uint64_t> undisplaced(std::uint64_t address) const;
  /// Code is no longer at `address`, as the program has taken the memory for itself. If that was ours, its instructions
  /// run in place from now on; false if it was not.
  bool lose_page(std::uint64_t address);
  /// Whether there are pages for displaced instructions.
  [[nodiscard]] bool has_pages() const { return !pages_.empty(); }
  /// Gives them back; no thread may be there, and this one must be at rest (inject_call). False: it has stopped for
  /// another reason meanwhile, and has to do the rest later.
  bool unmap(const ptrace::Stopped& thread);

  /// What the modules are for whom they were set, by the start of their code.
  std::map<std::uint64_t, library::Module> modules;
  /// The one of these whose code is at `address`, or null.
  [[nodiscard]] const library::Module* module_at(std::uint64_t address) const;
  /// Functions whose addresses the loader has not filled in yet, and where it will.
  struct Pending {
    std::uint64_t module = 0;
    std::uint64_t slot_address = 0;
    std::string symbol;
  };
  std::vector<Pending> pending;
  std::vector<std::uint64_t> noted;  ///< places for calls that are neither counted nor have a breakpoint yet
  bool withdrawn = false;            ///< none shall be here any more
  bool hooked = false;
  bool has_go = false;                                 ///< code that Go's compiler has made
  std::map<std::uint64_t, GoroutineCalls> goroutines;  ///< by the runtime's records of them

 private:
  struct Page {
    std::uint64_t address = 0;
    std::uint64_t used = 0;
    bool lost = false;
  };
  static constexpr std::uint64_t page_bytes = 65536;
  static constexpr std::size_t most_pages = 64;

  void lower_semaphores(const ptrace::Stopped& thread);
  [[nodiscard]] bool is_code(pid_t pid, std::uint64_t address) const;
  Breakpoint* insert(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address);
  void prepare(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Breakpoint& breakpoint, Abi abi);
  /// 0: nowhere. EAGAIN as inject_call().
  Result<std::uint64_t> place_near(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Abi abi);

  std::vector<std::uint64_t> semaphores_;  ///< raised, each as often as it stands here
  std::map<std::uint64_t, Breakpoint> points_;
  std::vector<Page> pages_;
  std::map<std::uint64_t, std::uint64_t> displaced_;  ///< from the address of a displaced instruction to its own
  bool cannot_map_ = false;
};

/// What tracing of functions knows of a thread.
struct LibraryThread {
  std::shared_ptr<Breakpoints> space;
  std::vector<LibraryFrame> calls;      ///< the innermost last
  std::vector<LibraryFrame> repeaters;  ///< calls that have returned and may return again (setjmp)
  /// A breakpoint that has been told of, but whose instruction has yet to run: a signal came in between.
  struct Told {
    std::uint64_t address = 0;
    std::uint64_t stack_pointer = 0;
  };
  std::optional<Told> told;
  /// The stub that it came to last, where calls are only counted.
  struct Stub {
    const trace::LibraryFunction* function = nullptr;
    std::uint64_t stack_pointer = 0;
    std::uint64_t return_address = 0;
  };
  Stub stub;
  /// Of a new process: what its creator's calls are counted at, and its own are not yet.
  std::vector<std::uint64_t> inherited;
};

/// Has the thread make a system call, and puts its registers back. It must not be in a call of its own, whose end would
/// be taken for that of this one. An error if that did not work: EAGAIN if it has stopped for another reason, which is
/// yet to be waited for.
Result<std::uint64_t> inject_call(const ptrace::Stopped& thread, pid_t pid, std::uint64_t number,
                                  const std::array<std::uint64_t, 6>& arguments);

}  // namespace tracer::functions
