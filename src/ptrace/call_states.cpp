#include "ptrace/call_states.h"

#include <cerrno>

namespace tracer::ptrace {

std::optional<CallState> CallStates::of(const Tracee& tracee, bool by_seccomp) {
  const auto& stopped = stopped_thread(tracee);
  if (call_info_works_) {
    auto state = stopped.call_state();
    if (state) {
      return state.value();
    }
    if (state.error().number == ESRCH) {
      return std::nullopt;
    }
    call_info_works_ = false;
  }
  const Direction expected = by_seccomp                ? Direction::entry
                             : !tracee.direction_known ? Direction::unknown
                             : tracee.in_call          ? Direction::exit
                                                       : Direction::entry;
  auto state = stopped.call_state_from_registers(expected);
  if (!state) {
    return std::nullopt;
  }
  return state.value();
}

}  // namespace tracer::ptrace
