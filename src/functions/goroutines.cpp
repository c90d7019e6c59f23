// Calls of functions in Go programs. A goroutine may return in another thread than it has called in, as goroutines take
// turns; it may return on another stack, as the runtime moves stacks that have become too small; and a function for
// which there was no room begins once more. So what it is in is told apart by the runtime's record of the goroutine,
// and counted from the top of its stack.
#include <algorithm>

#include "functions/function_tracer.h"
#include "ptrace/stopped_context.h"

namespace tracer::functions {
namespace {

/// Of one process; the runtime uses the records of goroutines that have ended again. A tracee can make any number up.
constexpr std::size_t most_goroutines = 1'000'000;

GoroutineCalls* calls_of(std::map<std::uint64_t, GoroutineCalls>& all, std::uint64_t record) {
  if (all.size() < most_goroutines) {
    return &all[record];
  }
  const auto found = all.find(record);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

std::optional<LibraryTracer::OnGoroutine> LibraryTracer::goroutine_of(const ptrace::Tracee& tracee,
                                                                      const arch::Registers& registers) {
  Breakpoints& space = *tracee.library->space;
  const std::uint64_t record = space.has_go ? arch::goroutine_record(registers) : 0;
  std::array<std::uint64_t, 2> stack{};  // runtime.g begins with its bounds, the lower one first
  const auto into = std::as_writable_bytes(std::span(stack));
  if (record == 0 || tracee.memory.read(RemoteAddr(record), into) != into.size()) {
    return std::nullopt;
  }
  const std::uint64_t stack_pointer = registers.stack_pointer();
  if (stack_pointer < stack[0] || stack_pointer > stack[1]) {
    return std::nullopt;  // C code, which has something else in the register
  }
  GoroutineCalls* calls = calls_of(space.goroutines, record);
  return calls == nullptr ? std::nullopt : std::optional(OnGoroutine{calls, stack[1] - stack_pointer, stack[1]});
}

void LibraryTracer::hook_goroutines(ptrace::Tracee& tracee, const library::Module& module) {
  if (counter_ != nullptr) {
    return;
  }
  const auto hook = [&](std::string_view name, bool Breakpoint::*why) {
    const library::Symbol* symbol = module.file->find_anywhere(name);
    const std::uint64_t address = symbol != nullptr ? module.bias + symbol->address : 0;
    if (address >= module.start && address < module.end) {
      tracee.library->space->has_go = true;
      tracee.library->space->add(ptrace::stopped_thread(tracee), tracee.memory, address,
                                 [&](Breakpoint& point) { point.*why = true; });
    }
  };
  hook("runtime.morestack", &Breakpoint::makes_room);
  hook("runtime.morestack.abi0", &Breakpoint::makes_room);
  hook("runtime.asyncPreempt", &Breakpoint::preempts);
  hook("runtime.asyncPreempt.abi0", &Breakpoint::preempts);
}

void LibraryTracer::expect_restart(const ptrace::Tracee& tracee, const Breakpoint& point,
                                   const arch::Registers& registers) {
  // At most the call of this function, with some alignment, has come to the stack since.
  constexpr std::uint64_t most_used = 16;
  const auto place = goroutine_of(tracee, registers);
  const auto entry = arch::function_entry(registers, tracee.memory);
  const library::Module* module = entry ? tracee.library->space->module_at(entry->return_address) : nullptr;
  if (!place || module == nullptr || place->used - place->calls->begun_at > most_used) {
    return;
  }
  std::uint64_t function = entry->return_address;
  if (point.makes_room) {  // it is called from within the function
    function = 0;
    for (const library::Symbol& symbol : module->file->all_functions()) {
      const std::uint64_t address = module->bias + symbol.address;
      function = address <= entry->return_address ? std::max(function, address) : function;
    }
  }
  place->calls->begins_again = function == place->calls->begun;
}

bool LibraryTracer::begins(const OnGoroutine& place, std::uint64_t address) {
  GoroutineCalls& calls = *place.calls;
  if (std::exchange(calls.begins_again, false) && calls.begun == address && calls.begun_at == place.used) {
    return false;
  }
  calls.begun = address;
  calls.begun_at = place.used;
  return true;
}

void LibraryTracer::drop_unwound(const ptrace::Tracee& tracee, OnGoroutine& place, const arch::FunctionEntry& entry,
                                 const trace::LibraryFunction& function) {
  auto& calls = place.calls->calls;
  const auto is_over = [&](const GoroutineCalls::Call& call) {
    return call.used > place.used || (call.used == place.used && (call.frame.return_address != entry.return_address ||
                                                                  call.frame.function == &function));
  };
  while (!calls.empty() && is_over(calls.back())) {
    const GoroutineCalls::Call call = calls.back();
    calls.pop_back();
    finish(tracee, call, trace::LibraryExit::How::unwound, nullptr);
  }
}

bool LibraryTracer::come_back(const ptrace::Tracee& tracee, OnGoroutine& place, std::uint64_t address,
                              const arch::Registers& registers) {
  auto& calls = place.calls->calls;
  const auto is_end = [&](const GoroutineCalls::Call& call) {
    return call.frame.return_address == address &&
           arch::has_returned(registers.mode_abi(), place.top - call.used, registers.stack_pointer());
  };
  const auto first = std::find_if(calls.begin(), calls.end(), is_end);
  if (first == calls.end()) {
    return false;
  }
  const auto left = static_cast<std::size_t>(first - calls.begin());
  while (calls.size() > left) {
    const GoroutineCalls::Call call = calls.back();
    calls.pop_back();
    const bool ends = is_end(call);
    finish(tracee, call, ends ? trace::LibraryExit::How::returned : trace::LibraryExit::How::unwound,
           ends ? &registers : nullptr);
  }
  return true;
}

void LibraryTracer::finish(const ptrace::Tracee& tracee, const GoroutineCalls::Call& call, trace::LibraryExit::How how,
                           const arch::Registers* registers) {
  trace::LibraryExit exit;
  exit.function = call.frame.function;
  exit.call = call.frame.call;
  exit.how = how;
  if (registers == nullptr) {
    emit_for_(call.thread, tracee, exit);
    return;
  }
  exit.integers = arch::function_result(*registers);
  const ptrace::StoppedContext context(tracee, *registers);
  exit.context = &context;
  emit_for_(call.thread, tracee, exit);
}

void LibraryTracer::end_goroutine_calls(const ptrace::Tracee& tracee) {
  for (auto& [record, goroutine] : tracee.library->space->goroutines) {
    auto& calls = goroutine.calls;
    const auto is_its = [&](const GoroutineCalls::Call& call) { return call.thread == tracee.tid(); };
    std::for_each(calls.rbegin(), calls.rend(), [&](const GoroutineCalls::Call& call) {
      if (is_its(call)) {
        finish(tracee, call, trace::LibraryExit::How::lost, nullptr);
      }
    });
    std::erase_if(calls, is_its);
  }
}

}  // namespace tracer::functions
