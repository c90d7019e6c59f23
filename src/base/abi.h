// The system-call ABIs that descriptions, tables and events refer to.
#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tracer {
inline namespace base {

enum class Abi : std::uint8_t { x86_64, i386, x32, aarch64, arm };
inline constexpr std::size_t abi_count = 5;

inline constexpr std::array<std::string_view, abi_count> abi_names = {"x86_64", "i386", "x32", "aarch64", "arm"};

constexpr std::size_t index_of(Abi abi) {
  return static_cast<std::size_t>(abi);
}

/// A set of ABIs, one bit each.
using AbiMask = std::uint8_t;
constexpr AbiMask mask_of(Abi abi) {
  return static_cast<AbiMask>(1U << index_of(abi));
}
inline constexpr AbiMask all_abis = (1U << abi_count) - 1;

/// Size of `long` and of a pointer, in bytes.
constexpr unsigned word_size(Abi abi) {
  return abi == Abi::x86_64 || abi == Abi::aarch64 ? 8U : 4U;
}

/// Size of a register that carries a system-call argument, in bytes. x32 passes a 64-bit argument in one register.
constexpr unsigned register_size(Abi abi) {
  return abi == Abi::i386 || abi == Abi::arm ? 4U : 8U;
}

/// Returns the number of a system call as the kernel reports it: with the bit of x32, and below zero where registers
/// have 32 bits.
constexpr std::uint64_t reported_call_number(Abi abi, std::uint64_t number) {
  constexpr std::uint64_t x32_bit = 0x40000000;
  if (register_size(abi) == 4) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(number)});
  }
  return abi == Abi::x32 ? number | x32_bit : number;
}

/// Returns the ABI of a program or library from the e_machine and EI_CLASS of its ELF header, or empty for an unknown
/// machine.
constexpr std::optional<Abi> abi_of_elf(unsigned machine, bool is_64_bit) {
  switch (machine) {
    case EM_X86_64:
      return is_64_bit ? Abi::x86_64 : Abi::x32;
    case EM_386:
      return Abi::i386;
    case EM_AARCH64:
      return Abi::aarch64;
    case EM_ARM:
      return Abi::arm;
    default:
      return std::nullopt;
  }
}

}  // namespace base
}  // namespace tracer
