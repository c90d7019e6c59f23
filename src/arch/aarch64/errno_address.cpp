// Finds the address of errno by interpreting the few instructions of the C library's __errno_location.
#include <elf.h>

#include <array>

#include "arch/aarch64/instruction.h"
#include "arch/breakpoint.h"

namespace tracer::arch {
namespace {

constexpr unsigned max_instructions = 16;
constexpr std::uint32_t ret = 0xd65f03c0;

/// Interprets code that computes an address from the thread pointer, constants and words in memory.
class Evaluation {
 public:
  Evaluation(const trace::Memory& memory, std::uint64_t thread_pointer)
      : memory_(memory), thread_pointer_(thread_pointer) {}

  /// Returns the result of the function at `address`; empty if its code does anything else.
  std::optional<std::uint64_t> result_of(std::uint64_t address) {
    for (unsigned i = 0; i < max_instructions; ++i, address += instruction_size) {
      const auto word = load(memory_, address, instruction_size);
      if (!word) {
        return std::nullopt;
      }
      const auto instruction = static_cast<std::uint32_t>(*word);
      if (instruction == ret) {
        return registers_[0];
      }
      if (!run(instruction, address)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  using Value = std::optional<std::uint64_t>;

  bool run(std::uint32_t instruction, std::uint64_t address) {
    const auto is = [&](std::uint32_t mask, std::uint32_t bits) { return (instruction & mask) == bits; };
    if (is(0xfffff01f, 0xd503201f)) {  // nop, bti and other hints
      return true;
    }
    Value& target = registers_[field(instruction, 0, 5)];
    const Value source = registers_[field(instruction, 5, 5)];
    if (is(0xffffffe0, 0xd53bd040)) {  // mrs Xt, tpidr_el0
      target = thread_pointer_;
    } else if (is(0x1f000000, 0x10000000)) {  // adr, adrp
      target = pc_relative_address(instruction, address);
    } else if (is_load(instruction)) {
      target = source ? load(memory_, *source + load_offset(instruction), sizeof(std::uint64_t)) : std::nullopt;
    } else if (is(0xffe0fc00, 0x8b000000)) {  // add Xd, Xn, Xm
      const Value other = registers_[field(instruction, 16, 5)];
      target = source && other ? Value(*source + *other) : std::nullopt;
    } else if (is(0xbf800000, 0x91000000)) {  // add or sub Xd, Xn, #constant
      const std::uint64_t constant = std::uint64_t{field(instruction, 10, 12)} << (field(instruction, 22, 1) * 12);
      const bool subtracts = field(instruction, 30, 1) != 0;
      target = source ? Value(subtracts ? *source - constant : *source + constant) : std::nullopt;
    } else {
      return false;
    }
    return target.has_value();
  }

  const trace::Memory& memory_;
  std::uint64_t thread_pointer_;
  std::array<Value, 32> registers_{};  ///< empty if unknown; sp and xzr are never set
};

}  // namespace

std::optional<std::uint64_t> thread_pointer(const Registers& registers, const ReadRegisterSet& read) {
  std::uint64_t pointer = 0;
  if (registers.mode_abi() != Abi::aarch64 ||
      read(NT_ARM_TLS, std::as_writable_bytes(std::span(&pointer, 1))) < sizeof pointer) {
    return std::nullopt;
  }
  return pointer;
}

std::array<std::uint64_t, 2> longjmp_targets(Abi abi, std::uint64_t buffer, const trace::Memory& memory,
                                             std::uint64_t) {
  // This is musl's jmp_buf. glibc's pointer guard is a private variable of the dynamic linker and cannot be found.
  constexpr std::uint64_t link_register = 88;
  return {abi == Abi::aarch64 ? load(memory, buffer + link_register, word_size(abi)).value_or(0) : 0, 0};
}

std::optional<std::uint64_t> errno_address(Abi abi, std::uint64_t address, const trace::Memory& memory,
                                           std::uint64_t thread_pointer) {
  return abi == Abi::aarch64 ? Evaluation(memory, thread_pointer).result_of(address) : std::nullopt;
}

}  // namespace tracer::arch
