// x86_64: user_regs_struct of 64-bit and of 32-bit threads, and the three system-call ABIs (i386, x86_64, x32).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "spec/abi.h"

namespace tracer {

class Registers {
 public:
  static constexpr bool number_in_registers = true;
  static constexpr std::size_t call_instruction_size = 2;  ///< syscall, sysenter and int 0x80 alike

  std::span<std::byte> buffer() { return {reinterpret_cast<std::byte*>(words_.data()), sizeof words_}; }
  bool resize(std::size_t size);
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(words_.data()), size_};
  }

  [[nodiscard]] Abi mode_abi() const;
  [[nodiscard]] Abi call_abi(std::span<const std::byte> instruction) const;

  [[nodiscard]] std::uint64_t call_number() const;
  [[nodiscard]] std::uint64_t argument(std::size_t index, Abi abi) const;
  [[nodiscard]] std::int64_t result() const;
  [[nodiscard]] std::uint64_t instruction_pointer() const;
  [[nodiscard]] std::uint64_t stack_pointer() const;
  [[nodiscard]] bool looks_like_entry() const;

  void set_call_number(std::uint64_t number);
  void set_argument(std::size_t index, Abi abi, std::uint64_t value);
  void set_result(std::int64_t value);
  void set_instruction_pointer(std::uint64_t address);

 private:
  static constexpr std::size_t wide_size = 27 * 8;    // struct user_regs_struct
  static constexpr std::size_t narrow_size = 17 * 4;  // struct user_regs_struct32

  [[nodiscard]] bool narrow() const { return size_ == narrow_size; }
  [[nodiscard]] std::uint64_t get(std::size_t wide_index, std::size_t narrow_index) const;
  void set(std::size_t wide_index, std::size_t narrow_index, std::uint64_t value);

  std::array<std::uint64_t, 27> words_{};
  std::size_t size_ = wide_size;
};

}  // namespace tracer
