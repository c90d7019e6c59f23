// Call sites on aarch64: `svc #0`, which leaves all registers but x0 as they are. Facts: Arm Architecture Reference
// Manual for A-profile, section C4.1 (encodings); Linux, Documentation/arch/arm64.
#include "arch/call_site.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "arch/aarch64/instruction.h"
#include "arch/breakpoint.h"
#include "arch/load.h"

namespace tracer::arch {
namespace {

// Where the stub and the recorder's entry keep registers of the program, below its stack pointer.
constexpr std::uint64_t first_kept = 144;   // x16 and x17
constexpr std::uint64_t second_kept = 160;  // x14 and x15
constexpr std::uint64_t word_size = 8;
constexpr std::uint64_t flag_bits = 0xf0000000;  // NZCV in PSTATE
constexpr unsigned exit_register = 17;
constexpr std::uint32_t keep = 0xa93747f0;           // stp x16, x17, [sp, #-144]
constexpr std::uint32_t give_back = 0xa97747f0;      // ldp x16, x17, [sp, #-144]
constexpr std::uint32_t jump_to_entry = 0xd61f0200;  // br x16

void append(std::vector<std::byte>& code, std::uint32_t instruction) {
  const auto bytes = std::as_bytes(std::span(&instruction, 1));
  code.insert(code.end(), bytes.begin(), bytes.end());
}

/// A branch; empty if it would be too far.
std::optional<std::uint32_t> branch(std::uint64_t from, std::uint64_t to) {
  constexpr std::int64_t reach = std::int64_t{1} << 27;
  const auto distance = static_cast<std::int64_t>(to - from);
  if (distance < -reach || distance >= reach || distance % 4 != 0) {
    return std::nullopt;
  }
  return 0x14000000 | field(static_cast<std::uint32_t>(distance >> 2), 0, 26);
}

bool is_movable(std::uint32_t instruction) {
  // Hints may be landing pads of indirect branches; exclusive loads and stores leave a state behind.
  const bool is_hint = (instruction & 0xfffff01f) == 0xd503201f;
  const bool is_exclusive = (instruction & 0x3f000000) == 0x08000000;
  const bool is_exception = (instruction & 0xff000000) == 0xd4000000;
  const auto bytes = std::as_bytes(std::span(&instruction, 1));
  return !is_hint && !is_exclusive && !is_exception && step_strategy(Abi::aarch64, bytes) == StepStrategy::displaced;
}

void take_kept(Registers& registers, std::uint64_t below, unsigned first, const trace::Memory& memory) {
  const std::uint64_t at = registers.stack_pointer() - below;
  for (unsigned i = 0; i < 2; ++i) {
    if (const auto value = load(memory, at + i * word_size, word_size)) {
      registers.set_general(first + i, *value);
    }
  }
}

void put_back(Registers& registers, const CallRegisters& program) {
  for (unsigned i = 0; i < program.general.size(); ++i) {
    registers.set_general(i, program.general[i]);
  }
  registers.set_stack_pointer(program.stack_pointer);
  registers.set_state((registers.state() & ~flag_bits) | (program.flags & flag_bits));
  clear_branch_type(registers);
}

}  // namespace

Status can_record_inside() {
  constexpr long page = 4096;
  const int somewhere = 0;
  if (reinterpret_cast<std::uintptr_t>(&somewhere) < std::uint64_t{1} << 47) {
    return Error{ENOSYS, "the kernel gives programs less than 48 bits of addresses"};
  }
  if (::sysconf(_SC_PAGESIZE) != page) {
    return Error{ENOSYS, "the kernel's pages are larger than 4 KiB"};
  }
  return Done{};
}

Status can_dispatch_calls() {
  return Error{ENOSYS, "-p takes syscall user dispatch, which Linux has on x86 alone"};
}

std::optional<CallSite> find_call_site(std::span<const std::byte> code, std::uint64_t start, std::uint64_t call) {
  const auto svc = instruction_in(code, call - start);
  if (call < start + instruction_size || call % instruction_size != 0 || start % instruction_size != 0 || !svc) {
    return std::nullopt;
  }
  const auto made = call_instruction(Abi::aarch64);
  const auto before = instruction_in(code, call - start - instruction_size);
  if (std::memcmp(code.data() + (call - start), made.data(), made.size()) != 0 || !before || !is_movable(*before)) {
    return std::nullopt;
  }
  return CallSite{call - instruction_size, call};
}

// The stub:
//     the moved instruction
//     stp x16, x17, [sp, #-144]
//     adr x17, exit
//     ldr x16, literal
//     br x16
//     .quad behind the call instruction
//   exit:
//     ldp x16, x17, [sp, #-144]
//     b behind the call instruction
//     ldp x16, x17, [sp, #-144]
//     b the call instruction
std::optional<SiteStub> make_site_stub(const CallSite& site, std::span<const std::byte> code, std::uint64_t at,
                                       std::uint64_t literal) {
  const auto before = instruction_in(code);
  const std::uint64_t behind = site.call + instruction_size;
  if (!before || !is_movable(*before)) {
    return std::nullopt;
  }
  SiteStub stub;
  const auto here = [&] { return static_cast<std::uint32_t>(stub.code.size()); };
  stub.moved.push_back({site.patch, here(), false, false});
  append(stub.code, *before);
  stub.moved.push_back({site.call, here(), true, false});
  append(stub.code, keep);
  stub.moved.push_back({site.call, here(), true, true});
  constexpr std::uint32_t to_exit = 20;
  append(stub.code, 0x10000000 | (to_exit >> 2) << 5 | exit_register);
  const auto distance = static_cast<std::int64_t>(literal - (at + stub.code.size()));
  append(stub.code, 0x58000000 | field(static_cast<std::uint32_t>(distance >> 2), 0, 19) << 5 | 16U);
  append(stub.code, jump_to_entry);
  append(stub.code, static_cast<std::uint32_t>(behind));
  append(stub.code, static_cast<std::uint32_t>(behind >> 32));
  for (const std::uint64_t to : {behind, site.call}) {
    stub.moved.push_back({to, here(), true, true});
    append(stub.code, give_back);
    stub.moved.push_back({to, here(), true, false});
    const auto back = branch(at + stub.code.size(), to);
    if (!back) {
      return std::nullopt;
    }
    append(stub.code, *back);
  }
  return stub;
}

std::optional<SiteJump> site_jump(std::uint64_t from, std::uint64_t to) {
  const auto jump = branch(from, to);
  if (!jump) {
    return std::nullopt;
  }
  SiteJump bytes{};
  std::memcpy(bytes.data(), &*jump, sizeof *jump);
  return bytes;
}

std::uint64_t site_reach() {
  return (std::uint64_t{1} << 27) - (std::uint64_t{1} << 20);
}

void give_back_kept(Registers& registers, const trace::Memory& memory) {
  take_kept(registers, first_kept, 16, memory);
  clear_branch_type(registers);
}

void put_before_call(Registers& registers, const CallRegisters& program, std::uint64_t number) {
  put_back(registers, program);
  registers.set_call_number(number);
  registers.set_instruction_pointer(program.behind_call - Registers::call_instruction_size);
}

void put_behind_call(Registers& registers, const CallRegisters& program, std::uint64_t result) {
  put_back(registers, program);
  registers.set_result(static_cast<std::int64_t>(result));
  registers.set_instruction_pointer(program.behind_call);
}

void put_to_call(Registers& registers) {
  registers.set_instruction_pointer(registers.instruction_pointer() - Registers::call_instruction_size);
}

void end_copy(Registers& registers, std::uint64_t behind_copy) {
  registers.set_instruction_pointer(behind_copy);
}

bool leave_entry(Registers& registers, const EntryRange& range, const EntryLabels& labels,
                 const trace::Memory& memory) {
  const std::uint64_t at = registers.instruction_pointer();
  const std::uint64_t exit = registers.general(exit_register);
  if (at >= range.entry && at < range.entered) {
    const auto behind = load(memory, exit - word_size, word_size);
    if (at >= labels.kept) {
      take_kept(registers, second_kept, 14, memory);
    }
    give_back_kept(registers, memory);
    registers.set_instruction_pointer(behind.value_or(0) - Registers::call_instruction_size);
    return true;
  }
  if (at == labels.leave) {
    registers.set_instruction_pointer(exit);  // a place in the stub, which knows further
    return true;
  }
  return false;
}

}  // namespace tracer::arch
