// How calls of functions end: by returning, once or twice, by a jump over them, on another stack.
#include <algorithm>
#include <array>

#include "functions/function_tracer.h"
#include "ptrace/stopped_context.h"

namespace tracer::functions {
namespace {

bool may_return_again(std::string_view name) {
  constexpr std::array<std::string_view, 8> names = {"setjmp",       "_setjmp",    "sigsetjmp", "__sigsetjmp",
                                                     "__sigsetjmp1", "getcontext", "fork",      "vfork"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A thread that is in here is on another stack meanwhile, where it calls and returns as it likes.
bool switches_stack(const LibraryFrame& frame) {
  return frame.function->name == "swapcontext";
}

}  // namespace

void LibraryTracer::drop_unwound(ptrace::Tracee& tracee, std::uint64_t stack_pointer) {
  // Farther away, it is another stack: a coroutine's, or a signal handler's.
  constexpr std::uint64_t same_stack = std::uint64_t{1} << 20;
  auto& calls = tracee.library->calls;
  while (!calls.empty() && !switches_stack(calls.back()) && calls.back().stack_pointer < stack_pointer &&
         stack_pointer - calls.back().stack_pointer < same_stack) {
    const LibraryFrame frame = calls.back();
    calls.pop_back();
    finish(tracee, frame, trace::LibraryExit::How::unwound, nullptr);
  }
}

/// The calls of each coroutine that waits end with the one that has left its stack; those of the one that runs are
/// last. Now the one goes on whose calls end at `last`.
void LibraryTracer::resume_stack(ptrace::Tracee& tracee, std::size_t last, const arch::Registers& registers) {
  auto& calls = tracee.library->calls;
  while (!switches_stack(calls.back())) {
    const LibraryFrame frame = calls.back();
    calls.pop_back();
    finish(tracee, frame, trace::LibraryExit::How::unwound, nullptr);
  }
  const auto end = calls.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  const auto before = std::find_if(std::make_reverse_iterator(end - 1), calls.rend(), switches_stack);
  std::rotate(before.base(), end, calls.end());
  const LibraryFrame frame = calls.back();
  calls.pop_back();
  finish(tracee, frame, trace::LibraryExit::How::returned, &registers);
}

void LibraryTracer::come_back(ptrace::Tracee& tracee, std::uint64_t address, const arch::Registers& registers) {
  LibraryThread& thread = *tracee.library;
  const std::uint64_t stack_pointer = registers.stack_pointer();
  const Abi abi = registers.mode_abi();
  const auto is_end = [&](const LibraryFrame& frame) {
    return frame.return_address == address && arch::has_returned(abi, frame.stack_pointer, stack_pointer);
  };
  auto ended = std::find_if(thread.calls.rbegin(), thread.calls.rend(), is_end);
  bool resumed = false;
  while (ended != thread.calls.rend() && switches_stack(*ended)) {
    resume_stack(tracee, static_cast<std::size_t>(thread.calls.rend() - ended) - 1, registers);
    ended = std::find_if(thread.calls.rbegin(), thread.calls.rend(), is_end);
    resumed = true;
  }
  if (ended != thread.calls.rend()) {
    // A function that ended in a jump to another one returns with it: both have the same end.
    for (bool more = true; more && !thread.calls.empty();) {
      const LibraryFrame frame = thread.calls.back();
      thread.calls.pop_back();
      const bool ends = is_end(frame);
      if (ends && may_return_again(frame.function->name)) {
        std::erase_if(thread.repeaters, is_end);
        trace::keep_innermost(thread.repeaters);
        thread.repeaters.push_back(frame);
      }
      finish(tracee, frame, ends ? trace::LibraryExit::How::returned : trace::LibraryExit::How::unwound,
             ends ? &registers : nullptr);
      more = std::find_if(thread.calls.begin(), thread.calls.end(), is_end) != thread.calls.end();
    }
    return;
  }
  if (resumed) {
    return;
  }
  const auto repeater = std::find_if(thread.repeaters.rbegin(), thread.repeaters.rend(), is_end);
  if (repeater != thread.repeaters.rend()) {
    const LibraryFrame frame = *repeater;
    drop_unwound(tracee, frame.stack_pointer + 1);  // calls that began where it did are over, too
    finish(tracee, frame, trace::LibraryExit::How::again, &registers);
  }
}

/// So that we hear of exceptions and long jumps: often their end is where a call that they end would have returned to.
void LibraryTracer::hook_leaps(ptrace::Tracee& tracee, const library::Module& module) {
  if (!one_by_one_ || (selection_.calls.empty() && selection_.entries.empty() && selection_.exports.empty())) {
    return;
  }
  const auto hook = [&](std::string_view name, bool Breakpoint::*why) {
    const library::Symbol* symbol = module.file->find_anywhere(name);
    const std::uint64_t address = symbol != nullptr ? module.bias + symbol->address : 0;
    if (address >= module.start && address < module.end) {
      tracee.library->space->add(ptrace::stopped_thread(tracee), tracee.memory, address,
                                 [&](Breakpoint& point) { point.*why = true; });
    }
  };
  hook("_Unwind_SetIP", &Breakpoint::unwinds);
  hook("longjmp", &Breakpoint::jumps);
  hook("__longjmp_chk", &Breakpoint::jumps);
}

void LibraryTracer::expect_landing(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers) {
  const auto entry = arch::function_entry(registers, tracee.memory);
  if (!entry) {
    return;
  }
  Breakpoints& space = *tracee.library->space;
  std::array<std::uint64_t, 2> landings = {entry->integers[1], 0};
  if (point.jumps) {
    const auto thread = arch::thread_pointer(registers, ptrace::StoppedContext(tracee, registers).register_sets());
    landings = arch::longjmp_targets(registers.mode_abi(), entry->integers[0], tracee.memory, thread.value_or(0));
  }
  for (const std::uint64_t landing : landings) {
    if (space.module_at(landing) != nullptr) {
      space.add(ptrace::stopped_thread(tracee), tracee.memory, landing,
                [](Breakpoint& there) { there.is_landing = true; });
    }
  }
}

void LibraryTracer::end_calls(ptrace::Tracee& tracee) {
  if (tracee.library == nullptr) {
    return;
  }
  auto& calls = tracee.library->calls;
  while (!calls.empty()) {
    const LibraryFrame frame = calls.back();
    calls.pop_back();
    finish(tracee, frame, trace::LibraryExit::How::lost, nullptr);
  }
  end_goroutine_calls(tracee);
}

void LibraryTracer::finish(ptrace::Tracee& tracee, const LibraryFrame& frame, trace::LibraryExit::How how,
                           const arch::Registers* registers) {
  if (frame.resolved != nullptr) {
    if (registers != nullptr && how == trace::LibraryExit::How::returned) {
      add_for_calls(tracee, arch::function_result(*registers)[0],
                    [&](Breakpoint& point) { point.entry = frame.resolved; });
      count_noted(tracee);
    }
    return;
  }
  trace::LibraryExit exit;
  exit.function = frame.function;
  exit.call = frame.call;
  exit.how = how;
  if (registers != nullptr) {
    exit.integers = arch::function_result(*registers);
    const ptrace::StoppedContext context(tracee, *registers);
    exit.context = &context;
    emit_(tracee, exit);
  } else {
    emit_(tracee, exit);
  }
}

}  // namespace tracer::functions
