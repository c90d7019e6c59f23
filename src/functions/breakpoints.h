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
#include "functions/counting_stubs.h"
#include "functions/goroutine_stacks.h"
#include "functions/inject.h"
#include "functions/library/modules.h"
#include "ptrace/live_memory.h"
#include "ptrace/stopped_thread.h"
#include "trace/library_call.h"

namespace tracer::functions {

/// A breakpoint and the reasons for it.
struct Breakpoint {
  std::array<std::byte, arch::max_instruction_size> code{};  ///< as it was, as far as it could be read
  std::size_t code_size = 0;
  bool inserted = false;
  bool counted = false;  ///< there is none: the kernel counts or records who comes here, or a CountingStub does
  /// As it was before the kernel was to watch here; copies of the memory may have the kernel's traps.
  std::array<std::byte, 2 * arch::max_instruction_size> watched_code{};
  std::size_t watched_size = 0;
  std::uint32_t function_size = 0;  ///< in bytes; 0 if it is not known, or if no function starts here

  // The reasons for it.
  trace::LibraryFunction* stub = nullptr;  ///< a module's call of a function
  trace::LibraryFunction* entry =
      nullptr;  ///< the first instruction of a function that was asked for, whoever calls it
  trace::LibraryFunction* resolved = nullptr;    ///< what the code here returns is the first instruction of this one
  std::string entry_symbol;                      ///< or one that matters if these modules call it:
  std::vector<std::uint64_t> callers;            ///< where their code starts
  trace::LibraryFunction* unreported = nullptr;  ///< its calls matter to those around them, and are not reported
  bool returns_here = false;
  bool walks_stack = false;  ///< what starts here follows the return addresses on the stack
  bool unwinds = false;      ///< _Unwind_SetIP: its second argument is where the thread goes on
  bool jumps = false;        ///< longjmp: where its buffer says
  bool is_landing = false;   ///< … here
  struct Probe {
    std::shared_ptr<const library::ModuleFile> file;  ///< keeps …
    const library::StaticProbe* probe = nullptr;
  };
  std::vector<Probe> probes;  ///< static ones
  bool makes_room = false;    ///< Go's runtime.morestack: the function that calls it will start again
  bool preempts = false;  ///< Go's runtime.asyncPreempt: so will the one at whose first instruction a signal has come
  bool is_loader_hook = false;
  bool is_program_entry = false;

  /// Whether code that starts here is of interest, whoever calls it or called by these modules.
  [[nodiscard]] bool is_function() const {
    return entry != nullptr || !callers.empty() || resolved != nullptr || unreported != nullptr;
  }
  [[nodiscard]] bool is_for_calls() const { return stub != nullptr || is_function(); }

  // How a thread gets over it.
  bool prepared = false;
  arch::StepStrategy strategy = arch::StepStrategy::in_place;
  std::uint64_t displaced_at = 0;
  std::size_t jump_back = 0;  ///< from there
};

/// How far the kernel can record what happens in an address space.
struct RecordingState {
  bool since_exec = false;       ///< the program is known from its start on
  bool starts_at_entry = false;  ///< nothing is placed before the loader runs
  unsigned looks = 0;            ///< how often the modules were looked at
  bool leaves_returns = false;   ///< returns are not recorded any more
  std::uint64_t trampoline = 0;  ///< see find_trampoline()

  /// Returns what the kernel puts in the place of return addresses; 0: there is nothing of that yet.
  std::uint64_t find_trampoline(pid_t pid);
};

/// In one address space: a program can map its code, and have it looked at, again and again.
inline constexpr std::size_t most_breakpoints = std::size_t{1} << 20;

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
  /// Adds us to those that watch a static probe, in its counter of 16 bits.
  void raise_semaphore(const ptrace::Stopped& thread, const ptrace::LiveMemory& memory, std::uint64_t address);
  /// Takes all away, and all traps that may be left of former ones.
  void remove_all(const ptrace::Stopped& thread);
  /// The memory there is gone, and all breakpoints with it.
  void forget(std::uint64_t start, std::uint64_t end);

  /// Makes `registers`, of a thread that stands at a breakpoint, those with which it goes on. False: it has to step
  /// over it in place.
  bool pass(const ptrace::Stopped& thread, const trace::Memory& memory, pid_t pid, std::uint64_t address,
            arch::Registers& registers);
  /// Code that the program has copied has the traps of breakpoints, too. If there seems to be such a trap at `address`,
  /// puts the code back whose place it took. False: there is no such trap, or it is not clear what that code was.
  bool mend_copy(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address);
  /// The address in the code that an address among the displaced instructions stands for.
  [[nodiscard]] std::optional<std::uint64_t> undisplaced(std::uint64_t address) const;
  /// There is no code at `address` any more, as the program has taken the memory for itself. If that was ours, the
  /// instructions of that page run in place from now on; false if it was not.
  bool lose_page(std::uint64_t address);
  /// Whether there are pages for displaced instructions.
  [[nodiscard]] bool has_pages() const { return !pages_.empty(); }
  /// Unmaps them; no thread may be there, and this one must be at rest (inject_call). False: it has stopped for another
  /// reason meanwhile, and has to do the rest later.
  bool unmap(const ptrace::Stopped& thread);

  /// Returns the start of so many bytes near `address`, for code; 0: there are none. EAGAIN as inject_call().
  Result<std::uint64_t> place_near(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, std::size_t size,
                                   Abi abi);

  /// The modules that they were set for, by the start of their code.
  std::map<std::uint64_t, library::Module> modules;
  /// The one of these whose code is at `address`, or null.
  [[nodiscard]] const library::Module* module_at(std::uint64_t address) const;
  /// Functions whose addresses the loader has not filled in yet, and where it will.
  struct Pending {
    std::uint64_t module = 0;
    std::shared_ptr<const library::ModuleFile> file;  ///< its, which has the slot
    const library::Slot* slot = nullptr;
  };
  std::vector<Pending> pending;
  std::vector<std::uint64_t> noted;  ///< places for calls that are neither counted nor have a breakpoint yet
  struct Withdrawal {
    bool is_done = false;                ///< there must be none any more
    std::uint64_t call_instruction = 0;  ///< see find_call_instruction(); found while the memory can be read
  } withdrawal;
  Filtered filtered = Filtered::by_nobody;
  struct Hooks {
    bool loader = false;
    bool long_jumps = false;  ///< those of the C library do not go unseen
  } hooks;
  RecordingState recording;
  CountingStubs stubs;
  GoroutineStacks goroutines;

 private:
  struct Page {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t used = 0;
    bool lost = false;
    std::vector<std::byte> before{};  ///< what is put back there in the end; empty: it was mapped for this
  };

  void lower_semaphores(const ptrace::Stopped& thread);
  [[nodiscard]] bool is_code(pid_t pid, std::uint64_t address) const;
  Breakpoint* insert(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address);
  void prepare(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Breakpoint& breakpoint, Abi abi);
  /// Maps a page there. EAGAIN as inject_call().
  Status map_near(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Abi abi);
  /// Takes what follows a module's code in the last page of its mapping, which nothing uses. False: there is none left.
  bool borrow_near(const ptrace::Stopped& thread, std::uint64_t address);
  /// Nothing is displaced to there any more.
  void leave_page(const Page& page);

  std::vector<std::uint64_t> semaphores_;  ///< raised, each as often as it stands here
  std::map<std::uint64_t, Breakpoint> points_;
  std::vector<Page> pages_;
  std::map<std::uint64_t, std::uint64_t> displaced_;  ///< from the address of a displaced instruction to its own
  bool cannot_map_ = false;
};

/// Returns the code there without the kernel's traps or ours. A place that the kernel is to watch has to be passed
/// before it does so.
std::span<const std::byte> watched_code(Breakpoints& space, const trace::Memory& memory, std::uint64_t address);

}  // namespace tracer::functions
