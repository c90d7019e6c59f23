// Finds the address of errno by interpreting the few instructions of the C library's __errno_location.
#include <array>

#include "arch/breakpoint.h"
#include "arch/x86_64/instruction.h"

namespace tracer::arch {

namespace {

constexpr std::size_t register_count = 16;
constexpr std::size_t max_size = 15;  // of an instruction, in bytes
constexpr unsigned max_instructions = 16;

/// Interprets code that computes an address from the thread pointer, constants and words in memory.
class Evaluation {
 public:
  Evaluation(Abi abi, const trace::Memory& memory, std::uint64_t thread_pointer)
      : abi_(abi), memory_(memory), thread_pointer_(thread_pointer) {}

  /// Returns the result of the function at `address`; empty if its code does anything else.
  std::optional<std::uint64_t> result_of(std::uint64_t address) {
    for (unsigned i = 0; i < max_instructions; ++i) {
      std::array<std::byte, max_size> code{};
      const std::size_t size = memory_.read(RemoteAddr(address), code);
      const auto instruction = decode(abi_, std::span(code).first(size));
      if (!instruction) {
        return std::nullopt;
      }
      address += instruction->facts.length;
      if (instruction->facts.mnemonic == ZYDIS_MNEMONIC_RET) {
        return registers_[0];
      }
      if (!run(*instruction, address)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  using Value = std::optional<std::uint64_t>;

  [[nodiscard]] unsigned word() const { return word_size(abi_); }
  [[nodiscard]] std::uint64_t truncated(std::uint64_t value) const {
    return word() == 4 ? static_cast<std::uint32_t>(value) : value;
  }
  static std::size_t number_of(ZydisRegister which) {
    return static_cast<std::size_t>(static_cast<unsigned char>(zydis().register_id(which)));
  }

  bool run(const Instruction& instruction, std::uint64_t next) {
    const ZydisDecodedOperand& target = instruction.operands[0];
    const ZydisDecodedOperand& source = instruction.operands[1];
    switch (instruction.facts.mnemonic) {
      case ZYDIS_MNEMONIC_ENDBR32:
      case ZYDIS_MNEMONIC_ENDBR64:
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_CALL:
        return target.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
               run_pc_thunk(truncated(next + static_cast<std::uint64_t>(target.imm.value.s)), next);
      case ZYDIS_MNEMONIC_MOV:
        return set(target, value(source, next));
      case ZYDIS_MNEMONIC_LEA:
        return set(target, address_of(source, next));
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB: {
        const Value old = value(target, next);
        const Value change = value(source, next);
        const bool adds = instruction.facts.mnemonic == ZYDIS_MNEMONIC_ADD;
        return old && change && set(target, adds ? *old + *change : *old - *change);
      }
      default:
        return false;
    }
  }

  /// 32-bit code gets its own address by calling a thunk (__x86.get_pc_thunk.REG): `mov (%esp),%REG; ret`.
  bool run_pc_thunk(std::uint64_t function, std::uint64_t next) {
    const Value code = load(memory_, function, 4);
    constexpr std::uint64_t any_register = 0x3800;
    constexpr std::uint64_t move_and_return = 0xc324048b;
    if (abi_ != Abi::i386 || !code || (*code & ~any_register) != move_and_return) {
      return false;
    }
    registers_[(*code & any_register) >> 11] = next;
    return true;
  }

  bool set(const ZydisDecodedOperand& target, Value value) {
    if (!value || target.type != ZYDIS_OPERAND_TYPE_REGISTER || number_of(target.reg.value) >= register_count ||
        target.size != word() * 8) {
      return false;
    }
    registers_[number_of(target.reg.value)] = truncated(*value);
    return true;
  }

  Value value(const ZydisDecodedOperand& operand, std::uint64_t next) const {
    switch (operand.type) {
      case ZYDIS_OPERAND_TYPE_REGISTER:
        return number_of(operand.reg.value) < register_count && operand.size == word() * 8
                   ? registers_[number_of(operand.reg.value)]
                   : Value{};
      case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        return static_cast<std::uint64_t>(operand.imm.value.s);
      case ZYDIS_OPERAND_TYPE_MEMORY: {
        const Value address = address_of(operand, next);
        const ZydisRegister segment = operand.mem.segment;
        const bool of_thread = segment == (abi_ == Abi::i386 ? ZYDIS_REGISTER_GS : ZYDIS_REGISTER_FS);
        return address && operand.size == word() * 8
                   ? load(memory_, truncated(*address + (of_thread ? thread_pointer_ : 0)), word())
                   : Value{};
      }
      default:
        return std::nullopt;
    }
  }

  Value address_of(const ZydisDecodedOperand& operand, std::uint64_t next) const {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE) {
      return std::nullopt;
    }
    const ZydisRegister base = operand.mem.base;
    auto address = static_cast<std::uint64_t>(operand.mem.disp.value);
    if (base == ZYDIS_REGISTER_RIP) {
      address += next;
    } else if (base != ZYDIS_REGISTER_NONE) {
      if (number_of(base) >= register_count || !registers_[number_of(base)]) {
        return std::nullopt;
      }
      address += *registers_[number_of(base)];
    }
    return truncated(address);
  }

  Abi abi_;
  const trace::Memory& memory_;
  std::uint64_t thread_pointer_;
  std::array<Value, register_count> registers_{};  ///< empty if unknown
};

}  // namespace

std::optional<std::uint64_t> errno_address(Abi abi, std::uint64_t address, const trace::Memory& memory,
                                           std::uint64_t thread_pointer) {
  return Evaluation(abi, memory, thread_pointer).result_of(address);
}

}  // namespace tracer::arch
