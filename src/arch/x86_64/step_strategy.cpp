// Steps over breakpoints on x86, with instructions decoded by Zydis. Facts: Intel's manual, volumes 2 and 3.
#include <algorithm>
#include <array>
#include <cstring>

#include "arch/breakpoint.h"
#include "arch/x86_64/address.h"
#include "arch/x86_64/code.h"
#include "arch/x86_64/instruction.h"

namespace tracer::arch {
namespace {

std::uint64_t register_value(ZydisRegister which, const Registers& registers, std::uint64_t next) {
  if (which == ZYDIS_REGISTER_NONE) {
    return 0;
  }
  if (which == ZYDIS_REGISTER_RIP || which == ZYDIS_REGISTER_EIP) {
    return next;
  }
  const auto id = static_cast<std::size_t>(static_cast<unsigned char>(zydis().register_id(which)));
  const std::uint64_t value = id < 16 ? registers.general(id) : 0;
  return zydis().register_class(which) == ZYDIS_REGCLASS_GPR32 ? static_cast<std::uint32_t>(value) : value;
}

/// Returns the target of a jump or call; empty if it cannot be computed.
std::optional<std::uint64_t> target_of(Abi abi, const Instruction& instruction, std::uint64_t next,
                                       const Registers& registers, const trace::Memory& memory) {
  const ZydisDecodedOperand& operand = instruction.operands[0];
  switch (operand.type) {
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      return truncated(abi, next + operand.imm.value.u);
    case ZYDIS_OPERAND_TYPE_REGISTER:
      return register_value(operand.reg.value, registers, next);
    case ZYDIS_OPERAND_TYPE_MEMORY: {
      const auto& mem = operand.mem;
      std::uint64_t address = register_value(mem.base, registers, next) +
                              register_value(mem.index, registers, next) * mem.scale +
                              static_cast<std::uint64_t>(mem.disp.value);
      if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS) {
        if (abi == Abi::i386) {
          return std::nullopt;  // the register set does not have the segment base
        }
        address += registers.segment_base(mem.segment == ZYDIS_REGISTER_GS);
      }
      return load(memory, truncated(abi, address), word_size(abi));
    }
    default:
      return std::nullopt;
  }
}

/// Whether a jump is taken; empty for jcxz and loop, which test a counter.
std::optional<bool> is_taken(ZydisMnemonic mnemonic, std::uint64_t flags) {
  const bool carry = (flags & 1) != 0;
  const bool parity = (flags & 4) != 0;
  const bool zero = (flags & 0x40) != 0;
  const bool sign = (flags & 0x80) != 0;
  const bool overflow = (flags & 0x800) != 0;
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
      return true;
    case ZYDIS_MNEMONIC_JB:
      return carry;
    case ZYDIS_MNEMONIC_JNB:
      return !carry;
    case ZYDIS_MNEMONIC_JBE:
      return carry || zero;
    case ZYDIS_MNEMONIC_JNBE:
      return !carry && !zero;
    case ZYDIS_MNEMONIC_JZ:
      return zero;
    case ZYDIS_MNEMONIC_JNZ:
      return !zero;
    case ZYDIS_MNEMONIC_JS:
      return sign;
    case ZYDIS_MNEMONIC_JNS:
      return !sign;
    case ZYDIS_MNEMONIC_JP:
      return parity;
    case ZYDIS_MNEMONIC_JNP:
      return !parity;
    case ZYDIS_MNEMONIC_JO:
      return overflow;
    case ZYDIS_MNEMONIC_JNO:
      return !overflow;
    case ZYDIS_MNEMONIC_JL:
      return sign != overflow;
    case ZYDIS_MNEMONIC_JNL:
      return sign == overflow;
    case ZYDIS_MNEMONIC_JLE:
      return zero || sign != overflow;
    case ZYDIS_MNEMONIC_JNLE:
      return !zero && sign == overflow;
    default:
      return std::nullopt;
  }
}

bool is_far_or_short(const Instruction& instruction) {
  return instruction.facts.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || instruction.facts.operand_width == 16;
}

/// Appends jmp rel32 or, if the target is out of its range, jmp *0(%rip) followed by the address.
void append_jump(std::vector<std::byte>& code, std::uint64_t from, std::uint64_t to, Abi abi) {
  const auto distance = static_cast<std::int64_t>(to - (from + 5));
  if (abi == Abi::i386 || distance == static_cast<std::int32_t>(distance)) {
    append(code, std::uint8_t{0xe9});
    append(code, static_cast<std::int32_t>(distance));
  } else {
    append(code, std::uint16_t{0x25ff});
    append(code, std::uint32_t{0});
    append(code, to);
  }
}

/// The kernel takes no uprobe at these, and where it is given many places at once, then at none of them.
bool is_refused_by_uprobes(const Instruction& instruction) {
  constexpr std::array<ZyanU8, 5> refused = {0x26, 0x2e, 0x36, 0x3e, 0xf0};  // es, cs, ss, ds, lock
  const auto& facts = instruction.facts;
  const auto is_refused = [&](const auto& prefix) {
    return std::find(refused.begin(), refused.end(), prefix.value) != refused.end();
  };
  return std::any_of(facts.raw.prefixes, facts.raw.prefixes + facts.raw.prefix_count, is_refused) ||
         (facts.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 || facts.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
         facts.meta.category == ZYDIS_CATEGORY_IO;
}

}  // namespace

Status can_break_at_functions(Abi) {
  return zydis().status;
}

StepStrategy step_strategy(Abi abi, std::span<const std::byte> code) {
  const auto instruction = decode(abi, code);
  if (!instruction) {
    return StepStrategy::in_place;
  }
  switch (instruction->facts.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
      return is_far_or_short(*instruction) ? StepStrategy::in_place : StepStrategy::emulated;
    case ZYDIS_CATEGORY_COND_BR:
      return is_taken(instruction->facts.mnemonic, 0) && !is_far_or_short(*instruction) ? StepStrategy::emulated
                                                                                        : StepStrategy::in_place;
    default:
      return StepStrategy::displaced;
  }
}

std::uint64_t displaced_reach() {
  // Half the range of a 32-bit displacement, because the instruction's own displacement is added to the distance.
  return std::uint64_t{1} << 30;
}

std::optional<Displaced> displace(Abi abi, std::span<const std::byte> code, std::uint64_t address, std::uint64_t to) {
  const auto instruction = decode(abi, code);
  if (!instruction) {
    return std::nullopt;
  }
  const auto& facts = instruction->facts;
  Displaced result;
  result.code.assign(code.begin(), code.begin() + facts.length);
  if ((facts.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0) {
    // Jumps and calls are emulated, so this is an instruction with a memory operand relative to the instruction
    // pointer.
    if (facts.raw.disp.size != 32) {
      return std::nullopt;
    }
    const std::int64_t moved = facts.raw.disp.value + static_cast<std::int64_t>(address - to);
    if (moved != static_cast<std::int32_t>(moved)) {
      return std::nullopt;
    }
    const auto displacement = static_cast<std::int32_t>(moved);
    std::memcpy(result.code.data() + facts.raw.disp.offset, &displacement, sizeof displacement);
  }
  result.jump_back = result.code.size();
  append_jump(result.code, to + result.code.size(), address + facts.length, abi);
  return result;
}

std::optional<StackWrite> emulate(Abi abi, std::span<const std::byte> code, std::uint64_t address, Registers& registers,
                                  const trace::Memory& memory) {
  const auto instruction = decode(abi, code);
  if (!instruction || is_far_or_short(*instruction)) {
    return std::nullopt;
  }
  constexpr std::size_t stack_register = 4;
  const std::size_t word = word_size(abi);
  const std::uint64_t next = truncated(abi, address + instruction->facts.length);
  const std::uint64_t stack = registers.stack_pointer();
  StackWrite write;
  std::optional<std::uint64_t> target;
  switch (instruction->facts.meta.category) {
    case ZYDIS_CATEGORY_RET: {
      target = load(memory, stack, word);
      const bool pops_more = instruction->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
      if (target) {
        const std::uint64_t more = pops_more ? instruction->operands[0].imm.value.u : 0;
        registers.set_general(stack_register, truncated(abi, stack + word + more));
      }
      break;
    }
    case ZYDIS_CATEGORY_CALL:
      target = target_of(abi, *instruction, next, registers, memory);
      if (target) {
        write = {RemoteAddr(truncated(abi, stack - word)), next, word};
        registers.set_general(stack_register, truncated(abi, stack - word));
      }
      break;
    case ZYDIS_CATEGORY_UNCOND_BR:
      target = target_of(abi, *instruction, next, registers, memory);
      break;
    case ZYDIS_CATEGORY_COND_BR:
      if (const auto taken = is_taken(instruction->facts.mnemonic, registers.flags())) {
        target = *taken ? target_of(abi, *instruction, next, registers, memory) : next;
      }
      break;
    default:
      break;
  }
  if (!target) {
    return std::nullopt;
  }
  registers.set_instruction_pointer(*target);
  return write;
}

std::optional<std::size_t> uprobe_offset(Abi abi, std::span<const std::byte> code, bool is_stub) {
  // Documentation/trace/uprobetracer.rst and arch/x86/kernel/uprobes.c: the kernel emulates nop, push, jmp, jcc and
  // call, but not endbr32 and endbr64.
  constexpr std::size_t mark_size = 4;
  const auto byte = [&](std::size_t at) { return at < code.size() ? std::to_integer<unsigned>(code[at]) : 0U; };
  const bool marked =
      byte(0) == 0xf3 && byte(1) == 0x0f && byte(2) == 0x1e && byte(3) == (abi == Abi::i386 ? 0xfbU : 0xfaU);
  if (!marked) {
    // Linux 6.18 mishandles EVEX-encoded vpbroadcastb under uprobes and rejects VEX-encoded instructions.
    const auto first = decode(abi, code);
    if (!first || is_refused_by_uprobes(*first)) {
      return std::nullopt;
    }
    if (first->facts.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
      return 0;
    }
    // glibc's functions for AVX2 set up a vector register first. No loop of theirs begins right behind that.
    const std::size_t behind = first->facts.length;
    const bool sets_up = first->facts.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
                         (first->facts.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && first->facts.raw.modrm.mod == 3;
    const auto second = sets_up && behind < code.size() ? decode(abi, code.subspan(behind)) : std::nullopt;
    return second && second->facts.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? std::optional(behind) : std::nullopt;
  }
  // A loop may jump to the instruction after the endbr, but no loop starts with one of these.
  const bool is_push = (byte(4) & 0xf8) == 0x50 || (byte(4) == 0x41 && (byte(5) & 0xf8) == 0x50 && abi != Abi::i386);
  const bool is_nop = byte(4) == 0x90 || (byte(4) == 0x66 && byte(5) == 0x90) || (byte(4) == 0x0f && byte(5) == 0x1f);
  return is_stub || is_push || is_nop ? mark_size : 0;
}

}  // namespace tracer::arch
