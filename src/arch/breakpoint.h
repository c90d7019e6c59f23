// Breakpoints at functions: how to step over them (emulation or displaced stepping), where PLT stubs are, and how the
// processor's calling conventions pass arguments.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "arch/arch.h"
#include "base/remote_addr.h"
#include "base/result.h"
#include "trace/memory.h"

namespace tracer::arch {

/// Whether functions of programs with this ABI can be traced; the error says why not.
Status can_break_at_functions(Abi abi);

/// The breakpoint instruction. It is not longer than any instruction that it replaces.
std::span<const std::byte> trap_instruction();

/// Returns the address of the breakpoint that a thread has just hit.
std::uint64_t trap_address(const Registers& registers);

/// Upper bound of the size of an instruction, in bytes.
inline constexpr std::size_t max_instruction_size = 16;

/// A copy of an instruction for displaced stepping: the instruction, relocated, and a jump back to its successor.
struct Displaced {
  std::vector<std::byte> code;
  std::size_t jump_back = 0;  ///< offset of the jump in `code`
};

/// Upper bound of the size of Displaced::code, in bytes.
inline constexpr std::size_t max_displaced_size = 32;

/// How a thread steps over a breakpoint.
enum class StepStrategy : std::uint8_t {
  emulated,   ///< emulate() has the effect of the instruction: a jump, call, return or the like
  displaced,  ///< the instruction can run at another address
  in_place,   ///< the instruction can run at its own address only
};

/// Returns how to step over a breakpoint at the first instruction of `code`, which may be truncated.
StepStrategy step_strategy(Abi abi, std::span<const std::byte> code);

/// Returns code to run at `to` in place of the first instruction of `code`, which is at `address`. Empty if `to` is too
/// far away.
std::optional<Displaced> displace(Abi abi, std::span<const std::byte> code, std::uint64_t address, std::uint64_t to);

/// The write to memory that an emulated instruction makes.
struct StackWrite {
  RemoteAddr address;
  std::uint64_t value = 0;
  std::size_t size = 0;  ///< bytes; 0 if it writes nothing
};

/// Applies the instruction at `address` to `registers` and returns the write that the caller has to make. Empty if
/// memory cannot be read or this instruction is not emulated.
std::optional<StackWrite> emulate(Abi abi, std::span<const std::byte> code, std::uint64_t address, Registers& registers,
                                  const trace::Memory& memory);

/// Returns the maximum distance between an instruction and its displaced copy, in bytes.
std::uint64_t displaced_reach();

// ---------------------------------------------------------------------------------------------- stubs

/// An entry of the global offset table (GOT) that holds the address of a function of another module.
struct SlotAddress {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;  ///< number that the caller has given it
};

/// Code that jumps through a slot, usually an entry of the procedure linkage table (PLT).
struct FoundStub {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;
};

/// Returns the jumps in `code`, which is at `address`, through one of `slots` (sorted by address): PLT stubs of all
/// kinds, including the endbr or bnd before them, and tail calls that do without a stub. `got` is DT_PLTGOT, to which
/// the slots of position-independent i386 code are relative.
std::vector<FoundStub> find_stubs(Abi abi, std::span<const std::byte> code, std::uint64_t address,
                                  std::span<const SlotAddress> slots, std::uint64_t got);

/// Returns the offset in bytes at which a uprobe on a function or stub is fastest: the kernel emulates some
/// instructions and single-steps the others. Only calls reach that instruction. Empty if a uprobe would break the
/// program.
std::optional<std::size_t> uprobe_offset(Abi abi, std::span<const std::byte> code, bool is_stub);

/// Returns the offset in bytes of an instruction that the kernel emulates, in `code`, which is all of a function: every
/// call comes there once, with the registers (but for the flags) and the memory of its start. 0 if there is none.
/// `is_entry`: whether the function is only left, and not come back to, by a jump as far as this from its start.
std::size_t emulated_offset(Abi abi, std::span<const std::byte> code,
                            const std::function<bool(std::int64_t)>& is_entry);

/// Whether a uprobe does no harm at the first instruction of `code`, which is that of a static probe: in the middle of
/// a function.
bool can_watch_static_probe(std::span<const std::byte> code);

// ---------------------------------------------------------------------------------------------- functions

/// The state of a call when the thread is at the first instruction of the function, or at a stub.
struct FunctionEntry {
  static constexpr std::size_t max_integers = 8;
  /// The registers for integer arguments, in order; on i386, which has none, the first words on the stack.
  std::array<std::uint64_t, max_integers> integers{};
  std::uint64_t stack_pointer = 0;
  std::uint64_t return_address = 0;
  std::uint64_t stack_arguments = 0;  ///< address of the first argument in memory
  std::uint64_t result_address = 0;   ///< the indirect result location register (x8 of AAPCS64), if there is one
};

/// Returns an empty value if the stack cannot be read.
std::optional<FunctionEntry> function_entry(const Registers& registers, const trace::Memory& memory);

/// Where a 64-bit thread's registers and stack hold integer arguments, in words of Registers::bytes().
struct ArgumentWords {
  std::span<const std::uint8_t> registers;  ///< in order
  std::uint8_t stack_pointer = 0;
  std::int64_t on_stack = 0;  ///< from the stack pointer at the function's entry to the first argument there, in bytes
};
ArgumentWords argument_words();

/// Whether a function's return address is on the stack, where its stack pointer points to at the entry.
bool has_return_address_on_stack();

/// Returns the register that holds the current goroutine in Go code (`g` in Go's internal ABI); 0 if there is none.
std::uint64_t goroutine_record(const Registers& registers);
/// Returns the registers for integer arguments in Go's internal ABI, in order.
std::array<std::uint64_t, FunctionEntry::max_integers> goroutine_arguments(const Registers& registers);

/// Whether a thread with `stack_pointer` can have returned from a function that was entered with `entry_stack_pointer`.
bool has_returned(Abi abi, std::uint64_t entry_stack_pointer, std::uint64_t stack_pointer);

/// Reads the register set `type` (NT_…) of a stopped thread with PTRACE_GETREGSET and returns its size in bytes.
using ReadRegisterSet = std::function<std::size_t(unsigned type, std::span<std::byte> into)>;

/// Returns the thread pointer, to which thread-local variables are relative; empty if it is unknown.
std::optional<std::uint64_t> thread_pointer(const Registers& registers, const ReadRegisterSet& read);

/// Returns the address of errno of the thread with this thread pointer, by interpreting the code of __errno_location at
/// `address`; empty if that code has an unknown form.
std::optional<std::uint64_t> errno_address(Abi abi, std::uint64_t address, const trace::Memory& memory,
                                           std::uint64_t thread_pointer);

/// Returns the addresses to which longjmp(3) with the jmp_buf at `buffer` may go: the stored address itself, and the
/// stored address demangled with glibc's pointer guard. 0 stands for none.
std::array<std::uint64_t, 2> longjmp_targets(Abi abi, std::uint64_t buffer, const trace::Memory& memory,
                                             std::uint64_t thread_pointer);

/// Returns the registers for a function's result.
std::array<std::uint64_t, 2> function_result(const Registers& registers);

/// The offsets of floating-point registers in their register set (PTRACE_GETREGSET), in bytes.
struct FloatLayout {
  unsigned register_set = 0;
  std::size_t vectors = 0;  ///< of xmm0 or v0; each register has 16 bytes
  std::size_t x87 = 0;      ///< of st(0); 0 if there is none
};
FloatLayout float_layout();

// ---------------------------------------------------------------------------------------------- injected calls

/// Returns an instruction that makes a system call, to be searched for in the tracee's code.
std::span<const std::byte> call_instruction(Abi abi);
/// The call numbers of mmap (mmap2 in 32-bit ABIs), munmap and prctl.
std::uint64_t mmap_number(Abi abi);
std::uint64_t munmap_number(Abi abi);
std::uint64_t prctl_number(Abi abi);
/// Sets up `registers` for a system call by the instruction at `instruction`.
void prepare_call(Registers& registers, std::uint64_t instruction, std::uint64_t number,
                  std::span<const std::uint64_t, 6> arguments);

}  // namespace tracer::arch
