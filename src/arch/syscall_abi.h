// From what the kernel calls a system-call ABI to what we call it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/arch.h"

namespace tracer::arch {

/// Every kernel entry of this machine, for seccomp filters.
std::span<const FilterArch> filter_arches();

/// That of the ABI; null if this machine cannot have it.
inline const FilterArch* filter_arch_of(Abi abi) {
  for (const FilterArch& arch : filter_arches()) {
    if (abi == arch.abi || abi == arch.other) {
      return &arch;
    }
  }
  return nullptr;
}

/// From PTRACE_GET_SYSCALL_INFO or seccomp_data. Empty for an architecture that this machine cannot have.
std::optional<CallNumber> call_number_of(std::uint32_t audit_arch, std::uint64_t number);

/// From the register, where Registers::call_abi has told the ABI.
CallNumber call_number_of(Abi abi, std::uint64_t number);

/// The other way round: what the kernel wants to see in the register.
std::uint64_t raw_call_number(CallNumber call);

/// The ABI of the tracer itself and of what it launches before the first execve.
Abi native_abi();

/// All that a program on this machine may run in.
inline AbiMask machine_abis() {
  AbiMask abis = 0;
  for (const FilterArch& arch : filter_arches()) {
    abis = static_cast<AbiMask>(abis | mask_of(arch.abi) | mask_of(arch.other));
  }
  return abis;
}

/// execve or execveat.
bool is_execve(Abi abi, std::uint64_t number);

/// The one of them whose path comes behind a descriptor.
bool is_execveat(Abi abi, std::uint64_t number);

}  // namespace tracer::arch
