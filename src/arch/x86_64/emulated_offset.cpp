// Finds a place in a function where a uprobe is cheap. Facts: Documentation/trace/uprobetracer.rst and
// arch/x86/kernel/uprobes.c: the kernel emulates push, jumps, calls and jcc with an immediate operand; it single-steps
// others, which takes several times as long.
#include <algorithm>

#include "arch/breakpoint.h"
#include "arch/x86_64/instruction.h"

namespace tracer::arch {
namespace {

constexpr std::size_t most_before = 4;  // instructions

bool is_near(const Instruction& instruction) {
  return instruction.facts.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR &&
         instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

bool is_jump(const Instruction& instruction) {
  const auto category = instruction.facts.meta.category;
  return category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
}

/// The kernel looks at these opcodes.
bool is_emulated(const Instruction& instruction) {
  const auto opcode = instruction.facts.opcode;
  if (instruction.facts.raw.prefix_count != 0) {
    return false;
  }
  if (instruction.facts.opcode_map == ZYDIS_OPCODE_MAP_0F) {
    return (opcode & 0xf0U) == 0x80;
  }
  return instruction.facts.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
         ((opcode & 0xf8U) == 0x50 || (opcode & 0xf0U) == 0x70 || opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb);
}

/// Whether it does nothing but set flags by registers or the module's own data. Assembly enters functions behind what
/// sets up registers (mempcpy goes on in memmove), or behind endbr; nothing comes to a jump without its comparison.
bool only_compares(const Instruction& instruction) {
  if (instruction.facts.mnemonic != ZYDIS_MNEMONIC_CMP && instruction.facts.mnemonic != ZYDIS_MNEMONIC_TEST) {
    return false;
  }
  const auto may_fault = [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base != ZYDIS_REGISTER_RIP;
  };
  const auto* begin = instruction.operands;
  return std::none_of(begin, begin + instruction.facts.operand_count_visible, may_fault);
}

/// Returns 0 if there is none.
std::size_t find_emulated(Abi abi, std::span<const std::byte> code) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < most_before && at < code.size(); ++i) {
    const auto instruction = decode(abi, code.subspan(at));
    if (!instruction || is_emulated(*instruction)) {
      return instruction ? at : 0;
    }
    if (!only_compares(*instruction)) {
      return 0;
    }
    at += instruction->facts.length;
  }
  return 0;
}

/// Whether a jump or call with this target leads behind the start, but not behind the place.
bool leads_before(std::size_t place, std::int64_t target) {
  return target > 0 && target <= static_cast<std::int64_t>(place);
}

/// Whether only the start of the function leads to the place, as far as the function itself shows. Code in a part of
/// its own (.cold) is reached by conditional jumps, and may jump anywhere; so may tables of addresses.
bool is_reached_from_start(Abi abi, std::span<const std::byte> code, std::size_t place,
                           const std::function<bool(std::int64_t)>& is_entry) {
  for (std::size_t at = 0; at < code.size();) {
    const auto instruction = decode(abi, code.subspan(at));
    if (!instruction) {
      return false;  // data
    }
    at += instruction->facts.length;
    const bool calls = instruction->facts.meta.category == ZYDIS_CATEGORY_CALL;
    if (!calls && !is_jump(*instruction)) {
      continue;
    }
    if (!is_near(*instruction)) {
      if (calls) {
        continue;
      }
      return false;
    }
    const std::int64_t target = static_cast<std::int64_t>(at) + instruction->operands[0].imm.value.s;
    const bool leaves = target < 0 || target >= static_cast<std::int64_t>(code.size());
    const bool may_come_back =
        leaves && instruction->facts.meta.category == ZYDIS_CATEGORY_COND_BR && !is_entry(target);
    if (may_come_back || leads_before(place, target)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t emulated_offset(Abi abi, std::span<const std::byte> code,
                            const std::function<bool(std::int64_t)>& is_entry) {
  if (!zydis().status) {
    return 0;
  }
  const std::size_t place = find_emulated(abi, code);
  return place != 0 && is_reached_from_start(abi, code, place, is_entry) ? place : 0;
}

}  // namespace tracer::arch
