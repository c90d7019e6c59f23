// The three ABIs of an x86_64 machine (linux/audit.h, asm/unistd.h).
#include "arch/syscall_abi.h"

#include <linux/audit.h>

namespace tracer::arch {
namespace {

constexpr std::uint32_t x32_bit = 0x40000000;

constexpr std::array<FilterArch, 2> arches = {{
    {AUDIT_ARCH_X86_64, Abi::x86_64, x32_bit, Abi::x32, 317, 157, 56, 435},
    {AUDIT_ARCH_I386, Abi::i386, 0, Abi::i386, 354, 172, 120, 435},
}};

}  // namespace

std::span<const FilterArch> filter_arches() {
  return arches;
}

std::optional<CallNumber> call_number_of(std::uint32_t audit_arch, std::uint64_t number) {
  if (audit_arch == AUDIT_ARCH_I386) {
    return CallNumber{Abi::i386, static_cast<std::uint32_t>(number)};
  }
  if (audit_arch != AUDIT_ARCH_X86_64) {
    return std::nullopt;
  }
  // -1 has the x32 bit too, but is not an x32 call.
  if ((number & x32_bit) != 0 && number != ~std::uint64_t{0}) {
    return CallNumber{Abi::x32, number & ~std::uint64_t{x32_bit}};
  }
  return CallNumber{Abi::x86_64, number};
}

CallNumber call_number_of(Abi abi, std::uint64_t number) {
  return {abi, abi == Abi::x32 ? number & ~std::uint64_t{x32_bit} : number};
}

std::uint64_t raw_call_number(CallNumber call) {
  return call.abi == Abi::x32 ? call.number | x32_bit : call.number;
}

Abi native_abi() {
  return Abi::x86_64;
}

bool is_execve(Abi abi, std::uint64_t number) {
  return number == (abi == Abi::x86_64 ? 59 : abi == Abi::x32 ? 520 : 11) || is_execveat(abi, number);
}

bool is_execveat(Abi abi, std::uint64_t number) {
  return number == (abi == Abi::x86_64 ? 322 : abi == Abi::x32 ? 545 : 358);
}

}  // namespace tracer::arch
