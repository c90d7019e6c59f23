// The registers of a stack frame, by DWARF register number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer::arch {

struct FrameRegisters {
  static constexpr std::size_t capacity = 33;

  std::array<std::uint64_t, capacity> values{};
  std::uint64_t known = 0;  ///< bit N is set if values[N] is known
  std::uint64_t instruction_pointer = 0;
  std::uint64_t address_mask = ~std::uint64_t{0};  ///< bits of a code address, without pointer authentication codes
  unsigned count = 0;                              ///< number of registers on this architecture
  unsigned stack_pointer = 0;                      ///< DWARF number of the stack pointer
  unsigned frame_pointer = 0;                      ///< DWARF number of the frame pointer
  unsigned word_size = 8;                          ///< size of a register on the stack in bytes: 4 or 8

  [[nodiscard]] bool has(std::uint64_t number) const { return number < count && (known >> number & 1U) != 0; }
  void set(unsigned number, std::uint64_t value) {
    values[number] = value;
    known |= std::uint64_t{1} << number;
  }
  void forget(unsigned number) { known &= ~(std::uint64_t{1} << number); }
};

}  // namespace tracer::arch
