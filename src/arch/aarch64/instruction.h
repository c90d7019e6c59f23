// Fields of A64 instructions (Arm Architecture Reference Manual for A-profile, C4.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "arch/load.h"

namespace tracer::arch {

inline constexpr std::size_t instruction_size = 4;

/// Returns the instruction at offset `at`; empty if `code` is too short.
inline std::optional<std::uint32_t> instruction_in(std::span<const std::byte> code, std::size_t at = 0) {
  if (at + instruction_size > code.size()) {
    return std::nullopt;
  }
  std::uint32_t instruction = 0;
  std::memcpy(&instruction, code.data() + at, sizeof instruction);
  return instruction;
}

/// Returns the field of `bits` bits that starts at bit `from`.
inline std::uint32_t field(std::uint32_t instruction, unsigned from, unsigned bits) {
  return instruction >> from & ((std::uint32_t{1} << bits) - 1);
}

/// Returns the field as a signed offset in bytes; its unit is `1 << shift` bytes.
inline std::uint64_t offset(std::uint32_t instruction, unsigned from, unsigned bits, unsigned shift) {
  const std::uint64_t value = field(instruction, from, bits);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return ((value ^ sign) - sign) << shift;
}

inline bool is_page_address(std::uint32_t instruction) {  // adrp
  return (instruction & 0x9f000000) == 0x90000000;
}

/// Returns the result of the adr or adrp at `address`. The two low bits of its immediate (immlo) are a separate field.
inline std::uint64_t pc_relative_address(std::uint32_t instruction, std::uint64_t address) {
  constexpr std::uint64_t page = 0xfff;
  const std::uint64_t distance = offset(instruction, 5, 19, 2) | field(instruction, 29, 2);
  return is_page_address(instruction) ? (address & ~page) + (distance << 12) : address + distance;
}

/// ldr Xt, [Xn, #offset]
inline bool is_load(std::uint32_t instruction) {
  return (instruction & 0xffc00000) == 0xf9400000;
}
/// Returns the offset of that load, in bytes.
inline std::uint64_t load_offset(std::uint32_t instruction) {
  return std::uint64_t{field(instruction, 10, 12)} * 8;
}

}  // namespace tracer::arch
