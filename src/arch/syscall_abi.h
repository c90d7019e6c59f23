// Converts between the kernel's and the tracer's identification of system-call ABIs and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/arch.h"

namespace tracer::arch {

/// Returns all values of seccomp_data::arch that are possible on this machine.
std::span<const FilterArch> filter_arches();

/// Returns the entry for an ABI; null if this machine does not support it.
inline const FilterArch* filter_arch_of(Abi abi) {
  for (const FilterArch& arch : filter_arches()) {
    if (abi == arch.abi || abi == arch.other) {
      return &arch;
    }
  }
  return nullptr;
}

/// Takes `audit_arch` and `number` from PTRACE_GET_SYSCALL_INFO or seccomp_data. Empty for an architecture that this
/// machine does not support.
std::optional<CallNumber> call_number_of(std::uint32_t audit_arch, std::uint64_t number);

/// Takes `number` from the register and `abi` from Registers::call_abi.
CallNumber call_number_of(Abi abi, std::uint64_t number);

/// Returns the value of the register for this call, the inverse of call_number_of().
std::uint64_t raw_call_number(CallNumber call);

/// The ABI of the tracer itself, and of a program that it launches until the first execve.
Abi native_abi();

/// The ABIs that this machine supports.
inline AbiMask machine_abis() {
  AbiMask abis = 0;
  for (const FilterArch& arch : filter_arches()) {
    abis = static_cast<AbiMask>(abis | mask_of(arch.abi) | mask_of(arch.other));
  }
  return abis;
}

/// Whether `number` is execve or execveat.
bool is_execve(Abi abi, std::uint64_t number);

/// Whether `number` is execveat, whose path is the second argument.
bool is_execveat(Abi abi, std::uint64_t number);

}  // namespace tracer::arch
