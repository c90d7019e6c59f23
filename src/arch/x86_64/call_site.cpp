// Call sites on x86_64: the instruction `syscall`, which overwrites rcx and r11. Facts: Intel's manual, volume 2.
#include "arch/call_site.h"

#include <cpuid.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/breakpoint.h"
#include "arch/counting_stub.h"
#include "arch/load.h"
#include "arch/x86_64/code.h"
#include "arch/x86_64/instruction.h"

namespace tracer::arch {
namespace {

constexpr std::size_t jump_size = Registers::site_jump_size;
constexpr std::size_t most_moved = 8;

struct Place {
  std::uint64_t address;
  std::size_t length;
  bool movable;
};

/// jcc rel8 and jcc rel32, without prefixes.
bool is_plain_conditional(const Instruction& instruction) {
  const auto& facts = instruction.facts;
  return facts.meta.category == ZYDIS_CATEGORY_COND_BR && facts.raw.prefix_count == 0 &&
         ((facts.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (facts.opcode & 0xf0) == 0x70 && facts.length == 2) ||
          (facts.opcode_map == ZYDIS_OPCODE_MAP_0F && (facts.opcode & 0xf0) == 0x80 && facts.length == 6));
}

bool is_movable(const Instruction& instruction) {
  switch (instruction.facts.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return is_plain_conditional(instruction);
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_MISC:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
      return true;
    default:
      return false;
  }
}

/// Appends the distance from the end of the instruction that it completes, at `at` of the whole.
bool append_distance(std::vector<std::byte>& code, std::uint64_t at, std::uint64_t to) {
  const auto distance = static_cast<std::int64_t>(to - (at + code.size() + 4));
  append(code, static_cast<std::int32_t>(distance));
  return distance == static_cast<std::int32_t>(distance);
}

/// Appends what has the effect of the instruction at `address`. False if it cannot be moved so far.
bool append_moved(std::vector<std::byte>& code, const Instruction& instruction, std::span<const std::byte> bytes,
                  std::uint64_t address, std::uint64_t at) {
  const auto& facts = instruction.facts;
  if (facts.meta.category == ZYDIS_CATEGORY_COND_BR) {
    append(code, std::uint8_t{0x0f});
    append(code, static_cast<std::uint8_t>(0x80U | (facts.opcode & 0x0fU)));
    return append_distance(code, at, address + facts.length + instruction.operands[0].imm.value.u);
  }
  auto displaced = displace(Abi::x86_64, bytes, address, at + code.size());
  if (!displaced) {
    return false;
  }
  code.insert(code.end(), displaced->code.begin(),
              displaced->code.begin() + static_cast<std::ptrdiff_t>(displaced->jump_back));
  return true;
}

}  // namespace

Status can_record_inside() {
  constexpr unsigned long own_thread_pointer = 2;  // HWCAP2_FSGSBASE, asm/hwcap2.h
  constexpr unsigned power_leaf = 0x80000007;
  constexpr unsigned invariant_clock = 1U << 8;
  if ((::getauxval(AT_HWCAP2) & own_thread_pointer) == 0) {
    return Error{ENOSYS, "the processor or the kernel does not let programs read the FS base (Linux 5.9, FSGSBASE)"};
  }
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(power_leaf, &a, &b, &c, &d) == 0 || (d & invariant_clock) == 0) {
    return Error{ENOSYS, "the processor's time-stamp counter does not run evenly, so that times would be wrong"};
  }
  return zydis().status;
}

Status can_dispatch_calls() {
  return Done{};
}

std::optional<CallSite> find_call_site(std::span<const std::byte> code, std::uint64_t start, std::uint64_t call) {
  std::array<Place, most_moved> last{};
  std::size_t count = 0;
  std::uint64_t at = start;
  while (at < call) {
    const auto rest = code.subspan(std::min<std::size_t>(code.size(), at - start));
    const auto instruction = decode(Abi::x86_64, rest);
    // A breakpoint covers the start of an instruction, whose rest is not the next one.
    if (!instruction || std::ranges::equal(rest.first(instruction->facts.length), trap_instruction())) {
      return std::nullopt;
    }
    last[count++ % most_moved] = {at, instruction->facts.length, is_movable(*instruction)};
    at += instruction->facts.length;
  }
  const auto made = call_instruction(Abi::x86_64);
  if (at != call || call - start + made.size() > code.size() ||
      std::memcmp(code.data() + (call - start), made.data(), made.size()) != 0) {
    return std::nullopt;
  }
  for (std::size_t back = 1; back <= std::min(count, most_moved); ++back) {
    const Place& place = last[(count - back) % most_moved];
    if (!place.movable) {
      return std::nullopt;
    }
    // A conditional jump of six bytes could be replaced, but it would be the only reason to test its condition twice.
    if (place.length >= jump_size) {
      return CallSite{place.address, call};
    }
  }
  return std::nullopt;
}

std::optional<SiteStub> make_site_stub(const CallSite& site, std::span<const std::byte> code, std::uint64_t at,
                                       std::uint64_t literal) {
  SiteStub stub;
  std::uint64_t address = site.patch;
  while (address < site.call) {
    const auto rest = code.subspan(std::min<std::size_t>(code.size(), address - site.patch));
    const auto instruction = decode(Abi::x86_64, rest);
    if (!instruction || !is_movable(*instruction)) {
      return std::nullopt;
    }
    stub.moved.push_back({address, static_cast<std::uint32_t>(stub.code.size())});
    if (!append_moved(stub.code, *instruction, rest, address, at)) {
      return std::nullopt;
    }
    address += instruction->facts.length;
  }
  stub.moved.push_back({site.call, static_cast<std::uint32_t>(stub.code.size())});
  for (const unsigned byte : {0x48U, 0x8dU, 0x0dU}) {  // lea behind_call(%rip), %rcx
    append(stub.code, static_cast<std::uint8_t>(byte));
  }
  bool near = append_distance(stub.code, at, site.call + call_instruction(Abi::x86_64).size());
  for (const unsigned byte : {0xffU, 0x25U}) {  // jmp *literal(%rip)
    append(stub.code, static_cast<std::uint8_t>(byte));
  }
  near = append_distance(stub.code, at, literal) && near;
  if (address != site.call || !near || stub.code.size() > largest_site_stub) {
    return std::nullopt;
  }
  return stub;
}

namespace {

// Register numbers of instructions.
constexpr std::array<std::size_t, 12> general_numbers = {7, 6, 2, 10, 8, 9, 3, 5, 12, 13, 14, 15};
constexpr std::size_t accumulator = 0;
constexpr std::size_t counter = 1;
constexpr std::size_t data = 2;
constexpr std::size_t stack = 4;
constexpr std::size_t scratch = 11;  // `syscall` leaves the flags there

void put_back(Registers& registers, const CallRegisters& program) {
  for (std::size_t i = 0; i < general_numbers.size(); ++i) {
    registers.set_general(general_numbers[i], program.general[i]);
  }
  registers.set_general(stack, program.stack_pointer);
  registers.set_general(counter, program.behind_call);
  registers.set_general(scratch, program.flags);
  registers.set_flags(program.flags);
}

}  // namespace

void put_before_call(Registers& registers, const CallRegisters& program, std::uint64_t number) {
  put_back(registers, program);
  registers.set_general(accumulator, number);
  registers.clear_call_number();
  registers.set_instruction_pointer(program.behind_call - Registers::call_instruction_size);
}

void put_behind_call(Registers& registers, const CallRegisters& program, std::uint64_t result) {
  put_back(registers, program);
  registers.set_general(accumulator, result);
  registers.set_instruction_pointer(program.behind_call);
}

void put_to_call(Registers& registers) {
  registers.clear_call_number();
  registers.set_instruction_pointer(registers.instruction_pointer() - Registers::call_instruction_size);
}

void end_copy(Registers& registers, std::uint64_t behind_copy) {
  registers.set_instruction_pointer(behind_copy);
}

bool leave_entry(Registers& registers, const EntryRange& range, const EntryLabels& labels,
                 const trace::Memory& memory) {
  // What the entry leaves on the program's stack, in bytes.
  constexpr std::uint64_t below_stack = 128;
  constexpr std::uint64_t with_flags = below_stack + 8;
  constexpr std::uint64_t with_return = with_flags + 8;
  const std::uint64_t at = registers.instruction_pointer();
  const std::uint64_t destination = registers.general(counter);
  const auto stored = [&](std::uint64_t offset) {
    return load(memory, registers.stack_pointer() + offset, sizeof(std::uint64_t)).value_or(0);
  };
  const auto leave = [&](std::uint64_t bytes, std::uint64_t flags, std::uint64_t to) {
    registers.set_general(stack, registers.general(stack) + bytes);
    registers.set_flags(flags);
    registers.set_instruction_pointer(to);
    return true;
  };
  if (at >= range.entry && at <= labels.push_return) {
    const std::uint64_t bytes = at == labels.push_return ? with_flags : at == labels.push_flags ? below_stack : 0;
    return leave(bytes, registers.flags(), destination - Registers::call_instruction_size);
  }
  if (at >= labels.pushed && at < range.entered) {
    return leave(with_return, stored(8), stored(0) - Registers::call_instruction_size);
  }
  if (at == labels.missed) {
    return leave(with_return, stored(8), destination);
  }
  if (at == labels.leave) {
    return leave(with_flags, stored(0), destination);
  }
  return (at == labels.left_flags || at == labels.left) &&
         leave(at == labels.left ? 0 : below_stack, registers.flags(), destination);
}

std::uint64_t site_reach() {
  return std::uint64_t{1} << 30;
}

Registers registers_at_function(std::span<const std::uint64_t, 6> arguments, std::uint64_t stack_pointer,
                                std::uint64_t instruction_pointer) {
  CallRegisters program{};
  program.general = {arguments[0], arguments[1], arguments[2], 0, arguments[4], arguments[5]};
  program.stack_pointer = stack_pointer;
  StoredRegisters set = registers_at_call(program, ~std::uint64_t{0});
  set.rcx = arguments[3];
  set.rip = instruction_pointer;
  Registers registers;
  const auto into = registers.buffer();
  const auto from = std::as_bytes(std::span(&set, 1));
  std::copy_n(from.begin(), std::min(from.size(), into.size()), into.begin());
  return registers;
}

Registers registers_at_return(std::span<const std::uint64_t, 2> results, std::uint64_t stack_pointer) {
  const std::array<std::uint64_t, 6> none{};
  Registers registers = registers_at_function(none, stack_pointer, 0);
  registers.set_general(accumulator, results[0]);
  registers.set_general(data, results[1]);
  return registers;
}

FunctionStep leave_function_entry(Registers& registers, const FunctionEntries& entries, const FunctionLabels& labels,
                                  const trace::Memory& memory) {
  constexpr std::uint64_t word = 8;
  const std::uint64_t at = registers.instruction_pointer();
  const auto in = [&](std::uint64_t first, std::uint64_t behind) { return at >= first && at < behind; };
  const auto stored = [&](std::uint64_t offset) {
    return load(memory, registers.stack_pointer() + offset, word).value_or(0);
  };
  const auto leave = [&](std::uint64_t bytes, std::uint64_t to) {
    registers.set_general(stack, registers.stack_pointer() + bytes);
    registers.clear_call_number();
    registers.set_instruction_pointer(to);
    return FunctionStep::left;
  };
  if (at == labels.left || at == labels.trapped || at == labels.returned) {
    return leave(word, stored(0));
  }
  if (in(entries.call, labels.entered) || in(labels.missed, labels.trapped)) {
    const std::uint64_t trap =
        registers.general(scratch) - (at == labels.trapping ? 0 : recording_stub_info - recording_stub_trap);
    const bool has_room = in(labels.room, labels.entered) || in(labels.missed, labels.trap);
    const std::uint64_t saved = has_room ? 2 * word : 0;
    if (in(labels.saved, labels.entered) || in(labels.missed, labels.trap)) {
      registers.set_general(accumulator, stored(0));
      registers.set_general(counter, stored(word));
    }
    registers.set_general(scratch, stored(saved));
    return leave(saved + word, trap);
  }
  if (in(entries.exit, labels.return_entered) || in(labels.return_missed, labels.return_stopped + 1)) {
    const bool has_room = at != entries.exit;
    if (in(labels.return_saved, labels.return_entered) || in(labels.return_missed, labels.return_stopped + 1)) {
      registers.set_general(accumulator, stored(0));
      registers.set_general(counter, stored(word));
      registers.set_general(scratch, stored(2 * word));
    }
    leave(has_room ? 4 * word : 0, at);
    return FunctionStep::returned;
  }
  return FunctionStep::elsewhere;
}

void put_to_function(Registers& registers, const CallRegisters& program, const FunctionScratch& others,
                     std::uint64_t result, std::uint64_t to) {
  CallRegisters call = program;
  call.flags = registers.flags();
  put_back(registers, call);
  registers.clear_call_number();
  registers.set_general(accumulator, result);
  registers.set_general(counter, others.rcx);
  registers.set_general(scratch, others.r11);
  registers.set_instruction_pointer(to);
}

std::optional<SiteJump> site_jump(std::uint64_t from, std::uint64_t to) {
  const auto distance = static_cast<std::int64_t>(to - (from + jump_size));
  const auto near = static_cast<std::int32_t>(distance);
  if (distance != near) {
    return std::nullopt;
  }
  SiteJump jump{std::byte{0xe9}};
  std::memcpy(jump.data() + 1, &near, sizeof near);
  return jump;
}

}  // namespace tracer::arch
