#include "functions/goroutine_stacks.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace tracer::functions {

using How = CallEnds::How;

GoroutineStacks::Goroutine* GoroutineStacks::goroutine_of(std::uint64_t record) {
  // The runtime uses the records of ended goroutines again, but a tracee can make any number up.
  constexpr std::size_t most_goroutines = 1'000'000;
  if (goroutines_.size() < most_goroutines) {
    return &goroutines_[record];
  }
  const auto found = goroutines_.find(record);
  return found == goroutines_.end() ? nullptr : &found->second;
}

std::optional<GoroutineStacks::Place> GoroutineStacks::find(const arch::Registers& registers,
                                                            const trace::Memory& memory) {
  const std::uint64_t record = has_go_ ? arch::goroutine_record(registers) : 0;
  std::array<std::uint64_t, 2> stack{};  // runtime.g starts with its bounds, the lower one first
  const auto into = std::as_writable_bytes(std::span(stack));
  if (record == 0 || memory.read(RemoteAddr(record), into) != into.size()) {
    return std::nullopt;
  }
  const std::uint64_t stack_pointer = registers.stack_pointer();
  if (stack_pointer < stack[0] || stack_pointer > stack[1]) {
    return std::nullopt;  // C code, which has something else in the register
  }
  Goroutine* goroutine = goroutine_of(record);
  return goroutine == nullptr ? std::nullopt : std::optional(Place{goroutine, stack[1] - stack_pointer, stack[1]});
}

bool GoroutineStacks::start(const Place& place, std::uint64_t address) {
  Goroutine& goroutine = *place.goroutine;
  if (std::exchange(goroutine.starts_again, false) && goroutine.started == address &&
      goroutine.started_at == place.used) {
    return false;
  }
  goroutine.started = address;
  goroutine.started_at = place.used;
  return true;
}

void GoroutineStacks::expect_restart(const Place& place, const library::Module& module, std::uint64_t return_address,
                                     bool inside) {
  // The call of the runtime has put at most this on the stack since then, with some alignment.
  constexpr std::uint64_t most_used = 16;
  if (place.used - place.goroutine->started_at > most_used) {
    return;
  }
  std::uint64_t function = return_address;
  if (inside) {
    function = 0;
    for (const library::Symbol& symbol : module.file->all_functions()) {
      const std::uint64_t address = module.bias + symbol.address;
      function = address <= return_address ? std::max(function, address) : function;
    }
  }
  place.goroutine->starts_again = function == place.goroutine->started;
}

void GoroutineStacks::drop_unwound(const Place& place, const OpenCall& call, CallEnds& ends) {
  auto& calls = place.goroutine->calls;
  const auto is_over = [&](const Goroutine::Call& open) {
    return open.used > place.used || (open.used == place.used && (open.call.return_address != call.return_address ||
                                                                  open.call.function == call.function));
  };
  while (!calls.empty() && is_over(calls.back())) {
    const Goroutine::Call open = calls.back();
    calls.pop_back();
    ends.end_in(open.thread, open.call, How::unwound);
  }
}

void GoroutineStacks::push(const Place& place, const OpenCall& call, pid_t thread) {
  trace::keep_innermost(place.goroutine->calls);
  place.goroutine->calls.push_back({call, place.used, thread});
}

bool GoroutineStacks::come_back(const Place& place, std::uint64_t address, Abi abi, std::uint64_t stack_pointer,
                                CallEnds& ends) {
  auto& calls = place.goroutine->calls;
  const auto is_end = [&](const Goroutine::Call& open) {
    return open.call.return_address == address && arch::has_returned(abi, place.top - open.used, stack_pointer);
  };
  const auto first = std::find_if(calls.begin(), calls.end(), is_end);
  if (first == calls.end()) {
    return false;
  }
  const auto left = static_cast<std::size_t>(first - calls.begin());
  while (calls.size() > left) {
    const Goroutine::Call open = calls.back();
    calls.pop_back();
    ends.end_in(open.thread, open.call, is_end(open) ? How::returned : How::unwound);
  }
  return true;
}

void GoroutineStacks::lose_calls_of(pid_t thread, CallEnds& ends) {
  for (auto& [record, goroutine] : goroutines_) {
    auto& calls = goroutine.calls;
    const auto is_its = [&](const Goroutine::Call& open) { return open.thread == thread; };
    std::for_each(calls.rbegin(), calls.rend(), [&](const Goroutine::Call& open) {
      if (is_its(open)) {
        ends.end_in(open.thread, open.call, How::lost);
      }
    });
    std::erase_if(calls, is_its);
  }
}

}  // namespace tracer::functions
