// The two ABIs of an aarch64 machine (linux/audit.h, asm/unistd.h).
#include "arch/syscall_abi.h"

#include <linux/audit.h>

namespace tracer::arch {
namespace {

constexpr std::array<FilterArch, 2> arches = {{
    {AUDIT_ARCH_AARCH64, Abi::aarch64, 0, Abi::aarch64, 277, 167, 220, 435},
    {AUDIT_ARCH_ARM, Abi::arm, 0, Abi::arm, 383, 172, 120, 435},
}};

}  // namespace

std::span<const FilterArch> filter_arches() {
  return arches;
}

std::optional<CallNumber> call_number_of(std::uint32_t audit_arch, std::uint64_t number) {
  switch (audit_arch) {
    case AUDIT_ARCH_AARCH64:
      return CallNumber{Abi::aarch64, number};
    case AUDIT_ARCH_ARM:
      return CallNumber{Abi::arm, static_cast<std::uint32_t>(number)};
    default:
      return std::nullopt;
  }
}

CallNumber call_number_of(Abi abi, std::uint64_t number) {
  return {abi, number};
}

std::uint64_t raw_call_number(CallNumber call) {
  return call.number;
}

Abi native_abi() {
  return Abi::aarch64;
}

bool is_execve(Abi abi, std::uint64_t number) {
  return number == (abi == Abi::aarch64 ? 221 : 11) || is_execveat(abi, number);
}

bool is_execveat(Abi abi, std::uint64_t number) {
  return number == (abi == Abi::aarch64 ? 281 : 387);
}

}  // namespace tracer::arch
