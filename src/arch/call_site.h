// Where code makes a system call, and how to lead it through code of ours without touching the call instruction.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/arch.h"
#include "base/result.h"
#include "trace/engine.h"

namespace tracer::arch {

/// Whether calls of programs can be recorded inside them on this machine; the error says why not.
Status can_record_inside();

/// The calls that code of ours may make for the program: they do the same on another stack and at another place, and
/// they change nothing that such code relies on.
std::bitset<trace::max_filtered_number> recordable_calls();

/// A system call and the instructions before it that run in a stub instead. The first of these is as long as a jump at
/// least, so that the jump replaces it alone: whoever jumps to one behind it, or was there already, finds what it
/// expects, and so does a call that the kernel restarts.
struct CallSite {
  std::uint64_t patch = 0;  ///< address of the first of them
  std::uint64_t call = 0;   ///< address of the call instruction, which stays as it is
};

/// Finds the site of the call instruction at `call`, in code that begins with a function's first instruction, which is
/// at `start`. Empty if the instructions do not lead there, or cannot be moved.
std::optional<CallSite> find_call_site(std::span<const std::byte> code, std::uint64_t start, std::uint64_t call);

/// An instruction that was moved.
struct MovedInstruction {
  std::uint64_t original = 0;  ///< its address in the program
  std::uint32_t offset = 0;    ///< in the stub
};

struct SiteStub {
  std::vector<std::byte> code;
  std::vector<MovedInstruction> moved;  ///< in their order; the last one stands for the call instruction itself
};

/// Upper bound of the size of SiteStub::code, in bytes.
inline constexpr std::size_t largest_site_stub = 160;

/// Makes a stub to run at `at`: the moved instructions, and a jump to the address that is stored at `literal`, with the
/// address behind the call instruction in the register where the call instruction would leave it. `code` is that of
/// the program from `site.patch` on. Empty if it would be too far away.
std::optional<SiteStub> make_site_stub(const CallSite& site, std::span<const std::byte> code, std::uint64_t at,
                                       std::uint64_t literal);

/// A jump from `from` to `to`, to replace the first of the moved instructions. Empty if that is too far away.
std::optional<std::array<std::byte, 5>> site_jump(std::uint64_t from, std::uint64_t to);

/// The registers of a program at a call instruction.
struct CallRegisters {
  /// In the order of the call's arguments, then those that functions preserve, in the order of their numbers.
  std::array<std::uint64_t, 12> general{};
  std::uint64_t flags = 0;
  std::uint64_t stack_pointer = 0;
  std::uint64_t behind_call = 0;
};

/// Puts a thread that is in code of ours to the call instruction, before its call of this number.
void put_before_call(Registers& registers, const CallRegisters& program, std::uint64_t number);
/// Puts it behind the call instruction. The kernel, which may be about to restart the call, finds what it expects.
void put_behind_call(Registers& registers, const CallRegisters& program, std::uint64_t result);
/// Puts a thread whose call was not made, and that is behind its call instruction, to that instruction.
void put_to_call(Registers& registers);
/// Lets a copy that has faulted end there.
void end_copy(Registers& registers, std::uint64_t behind_copy);
/// Puts a thread that enters or leaves code of ours to where it comes from or goes to. `stored`: bytes on its stack
/// that are ours. `flags`: what they have become; empty if they are as they were.
void leave_entry(Registers& registers, std::uint64_t stored, std::optional<std::uint64_t> flags, std::uint64_t to);
/// Where it goes to, and where it comes from.
std::uint64_t destination(const Registers& registers);

/// The registers of a thread at the entry of a function, or with its results at the exit; others are 0.
Registers registers_at_function(std::span<const std::uint64_t, 6> arguments, std::uint64_t stack_pointer,
                                std::uint64_t instruction_pointer);
Registers registers_at_return(std::span<const std::uint64_t, 2> results, std::uint64_t stack_pointer);
/// Gives a thread in code of ours back what it had at a call of a function, or at the return from one; `result`: rax.
struct FunctionRegisters {
  CallRegisters call;
  std::uint64_t result = 0;
  std::uint64_t counter = 0;  ///< rcx
  std::uint64_t scratch = 0;  ///< r11
};
FunctionRegisters function_registers(const Registers& registers);
void put_to_function(Registers& registers, const FunctionRegisters& program, std::uint64_t stack_pointer,
                     std::uint64_t to);

/// The processor's clock, in ticks of its own; all processors agree.
std::uint64_t clock_ticks();

}  // namespace tracer::arch
