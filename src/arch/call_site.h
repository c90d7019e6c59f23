// Where code makes a system call, and how to lead it through code of ours without touching the call instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/arch.h"
#include "arch/call_registers.h"
#include "base/result.h"
#include "trace/memory.h"

namespace tracer::arch {

/// Whether calls of programs can be recorded inside them on this machine; the error says why not.
Status can_record_inside();

/// Whether Linux can have a thread of this machine raise SIGSYS for calls from elsewhere (syscall user dispatch), for
/// processes that run already; the error says why not.
Status can_dispatch_calls();

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

using SiteJump = std::array<std::byte, Registers::site_jump_size>;
/// A jump from `from` to `to`, to replace the first of the moved instructions. Empty if that is too far away.
std::optional<SiteJump> site_jump(std::uint64_t from, std::uint64_t to);
/// How far a stub may be from its site, in bytes. Instructions that are moved reach as far around themselves again.
std::uint64_t site_reach();

/// Puts a thread that is in code of ours to the call instruction, before its call of this number.
void put_before_call(Registers& registers, const CallRegisters& program, std::uint64_t number);
/// Puts it behind the call instruction. The kernel, which may be about to restart the call, finds what it expects.
void put_behind_call(Registers& registers, const CallRegisters& program, std::uint64_t result);
/// Puts a thread whose call was not made, and that is behind its call instruction, to that instruction.
void put_to_call(Registers& registers);
/// Lets a copy that has faulted end there.
void end_copy(Registers& registers, std::uint64_t behind_copy);
/// Where the recorder's code begins, and where the registers of the program are all stored.
struct EntryRange {
  std::uint64_t entry = 0;
  std::uint64_t entered = 0;
};
/// Puts a thread that enters or leaves the recorder to where it comes from or goes to, with what is stored on its stack
/// (in `memory`) put back. False if it does neither.
bool leave_entry(Registers& registers, const EntryRange& range, const EntryLabels& labels, const trace::Memory& memory);

/// The registers of a thread at the entry of a function, or with its results at the exit; others are 0.
Registers registers_at_function(std::span<const std::uint64_t, 6> arguments, std::uint64_t stack_pointer,
                                std::uint64_t instruction_pointer);
Registers registers_at_return(std::span<const std::uint64_t, 2> results, std::uint64_t stack_pointer);

/// Where functions enter the recorder as they are called, and as they return.
struct FunctionEntries {
  std::uint64_t call = 0;
  std::uint64_t exit = 0;
};
enum class FunctionStep : std::uint8_t {
  elsewhere,
  left,      ///< the thread was put to where it goes to, or back to the stub's trap
  returned,  ///< its registers are those that a function has left, and its instruction pointer is yet to be set
};
/// As leave_entry(), for the code that leads functions into the recorder.
FunctionStep leave_function_entry(Registers& registers, const FunctionEntries& entries, const FunctionLabels& labels,
                                  const trace::Memory& memory);
/// Gives a thread in the recorder back what it had at a call of a function, or at the return from one, with `result` as
/// the first word of its result, and lets it go on at `to`.
void put_to_function(Registers& registers, const CallRegisters& program, const FunctionScratch& scratch,
                     std::uint64_t result, std::uint64_t to);

}  // namespace tracer::arch
