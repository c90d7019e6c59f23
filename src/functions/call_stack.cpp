#include "functions/call_stack.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arch/breakpoint.h"

namespace tracer::functions {
namespace {

using How = CallEnds::How;

bool may_return_again(std::string_view name) {
  constexpr std::array<std::string_view, 8> names = {"setjmp",       "_setjmp",    "sigsetjmp", "__sigsetjmp",
                                                     "__sigsetjmp1", "getcontext", "fork",      "vfork"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A thread that is in here is on another stack meanwhile, where it calls and returns as it likes.
bool switches_stack(const OpenCall& call) {
  return call.function->name == "swapcontext";
}

}  // namespace

bool CallStack::start(const OpenCall& call, bool by_entry, bool sees_jumps, CallEnds& ends) {
  drop_unwound(call.stack_pointer, ends);
  if (calls_.empty() || calls_.back().stack_pointer != call.stack_pointer) {
    return true;
  }
  const OpenCall& last = calls_.back();
  if (!call.by_stub && last.by_stub && last.function->name == call.function->name &&
      last.return_address == call.return_address && !by_entry) {
    return false;
  }
  if (last.return_address != call.return_address || (last.function == call.function && !sees_jumps)) {
    pop(ends, How::unwound);
  }
  return true;
}

void CallStack::push(const OpenCall& call) {
  trace::keep_innermost(calls_);
  calls_.push_back(call);
}

void CallStack::pop(CallEnds& ends, How how) {
  const OpenCall call = calls_.back();
  calls_.pop_back();
  ends.end(call, how);
}

void CallStack::drop_unwound(std::uint64_t stack_pointer, CallEnds& ends) {
  // Farther away, it is another stack: a coroutine's, or a signal handler's.
  constexpr std::uint64_t same_stack = std::uint64_t{1} << 20;
  while (!calls_.empty() && !switches_stack(calls_.back()) && calls_.back().stack_pointer < stack_pointer &&
         stack_pointer - calls_.back().stack_pointer < same_stack) {
    pop(ends, How::unwound);
  }
}

void CallStack::resume_stack(std::size_t last, CallEnds& ends) {
  while (!switches_stack(calls_.back())) {
    pop(ends, How::unwound);
  }
  const auto end = calls_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  const auto before = std::find_if(std::make_reverse_iterator(end - 1), calls_.rend(), switches_stack);
  std::rotate(before.base(), end, calls_.end());
  pop(ends, How::returned);
}

std::optional<std::uint64_t> CallStack::return_address_at(std::uint64_t stack_pointer) const {
  const auto call = std::find_if(calls_.rbegin(), calls_.rend(),
                                 [&](const OpenCall& open) { return open.stack_pointer == stack_pointer; });
  return call != calls_.rend() ? std::optional(call->return_address) : std::nullopt;
}

void CallStack::come_back(std::uint64_t address, Abi abi, std::uint64_t stack_pointer, CallEnds& ends) {
  const auto is_end = [&](const OpenCall& call) {
    return call.return_address == address && arch::has_returned(abi, call.stack_pointer, stack_pointer);
  };
  auto ended = std::find_if(calls_.rbegin(), calls_.rend(), is_end);
  bool resumed = false;
  while (ended != calls_.rend() && switches_stack(*ended)) {
    resume_stack(static_cast<std::size_t>(calls_.rend() - ended) - 1, ends);
    ended = std::find_if(calls_.rbegin(), calls_.rend(), is_end);
    resumed = true;
  }
  if (ended != calls_.rend()) {
    // A function that ended in a jump to another one returns with it: both have the same end.
    for (bool more = true; more && !calls_.empty();) {
      const bool returns = is_end(calls_.back());
      if (returns && may_return_again(calls_.back().function->name)) {
        std::erase_if(repeaters_, is_end);
        trace::keep_innermost(repeaters_);
        repeaters_.push_back(calls_.back());
      }
      pop(ends, returns ? How::returned : How::unwound);
      more = std::find_if(calls_.begin(), calls_.end(), is_end) != calls_.end();
    }
    return;
  }
  if (resumed) {
    return;
  }
  const auto repeater = std::find_if(repeaters_.rbegin(), repeaters_.rend(), is_end);
  if (repeater != repeaters_.rend()) {
    const OpenCall call = *repeater;
    drop_unwound(call.stack_pointer + 1, ends);  // calls that started where it did are over, too
    ends.end(call, How::again);
  }
}

void CallStack::lose_all(CallEnds& ends) {
  while (!calls_.empty()) {
    pop(ends, How::lost);
  }
}

void CallStack::inherit(const CallStack& parent) {
  repeaters_ = parent.repeaters_;
  repeaters_.insert(repeaters_.end(), parent.calls_.begin(), parent.calls_.end());
  trace::keep_innermost(repeaters_);
}

}  // namespace tracer::functions
