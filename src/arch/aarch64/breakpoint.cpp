// Breakpoints, stubs and functions on aarch64. Facts: Arm Architecture Reference Manual for A-profile, section C4.1
// (encodings); Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64); ELF for the Arm 64-bit Architecture.
#include "arch/breakpoint.h"

#include <elf.h>

#include <algorithm>

#include "arch/aarch64/instruction.h"

namespace tracer::arch {
namespace {

constexpr std::array<std::byte, 4> brk = {std::byte{0x00}, std::byte{0x00}, std::byte{0x20}, std::byte{0xd4}};
constexpr std::array<std::byte, 4> svc = {std::byte{0x01}, std::byte{0x00}, std::byte{0x00}, std::byte{0xd4}};
constexpr unsigned link_register = 30;
constexpr unsigned indirect_result_register = 8;

/// How an instruction depends on its own address.
enum class Kind : std::uint8_t {
  branch,           ///< b, bl
  branch_if,        ///< b.cond
  branch_if_zero,   ///< cbz, cbnz
  branch_if_bit,    ///< tbz, tbnz
  branch_register,  ///< br, blr, ret
  address,          ///< adr
  page_address,     ///< adrp
  load_literal,     ///< into a general register; prfm too
  dependent,        ///< depends on it in another way
  independent,      ///< does not depend on it
};

struct Pattern {
  std::uint32_t mask;
  std::uint32_t bits;
  Kind kind;
};

/// The first pattern that matches decides.
constexpr std::array<Pattern, 16> patterns = {{
    {0x7c000000, 0x14000000, Kind::branch},
    {0xff000000, 0x54000000, Kind::branch_if},
    {0xff000000, 0x55000000, Kind::dependent},  // retaasppc: authenticates with its own address
    {0x7e000000, 0x34000000, Kind::branch_if_zero},
    {0x7e000000, 0x36000000, Kind::branch_if_bit},
    {0x7e000000, 0x74000000, Kind::dependent},  // compare and branch (FEAT_CMPBR)
    {0xfffffc1f, 0xd61f0000, Kind::branch_register},
    {0xfffffc1f, 0xd63f0000, Kind::branch_register},
    {0xfffffc1f, 0xd65f0000, Kind::branch_register},
    {0xfe000000, 0xd6000000,
     Kind::dependent},  // braa, retaa and the like: their pointer authentication is not emulated
    {0x9f000000, 0x10000000, Kind::address},
    {0x9f000000, 0x90000000, Kind::page_address},
    {0x3f000000, 0x18000000, Kind::load_literal},
    {0x3f000000, 0x1c000000, Kind::dependent},    // ldr (literal) into a vector register
    {0xffe0001f, 0xd4000001, Kind::independent},  // svc; other exceptions report their address:
    {0xff000000, 0xd4000000, Kind::dependent},
}};

Kind kind_of(std::uint32_t instruction) {
  for (const Pattern& pattern : patterns) {
    if ((instruction & pattern.mask) == pattern.bits) {
      return pattern.kind;
    }
  }
  return Kind::independent;
}

/// Evaluates a condition code (C1.2.4) on PSTATE.
bool condition_holds(unsigned condition, std::uint64_t state) {
  const bool negative = (state >> 31 & 1) != 0;
  const bool zero = (state >> 30 & 1) != 0;
  const bool carry = (state >> 29 & 1) != 0;
  const bool overflow = (state >> 28 & 1) != 0;
  constexpr unsigned always = 14;
  if (condition >= always) {
    return true;
  }
  bool result = false;
  switch (condition >> 1) {
    case 0:
      result = zero;
      break;
    case 1:
      result = carry;
      break;
    case 2:
      result = negative;
      break;
    case 3:
      result = overflow;
      break;
    case 4:
      result = carry && !zero;
      break;
    case 5:
      result = negative == overflow;
      break;
    default:
      result = negative == overflow && !zero;
      break;
  }
  return result != ((condition & 1) != 0);
}

/// Whether a conditional branch is taken.
bool is_taken(Kind kind, std::uint32_t instruction, const Registers& registers) {
  const std::uint64_t value = registers.general(field(instruction, 0, 5));
  const bool inverted = field(instruction, 24, 1) != 0;
  switch (kind) {
    case Kind::branch_if:
      return condition_holds(field(instruction, 0, 4), registers.state());
    case Kind::branch_if_zero:
      return ((field(instruction, 31, 1) != 0 ? value : static_cast<std::uint32_t>(value)) == 0) != inverted;
    default:
      return ((value >> (field(instruction, 31, 1) << 5 | field(instruction, 19, 5)) & 1) == 0) != inverted;
  }
}

/// Emulates ldr (literal). Returns false if the memory cannot be read.
bool load_literal(std::uint32_t instruction, std::uint64_t address, Registers& registers, const trace::Memory& memory) {
  constexpr unsigned word = 0;
  constexpr unsigned signed_word = 2;
  constexpr unsigned prefetch = 3;
  const unsigned size = field(instruction, 30, 2);
  if (size == prefetch) {
    return true;
  }
  auto value = load(memory, address + offset(instruction, 5, 19, 2), size == word || size == signed_word ? 4 : 8);
  if (value && size == signed_word) {
    value = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(*value)});
  }
  if (value) {
    registers.set_general(field(instruction, 0, 5), *value);
  }
  return value.has_value();
}

/// Clears PSTATE.BTYPE, which is set after an indirect branch. In a guarded page it would require a bti instruction at
/// the address where the thread resumes, and there is none.
void clear_branch_type(Registers& registers) {
  constexpr std::uint64_t branch_type = std::uint64_t{3} << 10;
  registers.set_state(registers.state() & ~branch_type);
}

constexpr std::uint32_t bti_c = 0xd503245f;
constexpr std::uint32_t autia1716 = 0xd503219f;
constexpr std::uint32_t nop = 0xd503201f;

bool is_jump(std::uint32_t instruction, unsigned target) {  // br Xn
  return instruction == (0xd61f0000 | target << 5);
}
bool is_addition(std::uint32_t instruction, unsigned number) {  // add Xd, Xd, #offset
  return (instruction & 0xff8003ff) == (0x91000000 | number << 5 | number);
}

/// A jump through a slot: adrp, ldr, br.
struct SlotBranch {
  std::uint64_t slot = 0;  ///< address of the slot
  std::size_t jump = 0;    ///< offset of the br in `code`
  bool is_stub = false;    ///< no unrelated instruction is between the adrp and the br
};

/// Returns the jump that starts with the adrp at offset `at` of `code`; empty if there is none.
std::optional<SlotBranch> slot_jump(std::span<const std::byte> code, std::size_t at, std::uint64_t address) {
  constexpr unsigned max_distance = 6;
  const std::uint32_t page = *instruction_in(code, at);
  const unsigned base = field(page, 0, 5);
  std::optional<unsigned> target;
  SlotBranch jump;
  jump.is_stub = true;
  for (unsigned i = 1; i <= max_distance; ++i) {
    jump.jump = at + i * instruction_size;
    const auto instruction = instruction_in(code, jump.jump);
    if (!instruction || (target && is_jump(*instruction, *target))) {
      return instruction ? std::optional(jump) : std::nullopt;
    }
    const Kind kind = kind_of(*instruction);
    if (kind != Kind::independent) {
      return std::nullopt;
    }
    if (!target && is_load(*instruction) && field(*instruction, 5, 5) == base) {
      target = field(*instruction, 0, 5);
      jump.slot = pc_relative_address(page, address + at) + load_offset(*instruction);
    } else if (!is_addition(*instruction, base) && *instruction != autia1716 && *instruction != nop) {
      jump.is_stub = false;
      // The instruction might write `base` or `target`, but no compiler emits that.
    }
  }
  return std::nullopt;
}

}  // namespace

Status can_break_at_functions(Abi abi) {
  return abi == Abi::aarch64 ? Status(Done{}) : Error{ENOTSUP, "it is no 64-bit program"};
}

std::span<const std::byte> trap_instruction() {
  return brk;
}

std::uint64_t trap_address(const Registers& registers) {
  return registers.instruction_pointer();
}

StepStrategy step_strategy(Abi, std::span<const std::byte> code) {
  const auto instruction = instruction_in(code);
  if (!instruction) {
    return StepStrategy::in_place;
  }
  switch (kind_of(*instruction)) {
    case Kind::dependent:
      return StepStrategy::in_place;
    case Kind::independent:
      return StepStrategy::displaced;
    default:
      return StepStrategy::emulated;
  }
}

std::uint64_t displaced_reach() {
  // b has a range of 128 MiB, and the displaced copy may be at the far end of its page.
  return (std::uint64_t{1} << 27) - (std::uint64_t{1} << 20);
}

std::optional<Displaced> displace(Abi, std::span<const std::byte> code, std::uint64_t address, std::uint64_t to) {
  constexpr std::int64_t reach = std::int64_t{1} << 27;
  const auto back = static_cast<std::int64_t>(address - to);
  if (code.size() < instruction_size || back < -reach || back >= reach) {
    return std::nullopt;
  }
  Displaced result;
  result.code.assign(code.begin(), code.begin() + instruction_size);
  result.jump_back = result.code.size();
  const std::uint32_t jump = 0x14000000 | field(static_cast<std::uint32_t>(back >> 2), 0, 26);
  const auto bytes = std::as_bytes(std::span(&jump, 1));
  result.code.insert(result.code.end(), bytes.begin(), bytes.end());
  return result;
}

std::optional<StackWrite> emulate(Abi, std::span<const std::byte> code, std::uint64_t address, Registers& registers,
                                  const trace::Memory& memory) {
  const auto instruction = instruction_in(code);
  if (!instruction) {
    return std::nullopt;
  }
  const std::uint64_t next = address + instruction_size;
  std::uint64_t target = next;
  const Kind kind = kind_of(*instruction);
  bool links = false;
  switch (kind) {
    case Kind::branch:
      target = address + offset(*instruction, 0, 26, 2);
      links = field(*instruction, 31, 1) != 0;
      break;
    case Kind::branch_register:
      target = registers.general(field(*instruction, 5, 5));
      links = field(*instruction, 21, 2) == 1;
      break;
    case Kind::branch_if:
    case Kind::branch_if_zero:
      target = is_taken(kind, *instruction, registers) ? address + offset(*instruction, 5, 19, 2) : next;
      break;
    case Kind::branch_if_bit:
      target = is_taken(kind, *instruction, registers) ? address + offset(*instruction, 5, 14, 2) : next;
      break;
    case Kind::address:
    case Kind::page_address:
      registers.set_general(field(*instruction, 0, 5), pc_relative_address(*instruction, address));
      break;
    case Kind::load_literal:
      if (!load_literal(*instruction, address, registers, memory)) {
        return std::nullopt;
      }
      break;
    default:
      return std::nullopt;
  }
  if (links) {
    registers.set_general(link_register, next);
  }
  clear_branch_type(registers);
  registers.set_instruction_pointer(target);
  return StackWrite{};
}

std::vector<FoundStub> find_stubs(Abi abi, std::span<const std::byte> code, std::uint64_t address,
                                  std::span<const SlotAddress> slots, std::uint64_t) {
  std::vector<FoundStub> found;
  if (abi != Abi::aarch64) {
    return found;
  }
  for (std::size_t at = 0; at + instruction_size <= code.size(); at += instruction_size) {
    if (!is_page_address(*instruction_in(code, at))) {
      continue;
    }
    const auto jump = slot_jump(code, at, address);
    if (!jump) {
      continue;
    }
    const auto slot = std::lower_bound(slots.begin(), slots.end(), jump->slot,
                                       [](const SlotAddress& s, std::uint64_t a) { return s.address < a; });
    if (slot == slots.end() || slot->address != jump->slot) {
      continue;
    }
    const bool marked = jump->is_stub && at >= instruction_size && instruction_in(code, at - instruction_size) == bti_c;
    const std::size_t start = !jump->is_stub ? jump->jump : marked ? at - instruction_size : at;
    found.push_back({address + start, slot->slot});
  }
  return found;
}

std::optional<std::size_t> uprobe_offset(Abi, std::span<const std::byte>, bool) {
  return 0;
}

std::size_t emulated_offset(Abi, std::span<const std::byte>, const std::function<bool(std::int64_t)>&) {
  return 0;
}

std::optional<FunctionEntry> function_entry(const Registers& registers, const trace::Memory&) {
  FunctionEntry entry;
  static_assert(FunctionEntry::max_integers == 8);
  for (unsigned i = 0; i < entry.integers.size(); ++i) {
    entry.integers[i] = registers.general(i);
  }
  entry.stack_pointer = registers.stack_pointer();
  entry.return_address = registers.general(link_register);
  entry.stack_arguments = entry.stack_pointer;
  entry.result_address = registers.general(indirect_result_register);
  return entry;
}

ArgumentWords argument_words() {
  static constexpr std::array<std::uint8_t, 8> registers = {0, 1, 2, 3, 4, 5, 6, 7};
  return {registers, 31, 0};
}

bool has_return_address_on_stack() {
  return false;
}

bool can_watch_static_probe(std::span<const std::byte>) {
  return true;
}

std::uint64_t goroutine_record(const Registers& registers) {
  return registers.mode_abi() == Abi::aarch64 ? registers.general(28) : 0;
}

std::array<std::uint64_t, FunctionEntry::max_integers> goroutine_arguments(const Registers& registers) {
  return {registers.general(0), registers.general(1), registers.general(2), registers.general(3),
          registers.general(4), registers.general(5), registers.general(6), registers.general(7)};
}

bool has_returned(Abi, std::uint64_t entry_stack_pointer, std::uint64_t stack_pointer) {
  return stack_pointer == entry_stack_pointer;
}

std::array<std::uint64_t, 2> function_result(const Registers& registers) {
  return {registers.general(0), registers.general(1)};
}

FloatLayout float_layout() {
  return {NT_PRFPREG, 0, 0};
}

std::span<const std::byte> call_instruction(Abi abi) {
  return abi == Abi::aarch64 ? std::span<const std::byte>(svc) : std::span<const std::byte>();
}

std::uint64_t mmap_number(Abi) {
  return 222;
}

std::uint64_t munmap_number(Abi) {
  return 215;
}

std::uint64_t prctl_number(Abi) {
  return 167;
}

void prepare_call(Registers& registers, std::uint64_t instruction, std::uint64_t number,
                  std::span<const std::uint64_t, 6> arguments) {
  clear_branch_type(registers);
  registers.set_instruction_pointer(instruction);
  registers.set_call_number(number);
  for (unsigned i = 0; i < arguments.size(); ++i) {
    registers.set_general(i, arguments[i]);
  }
}

}  // namespace tracer::arch
