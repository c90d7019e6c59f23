// aarch64: user_pt_regs of 64-bit threads, the compat set of 32-bit ones, and the ABIs aarch64 and arm (EABI).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/frame_registers.h"
#include "arch/register_words.h"
#include "base/abi.h"

namespace tracer::arch {

/// struct user_pt_regs: x0..x30, sp, pc, pstate; compat_elf_gregset_t: r0..r15, cpsr, orig_r0.
class Registers : public RegisterWords<34, 18> {
 public:
  static constexpr unsigned call_number_set = 0x404;  ///< NT_ARM_SYSTEM_CALL: the kernel ignores a change of x8 alone
  static constexpr std::optional<std::size_t> instruction_pointer_user_offset = std::nullopt;
  static constexpr bool result_replaces_argument = true;  ///< x0
  static constexpr std::size_t call_instruction_size = 4;
  static constexpr bool rewinds_before_signals = true;
  static constexpr std::size_t site_jump_size = 4;  ///< see call_site.h

  [[nodiscard]] Abi mode_abi() const { return narrow() ? Abi::arm : Abi::aarch64; }
  [[nodiscard]] Abi call_abi(std::span<const std::byte>) const { return mode_abi(); }

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

  // For breakpoint.cpp and 64-bit threads only. `number` is the register number of instructions; register 31 is xzr,
  // which reads as zero and ignores writes.
  static constexpr unsigned zero_register = 31;
  static constexpr unsigned hidden = 7;
  [[nodiscard]] std::uint64_t general(unsigned number) const;
  void set_general(unsigned number, std::uint64_t value);
  [[nodiscard]] std::uint64_t state() const;  ///< PSTATE in the format of SPSR_EL1
  void set_state(std::uint64_t value);
  void set_stack_pointer(std::uint64_t value);
  /// Takes the register that the kernel hides at the entry and the exit of a call from another set of the thread.
  void take_hidden(const Registers& other) { set_general(hidden, other.general(hidden)); }
};

/// Clears PSTATE.BTYPE, which is set after an indirect branch. In a guarded page it would require a bti instruction at
/// the address where the thread resumes, and there is none.
inline void clear_branch_type(Registers& registers) {
  constexpr std::uint64_t branch_type = std::uint64_t{3} << 10;
  registers.set_state(registers.state() & ~branch_type);
}

}  // namespace tracer::arch
