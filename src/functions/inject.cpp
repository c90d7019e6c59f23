#include "functions/inject.h"

#include <algorithm>
#include <cstring>

#include "arch/breakpoint.h"
#include "functions/library/modules.h"
#include "proc/proc_files.h"
#include "ptrace/live_memory.h"

namespace tracer::functions {

std::uint64_t find_call_instruction(const ptrace::Stopped& thread, Abi abi) {
  constexpr std::uint64_t most = 65536;
  const auto [start, size] = library::vdso_of(thread.tid());
  std::vector<std::byte> code(std::min(size, most));
  const ptrace::LiveMemory memory(thread.tid());
  code.resize(memory.read(RemoteAddr(start), code));
  const auto wanted = arch::call_instruction(abi);
  const auto at = std::search(code.begin(), code.end(), wanted.begin(), wanted.end());
  return at == code.end() || wanted.empty() ? 0 : start + static_cast<std::uint64_t>(at - code.begin());
}

namespace {

/// Whether its only filter is the one that we had it set.
bool has_ours_alone(const ptrace::Stopped& thread, Filtered filtered) {
  return filtered == Filtered::by_us && proc::number_field(thread.tid(), "Seccomp_filters") == 1;
}

}  // namespace

Result<std::uint64_t> inject_call(const ptrace::Stopped& thread, Filtered filtered, std::uint64_t number,
                                  const std::array<std::uint64_t, 6>& arguments) {
  // A filter of its own might kill the process for a call that it never makes itself.
  const Error impossible{EPERM, {}};
  if (proc::number_field(thread.tid(), "Seccomp") != 0 && !has_ours_alone(thread, filtered)) {
    return impossible;
  }
  const auto registers = thread.registers();
  if (!registers) {
    return registers.error();
  }
  const std::uint64_t instruction = find_call_instruction(thread, registers.value().mode_abi());
  return instruction != 0 ? inject_call_at(instruction, thread, filtered, number, arguments) : impossible;
}

Result<std::uint64_t> inject_call_at(std::uint64_t instruction, const ptrace::Stopped& thread, Filtered filtered,
                                     std::uint64_t number, const std::array<std::uint64_t, 6>& arguments) {
  Result<std::uint64_t> result = Error{EPERM, {}};
  if (thread.has_dispatch()) {  // SIGSYS might kill it
    return result;
  }
  const auto saved = thread.registers();
  if (!saved) {
    return saved.error();
  }
  arch::Registers registers = saved.value();
  arch::prepare_call(registers, instruction, number, arguments);
  if (const Status set = thread.set_registers(registers); !set) {
    return set.error();
  }
  const Status stepped = has_ours_alone(thread, filtered) ? thread.step_through_filter() : thread.step();
  if (!stepped) {
    result = stepped.error();
  } else if (const auto after = thread.registers(); after && after.value().instruction_pointer() != instruction) {
    const auto value = static_cast<std::uint64_t>(after.value().result());
    // The kernel extends a 32-bit thread's result by its sign, though it may be an address.
    result = word_size(registers.mode_abi()) == 4 ? static_cast<std::uint32_t>(value) : value;
  }
  static_cast<void>(thread.set_registers(saved.value()));
  return result;
}

}  // namespace tracer::functions
