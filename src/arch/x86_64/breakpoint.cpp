// x86 instructions under breakpoints, decoded by Zydis. Facts: Intel's manual, volumes 2 and 3, and the System V ABI.
#include "arch/breakpoint.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "arch/x86_64/instruction.h"

namespace tracer {
namespace {

constexpr std::array<std::byte, 1> trap = {std::byte{0xcc}};
constexpr std::array<std::byte, 2> syscall_code = {std::byte{0x0f}, std::byte{0x05}};
constexpr std::array<std::byte, 2> int80_code = {std::byte{0xcd}, std::byte{0x80}};

std::uint64_t cut(Abi abi, std::uint64_t value) {
  return abi == Abi::i386 ? static_cast<std::uint32_t>(value) : value;
}

std::uint64_t register_value(ZydisRegister which, const Registers& registers, std::uint64_t next) {
  if (which == ZYDIS_REGISTER_NONE) {
    return 0;
  }
  if (which == ZYDIS_REGISTER_RIP || which == ZYDIS_REGISTER_EIP) {
    return next;
  }
  const auto id = static_cast<std::size_t>(static_cast<unsigned char>(ZydisRegisterGetId(which)));
  const std::uint64_t value = id < 16 ? registers.general(id) : 0;
  return ZydisRegisterGetClass(which) == ZYDIS_REGCLASS_GPR32 ? static_cast<std::uint32_t>(value) : value;
}

/// Where a jump, call or return goes.
std::optional<std::uint64_t> target_of(Abi abi, const Instruction& instruction, std::uint64_t next,
                                       const Registers& registers, const Memory& memory) {
  const ZydisDecodedOperand& operand = instruction.operands[0];
  switch (operand.type) {
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      return cut(abi, next + operand.imm.value.u);
    case ZYDIS_OPERAND_TYPE_REGISTER:
      return register_value(operand.reg.value, registers, next);
    case ZYDIS_OPERAND_TYPE_MEMORY: {
      const auto& mem = operand.mem;
      std::uint64_t address = register_value(mem.base, registers, next) +
                              register_value(mem.index, registers, next) * mem.scale +
                              static_cast<std::uint64_t>(mem.disp.value);
      if (mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS) {
        address += registers.segment_base(mem.segment == ZYDIS_REGISTER_GS);
      }
      return load(memory, cut(abi, address), word_size(abi));
    }
    default:
      return std::nullopt;
  }
}

/// Whether a conditional jump is taken; empty for those that count.
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

template <typename T>
void append(std::vector<std::byte>& code, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  code.insert(code.end(), bytes.begin(), bytes.end());
}

/// jmp rel32, or, where that does not reach, jmp *0(%rip) with the address behind it.
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

std::uint32_t read32(std::span<const std::byte> code, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, code.data() + at, sizeof value);
  return value;
}

bool stands_before(std::span<const std::byte> code, std::size_t at, std::initializer_list<unsigned> bytes) {
  return at >= bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), code.begin() + static_cast<std::ptrdiff_t>(at - bytes.size()),
                    [](unsigned wanted, std::byte b) { return std::byte(wanted) == b; });
}

}  // namespace

bool can_break_at_functions(Abi) {
  return true;
}

std::span<const std::byte> trap_instruction() {
  return trap;
}

std::uint64_t trap_address(const Registers& registers) {
  return cut(registers.mode_abi(), registers.instruction_pointer() - trap.size());
}

Under instruction_under(Abi abi, std::span<const std::byte> code) {
  const auto instruction = decode(abi, code);
  if (!instruction) {
    return Under::in_place;
  }
  switch (instruction->facts.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
      return is_far_or_short(*instruction) ? Under::in_place : Under::emulated;
    case ZYDIS_CATEGORY_COND_BR:
      return is_taken(instruction->facts.mnemonic, 0) && !is_far_or_short(*instruction) ? Under::emulated
                                                                                        : Under::in_place;
    default:
      return Under::displaced;
  }
}

std::uint64_t displaced_reach() {
  return std::uint64_t{1} << 30;  // half of what 32 bits of displacement reach: it is added to one of the code's own
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
    // Of those, only what addresses memory from the instruction pointer comes here.
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
                                  const Memory& memory) {
  const auto instruction = decode(abi, code);
  if (!instruction || is_far_or_short(*instruction)) {
    return std::nullopt;
  }
  constexpr std::size_t stack_register = 4;
  const std::size_t word = word_size(abi);
  const std::uint64_t next = cut(abi, address + instruction->facts.length);
  const std::uint64_t stack = registers.stack_pointer();
  StackWrite write;
  std::optional<std::uint64_t> target;
  switch (instruction->facts.meta.category) {
    case ZYDIS_CATEGORY_RET: {
      target = load(memory, stack, word);
      const bool pops_more = instruction->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
      if (target) {
        const std::uint64_t more = pops_more ? instruction->operands[0].imm.value.u : 0;
        registers.set_general(stack_register, cut(abi, stack + word + more));
      }
      break;
    }
    case ZYDIS_CATEGORY_CALL:
      target = target_of(abi, *instruction, next, registers, memory);
      if (target) {
        write = {RemoteAddr(cut(abi, stack - word)), next, word};
        registers.set_general(stack_register, cut(abi, stack - word));
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

std::vector<FoundStub> find_stubs(Abi abi, std::span<const std::byte> code, std::uint64_t address,
                                  std::span<const SlotAddress> slots, std::uint64_t got) {
  std::vector<FoundStub> found;
  const auto note = [&](std::size_t at, std::uint64_t slot_address) {
    const auto slot = std::lower_bound(slots.begin(), slots.end(), slot_address,
                                       [](const SlotAddress& s, std::uint64_t a) { return s.address < a; });
    if (slot == slots.end() || slot->address != slot_address) {
      return;
    }
    if (stands_before(code, at, {0xf2})) {  // bnd
      --at;
    }
    if (stands_before(code, at, {0xf3, 0x0f, 0x1e, abi == Abi::i386 ? 0xfbU : 0xfaU})) {  // endbr32, endbr64
      at -= 4;
    }
    found.push_back({address + at, slot->slot});
  };
  for (std::size_t i = 0; i + 6 <= code.size(); ++i) {
    const void* next = std::memchr(code.data() + i, 0xff, code.size() - 5 - i);
    // jmp *disp(%rip), jmp *address, jmp *disp(%ebx)
    if (next == nullptr) {
      break;
    }
    i = static_cast<std::size_t>(static_cast<const std::byte*>(next) - code.data());
    const std::uint32_t displacement = read32(code, i + 2);
    if (code[i + 1] == std::byte{0x25}) {
      note(i, abi == Abi::i386 ? displacement
                               : address + i + 6 +
                                     static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(displacement)}));
    } else if (code[i + 1] == std::byte{0xa3} && abi == Abi::i386) {
      note(i, static_cast<std::uint32_t>(got + displacement));
    }
  }
  if (abi == Abi::i386) {
    return found;
  }
  // mov disp(%rip),%r11 and a call or jump to where %r11 is jumped through: a stub of lld's -z retpolineplt
  for (std::size_t i = 0; i + 8 <= code.size(); ++i) {
    const void* next = std::memchr(code.data() + i, 0x4c, code.size() - 7 - i);
    if (next == nullptr) {
      break;
    }
    i = static_cast<std::size_t>(static_cast<const std::byte*>(next) - code.data());
    if (code[i + 1] == std::byte{0x8b} && code[i + 2] == std::byte{0x1d} &&
        (code[i + 7] == std::byte{0xe8} || code[i + 7] == std::byte{0xe9})) {
      note(i,
           address + i + 7 + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(read32(code, i + 3))}));
    }
  }
  return found;
}

std::optional<FunctionEntry> function_entry(const Registers& registers, const Memory& memory) {
  const Abi abi = registers.mode_abi();
  FunctionEntry entry;
  if (abi != Abi::i386) {
    // rdi, rsi, rdx, rcx, r8, r9
    constexpr std::array<std::size_t, 6> order = {7, 6, 2, 1, 8, 9};
    for (std::size_t i = 0; i < order.size(); ++i) {
      entry.integers[i] = registers.general(order[i]);
    }
  }
  entry.stack_pointer = registers.stack_pointer();
  const auto return_address = load(memory, entry.stack_pointer, word_size(abi));
  if (!return_address) {
    return std::nullopt;
  }
  entry.return_address = *return_address;
  entry.stack_arguments = cut(abi, entry.stack_pointer + word_size(abi));
  for (std::size_t i = 0; abi == Abi::i386 && i < entry.integers.size(); ++i) {
    entry.integers[i] = load(memory, cut(abi, entry.stack_arguments + i * word_size(abi)), word_size(abi)).value_or(0);
  }
  return entry;
}

bool has_returned(Abi abi, std::uint64_t entry_stack_pointer, std::uint64_t stack_pointer) {
  // The return address is gone, and with some conventions of 32-bit code the arguments too.
  constexpr std::uint64_t most_arguments = 256;
  const std::uint64_t least = entry_stack_pointer + word_size(abi);
  return abi == Abi::i386 ? stack_pointer >= least && stack_pointer <= least + most_arguments : stack_pointer == least;
}

std::optional<std::size_t> cheap_probe(Abi abi, std::span<const std::byte> code, bool is_stub) {
  // Documentation/trace/uprobetracer.rst and arch/x86/kernel/uprobes.c: nop, push, jmp, jcc and call are emulated, a
  // mark for indirect branches is not.
  constexpr std::size_t mark_size = 4;
  const auto byte = [&](std::size_t at) { return at < code.size() ? std::to_integer<unsigned>(code[at]) : 0U; };
  const bool marked =
      byte(0) == 0xf3 && byte(1) == 0x0f && byte(2) == 0x1e && byte(3) == (abi == Abi::i386 ? 0xfbU : 0xfaU);
  if (!marked) {
    // With an EVEX prefix, vpbroadcastb does not what it should under Linux 6.18; VEX the kernel refuses.
    const auto first = decode(abi, code);
    return first && first->facts.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? std::optional<std::size_t>(0)
                                                                               : std::nullopt;
  }
  // A loop may begin right behind the mark, but not with these.
  const bool is_push = (byte(4) & 0xf8) == 0x50 || (byte(4) == 0x41 && (byte(5) & 0xf8) == 0x50 && abi != Abi::i386);
  const bool is_nop = byte(4) == 0x90 || (byte(4) == 0x66 && byte(5) == 0x90) || (byte(4) == 0x0f && byte(5) == 0x1f);
  return is_stub || is_push || is_nop ? mark_size : 0;
}

std::array<std::uint64_t, 2> function_result(const Registers& registers) {
  constexpr std::size_t rax = 0;
  constexpr std::size_t rdx = 2;
  return {registers.general(rax), registers.general(rdx)};
}

FloatLayout float_layout() {
  // The first 512 bytes are as FXSAVE has them, for 32-bit threads too.
  return {NT_X86_XSTATE, 160, 32};
}

std::span<const std::byte> call_instruction(Abi abi) {
  return abi == Abi::i386 ? std::span<const std::byte>(int80_code) : std::span<const std::byte>(syscall_code);
}

std::uint64_t mmap_number(Abi abi) {
  return abi == Abi::i386 ? 192 : 9;
}

std::uint64_t munmap_number(Abi abi) {
  return abi == Abi::i386 ? 91 : 11;
}

void prepare_call(Registers& registers, std::uint64_t instruction, std::uint64_t number,
                  std::span<const std::uint64_t, 6> arguments) {
  registers.forget_call();
  registers.set_instruction_pointer(instruction);
  registers.set_result(static_cast<std::int64_t>(number));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    registers.set_argument(i, registers.mode_abi(), arguments[i]);
  }
}

}  // namespace tracer
