// x86_64: user_regs_struct of 64-bit and 32-bit threads, and the three system-call ABIs (i386, x86_64, x32).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/frame_registers.h"
#include "arch/register_words.h"
#include "base/abi.h"

namespace tracer::arch {

/// struct user_regs_struct; struct user_regs_struct32.
class Registers : public RegisterWords<27, 17> {
 public:
  static constexpr unsigned call_number_set = 0;
  static constexpr std::optional<std::size_t> instruction_pointer_user_offset = 128;  ///< asm/user_64.h
  static constexpr bool result_replaces_argument = false;
  static constexpr std::size_t call_instruction_size = 2;  ///< syscall, sysenter and int 0x80 alike
  static constexpr bool rewinds_before_signals = false;
  static constexpr std::size_t site_jump_size = 5;  ///< see call_site.h

  [[nodiscard]] Abi mode_abi() const;
  [[nodiscard]] Abi call_abi(std::span<const std::byte> instruction) const;

  [[nodiscard]] std::uint64_t call_number() const;
  [[nodiscard]] std::uint64_t argument(std::size_t index, Abi abi) const;
  [[nodiscard]] std::int64_t result() const;
  [[nodiscard]] std::uint64_t instruction_pointer() const;
  [[nodiscard]] std::uint64_t stack_pointer() const;
  [[nodiscard]] bool looks_like_entry() const;
  [[nodiscard]] FrameRegisters frame_registers() const;

  void set_call_number(std::uint64_t number);
  void set_argument(std::size_t index, Abi abi, std::uint64_t value);
  void set_result(std::int64_t value);
  void set_instruction_pointer(std::uint64_t address);

  // For breakpoint.cpp. `number` is the register number of instructions: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to
  // r15.
  [[nodiscard]] std::uint64_t general(std::size_t number) const;
  void set_general(std::size_t number, std::uint64_t value);
  [[nodiscard]] std::uint64_t flags() const;
  void set_flags(std::uint64_t value);
  [[nodiscard]] std::uint64_t segment_base(bool gs) const;  ///< of fs or gs; 0 for 32-bit threads, whose set has none
  void take_hidden(const Registers&) {}
  void clear_call_number();  ///< sets orig_ax to -1, so that the kernel does not restart a system call
};

}  // namespace tracer::arch
