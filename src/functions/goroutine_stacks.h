// Calls of functions in one process's Go code. A goroutine may return in another thread than it has called in, as
// goroutines take turns; it may return on another stack, as the runtime moves stacks that have become too small; and a
// function for which there was no room starts once more. So a call belongs to the runtime's record of the goroutine,
// and its place is counted from the top of the stack.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "arch/breakpoint.h"
#include "functions/library/modules.h"
#include "functions/open_call.h"
#include "trace/memory.h"

namespace tracer::functions {

class GoroutineStacks {
 public:
  /// The open calls of a goroutine. It may go on in another thread, and its stack may be moved; how much of the stack
  /// is in use stays the same.
  struct Goroutine {
    struct Call {
      OpenCall call;
      std::uint64_t used = 0;  ///< of the stack, at entry
      pid_t thread = 0;        ///< that it started in
    };
    std::vector<Call> calls;  ///< the innermost last
    /// The function that has started last, and how much of the stack was in use then.
    std::uint64_t started = 0;
    std::uint64_t started_at = 0;
    bool starts_again = false;  ///< it was interrupted before it had done anything
  };
  /// Where a thread is on a goroutine's stack.
  struct Place {
    Goroutine* goroutine = nullptr;
    std::uint64_t used = 0;  ///< of the stack
    std::uint64_t top = 0;
  };

  /// The process has code that Go's compiler has made.
  void expect_goroutines() { has_go_ = true; }
  /// Empty if the thread with these registers runs no goroutine.
  std::optional<Place> find(const arch::Registers& registers, const trace::Memory& memory);

  /// A function starts at `address`. False: it has done so before, and was interrupted.
  static bool start(const Place& place, std::uint64_t address);
  /// The runtime interrupts a function of `module`, which will start again: the one that `return_address` is in, or, if
  /// not `inside`, the one whose first instruction is there.
  static void expect_restart(const Place& place, const library::Module& module, std::uint64_t return_address,
                             bool inside);
  /// Ends the calls that the start of `call` shows to be over.
  static void drop_unwound(const Place& place, const OpenCall& call, CallEnds& ends);
  static void push(const Place& place, const OpenCall& call, pid_t thread);
  /// The thread has come to `address`, where a call may return to, with this stack pointer. False if none of the
  /// goroutine's calls returns so.
  static bool come_back(const Place& place, std::uint64_t address, Abi abi, std::uint64_t stack_pointer,
                        CallEnds& ends);
  /// The calls that have started in `thread` end with it.
  void lose_calls_of(pid_t thread, CallEnds& ends);
  /// The process is a copy, which the goroutines' threads are not in.
  void forget_calls() { goroutines_.clear(); }

 private:
  Goroutine* goroutine_of(std::uint64_t record);

  bool has_go_ = false;
  std::map<std::uint64_t, Goroutine> goroutines_;  ///< by the runtime's records of them
};

}  // namespace tracer::functions
