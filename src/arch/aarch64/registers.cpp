#include "arch/aarch64/registers.h"

namespace tracer::arch {
namespace {

// Indexes in struct user_pt_regs (asm/ptrace.h) and in compat_elf_gregset_t, in words.
constexpr std::size_t wide_number = 8;  // x8
constexpr std::size_t wide_scratch = 7;
constexpr std::size_t wide_sp = 31;
constexpr std::size_t wide_pc = 32;
constexpr std::size_t wide_state = 33;
constexpr std::size_t narrow_number = 7;    // r7
constexpr std::size_t narrow_scratch = 12;  // ip
constexpr std::size_t narrow_sp = 13;
constexpr std::size_t narrow_pc = 15;
constexpr std::size_t narrow_first = 17;  // orig_r0

}  // namespace

std::uint64_t Registers::call_number() const {
  return get(wide_number, narrow_number);
}

std::uint64_t Registers::argument(std::size_t index, Abi) const {
  // At the exit, r0 of a 32-bit thread is the result; orig_r0 keeps the argument.
  return get(index, index == 0 ? narrow_first : index);
}

std::int64_t Registers::result() const {
  const std::uint64_t value = get(0, 0);
  return narrow() ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

std::uint64_t Registers::instruction_pointer() const {
  return get(wide_pc, narrow_pc);
}
std::uint64_t Registers::stack_pointer() const {
  return get(wide_sp, narrow_sp);
}

bool Registers::looks_like_entry() const {
  // During a syscall-stop the kernel sets a scratch register to 0 at the entry and 1 at the exit (arch/arm64 ptrace
  // ABI).
  return get(wide_scratch, narrow_scratch) == 0;
}

FrameRegisters Registers::frame_registers() const {
  // DWARF for the Arm 64-bit Architecture has x0 to x30 and sp, DWARF for the Arm Architecture has r0 to r15.
  constexpr unsigned wide_count = 32;
  constexpr unsigned narrow_count = 16;
  // Pointer authentication uses the bits of a return address above the 48 bits of user space.
  constexpr std::uint64_t address_bits = (std::uint64_t{1} << 48) - 1;
  FrameRegisters frame;
  frame.count = narrow() ? narrow_count : wide_count;
  for (unsigned i = 0; i < frame.count; ++i) {
    frame.set(i, get(i, i));
  }
  frame.stack_pointer = narrow() ? narrow_sp : wide_sp;
  frame.frame_pointer = narrow() ? 11 : 29;
  frame.word_size = narrow() ? 4 : 8;
  frame.address_mask = narrow() ? 0xffffffffU : address_bits;
  frame.instruction_pointer = instruction_pointer();
  return frame;
}

void Registers::set_call_number(std::uint64_t number) {
  set(wide_number, narrow_number, number);
}

void Registers::set_argument(std::size_t index, Abi, std::uint64_t value) {
  set(index, index, value);
  if (index == 0 && narrow()) {
    set(index, narrow_first, value);
  }
}

void Registers::set_result(std::int64_t value) {
  set(0, 0, static_cast<std::uint64_t>(value));
}

void Registers::set_instruction_pointer(std::uint64_t address) {
  set(wide_pc, narrow_pc, address);
}

std::uint64_t Registers::general(unsigned number) const {
  return number == zero_register ? 0 : get(number, 0);
}

void Registers::set_general(unsigned number, std::uint64_t value) {
  if (number != zero_register) {
    set(number, 0, value);
  }
}

void Registers::set_stack_pointer(std::uint64_t value) {
  set(wide_sp, narrow_sp, value);
}

std::uint64_t Registers::state() const {
  return get(wide_state, 0);
}

void Registers::set_state(std::uint64_t value) {
  set(wide_state, 0, value);
}

}  // namespace tracer::arch
