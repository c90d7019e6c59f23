// The open calls of one thread, and how they end: by returning, once or twice, by a jump over them, on another stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/abi.h"
#include "functions/open_call.h"

namespace tracer::functions {

class CallStack {
 public:
  /// `call` starts: ends the calls that this shows to be over. False if it is the innermost one itself, because the
  /// jump of a stub has now come to the function. `by_entry`: the function's own entry is asked for, so it counts as a
  /// call. `sees_jumps`: no long jump goes unseen, so a function that starts where it is open has ended in a jump to
  /// one that has ended in a jump back.
  bool start(const OpenCall& call, bool by_entry, bool sees_jumps, CallEnds& ends);
  void push(const OpenCall& call);
  /// Where the innermost call returns to that was entered with this stack pointer; empty if there is none.
  [[nodiscard]] std::optional<std::uint64_t> return_address_at(std::uint64_t stack_pointer) const;
  [[nodiscard]] std::span<const OpenCall> calls() const { return calls_; }
  /// The thread has come to `address`, where a call may return to, with this stack pointer.
  void come_back(std::uint64_t address, Abi abi, std::uint64_t stack_pointer, CallEnds& ends);
  /// Ends the calls whose stack a jump has left: those that were entered below `stack_pointer`.
  void drop_unwound(std::uint64_t stack_pointer, CallEnds& ends);
  /// The thread has ended, or its program has.
  void lose_all(CallEnds& ends);
  /// A new process returns from the calls of its creator, though it has not made them.
  void inherit(const CallStack& parent);

 private:
  void pop(CallEnds& ends, CallEnds::How how);
  /// The calls of each coroutine that waits end with the one that has left its stack; those of the one that runs are
  /// last. Now that one goes on whose calls end at `last`.
  void resume_stack(std::size_t last, CallEnds& ends);

  std::vector<OpenCall> calls_;      ///< the innermost last
  std::vector<OpenCall> repeaters_;  ///< calls that have returned and may return again (setjmp)
};

}  // namespace tracer::functions
