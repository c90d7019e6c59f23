#include "inprocess/inject.h"

#include <cerrno>

#include "arch/breakpoint.h"

namespace tracer::inprocess {

Injector::Injector(const ptrace::Stopped& thread) : thread_(thread), saved_(thread.registers()) {}

Injector::~Injector() {
  if (changed_) {
    static_cast<void>(thread_.set_registers(saved_.value()));
  }
}

Result<std::uint64_t> Injector::call(std::uint64_t instruction, std::uint64_t number, const Arguments& arguments) {
  if (!saved_) {
    return saved_.error();
  }
  arch::Registers registers = saved_.value();
  arch::prepare_call(registers, instruction, number, arguments);
  changed_ = true;
  if (const Status set = thread_.set_registers(registers); !set) {
    return set.error();
  }
  // A busy machine may keep the thread waiting longer than a step has patience, before the call or in it.
  constexpr unsigned most_steps = 100;
  Result<arch::Registers> after = registers;
  for (unsigned steps = 0; after && after.value().instruction_pointer() == instruction; ++steps) {
    const Status stepped = thread_.step_through_stops();
    if (steps == most_steps || (!stepped && stepped.error().number != EINTR)) {
      return Error{EAGAIN, {}};
    }
    after = thread_.registers();
  }
  if (!after) {
    return after.error();
  }
  // Where the first call is injected, at the exit of a call, this register may not be what it is elsewhere.
  saved_.value().take_hidden(after.value());
  constexpr std::int64_t lowest_error = -4095;
  const std::int64_t result = after.value().result();
  if (result < 0 && result >= lowest_error) {
    return Error{static_cast<int>(-result), {}};
  }
  return static_cast<std::uint64_t>(result);
}

}  // namespace tracer::inprocess
