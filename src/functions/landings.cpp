#include "functions/landings.h"

#include <array>

#include "functions/stopped_context.h"
#include "functions/thread_state.h"

namespace tracer::functions {

void expect_landing(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers) {
  const auto entry = arch::function_entry(registers, tracee.memory);
  if (!entry) {
    return;
  }
  Breakpoints& space = space_of(tracee);
  std::array<std::uint64_t, 2> landings = {entry->integers[1], 0};
  if (point.jumps) {
    const auto thread = arch::thread_pointer(registers, StoppedContext(tracee, registers).register_sets());
    landings = arch::longjmp_targets(registers.mode_abi(), entry->integers[0], tracee.memory, thread.value_or(0));
  }
  for (const std::uint64_t landing : landings) {
    if (space.module_at(landing) != nullptr) {
      space.add(ptrace::stopped_thread(tracee), tracee.memory, landing,
                [](Breakpoint& there) { there.is_landing = true; });
    }
  }
}

}  // namespace tracer::functions
