// Breakpoints, and what stands under them: how this processor's instructions run although a trap covers them, and how
// it calls functions.
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

/// Whether functions of such programs can be traced; the error says why they cannot.
Status can_break_at_functions(Abi abi);

/// The bytes of a breakpoint. Whoever writes them over an instruction changes no byte beside it.
std::span<const std::byte> trap_instruction();

/// Where the trap stands that a thread has just run into.
std::uint64_t trap_address(const Registers& registers);

/// No instruction has more bytes.
inline constexpr std::size_t longest_instruction = 16;

/// An instruction away from its place: it, and a jump back to what follows it there.
struct Displaced {
  std::vector<std::byte> code;
  std::size_t jump_back = 0;  ///< where in `code` the way back begins
};

/// No `Displaced` has more bytes of code.
inline constexpr std::size_t longest_displaced = 32;

enum class Under : std::uint8_t {
  emulated,   ///< a jump, call or return, or what depends on its place otherwise: emulate() does what it does
  displaced,  ///< can run at another place
  in_place,   ///< can run only where it is
};

/// What the first instruction of `code`, which stands at `address`, is; `code` may be cut short.
Under instruction_under(Abi abi, std::span<const std::byte> code);

/// The code to run at `to` instead; empty if that is too far away.
std::optional<Displaced> displace(Abi abi, std::span<const std::byte> code, std::uint64_t address, std::uint64_t to);

/// A word that an emulated instruction writes.
struct StackWrite {
  RemoteAddr address;
  std::uint64_t value = 0;
  std::size_t size = 0;  ///< bytes; 0: nothing is written
};

/// Does what the instruction at `address` does to `registers`, and says what it writes. Empty: memory that it needs
/// cannot be read, or it is none of those.
std::optional<StackWrite> emulate(Abi abi, std::span<const std::byte> code, std::uint64_t address, Registers& registers,
                                  const trace::Memory& memory);

/// How far apart code and its displaced instructions may be, in bytes.
std::uint64_t displaced_reach();

// ---------------------------------------------------------------------------------------------- stubs

/// A word that holds the address of a function of another module.
struct SlotAddress {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;  ///< the caller's number for it
};

/// A place where code jumps through a slot.
struct FoundStub {
  std::uint64_t address = 0;
  std::uint32_t slot = 0;
};

/// The jumps in `code`, which stands at `address`, that go through one of `slots` (sorted by address): the stubs of
/// procedure linkage tables of all kinds, with the marks that precede them (endbr, bnd), and tail calls without one.
/// `got`: what position-independent code of 32-bit processors counts the slots from (DT_PLTGOT).
std::vector<FoundStub> find_stubs(Abi abi, std::span<const std::byte> code, std::uint64_t address,
                                  std::span<const SlotAddress> slots, std::uint64_t got);

/// How many bytes behind the beginning of a function, or of a stub, it costs least to have the kernel watch who comes
/// there (uprobes): it emulates some instructions and runs others elsewhere, step by step. Nothing else comes there.
/// Empty where the kernel's way would harm the program.
std::optional<std::size_t> cheap_probe(Abi abi, std::span<const std::byte> code, bool is_stub);

// ---------------------------------------------------------------------------------------------- functions

/// What a thread that stands at the first instruction of a function, or at a stub, tells about the call.
struct FunctionEntry {
  static constexpr std::size_t most_integers = 8;
  std::array<std::uint64_t, most_integers> integers{};  ///< the registers for integer arguments, in order; where there
                                                        ///< are none (i386), the first words on the stack
  std::uint64_t stack_pointer = 0;
  std::uint64_t return_address = 0;
  std::uint64_t stack_arguments = 0;  ///< address of the first argument in memory
  std::uint64_t result_address = 0;   ///< where a result in memory goes, if a register of its own says so
};

/// Empty if the stack cannot be read.
std::optional<FunctionEntry> function_entry(const Registers& registers, const trace::Memory& memory);

/// In code that Go's compiler has made, the runtime's record of the goroutine that runs (`g` in Go's internal ABI); 0:
/// no register has it.
std::uint64_t goroutine_record(const Registers& registers);
/// The registers for integer arguments there, in order.
std::array<std::uint64_t, FunctionEntry::most_integers> goroutine_arguments(const Registers& registers);

/// Whether a thread with this stack pointer can have returned from a function that was entered with `entry`.
bool has_returned(Abi abi, std::uint64_t entry_stack_pointer, std::uint64_t stack_pointer);

/// Reads a register set of a stopped thread (PTRACE_GETREGSET): how many bytes there are.
using ReadRegisterSet = std::function<std::size_t(unsigned which, std::span<std::byte> into)>;

/// What a thread's own variables are counted from; empty if that cannot be told.
std::optional<std::uint64_t> thread_pointer(const Registers& registers, const ReadRegisterSet& read);

/// Where the errno of the thread with this pointer is, by the code of __errno_location at `address`; empty if that is
/// of a kind that is not known.
std::optional<std::uint64_t> errno_address(Abi abi, std::uint64_t address, const trace::Memory& memory,
                                           std::uint64_t thread_pointer);

/// Where longjmp(3) may go by the buffer at `buffer`: the address that stands there, and what that means if it is
/// mangled with the thread's secret, as glibc has it; 0: nowhere.
std::array<std::uint64_t, 2> jump_targets(Abi abi, std::uint64_t buffer, const trace::Memory& memory,
                                          std::uint64_t thread_pointer);

/// The registers for a function's result.
std::array<std::uint64_t, 2> function_result(const Registers& registers);

/// Where a register set has the floating-point registers (PTRACE_GETREGSET), in bytes.
struct FloatLayout {
  unsigned register_set = 0;
  std::size_t vectors = 0;  ///< xmm0, v0; 16 bytes each
  std::size_t x87 = 0;      ///< st(0); 0: there is none
};
FloatLayout float_layout();

// ---------------------------------------------------------------------------------------------- injected calls

/// Bytes of an instruction that makes a system call, to be looked for in code of the tracee.
std::span<const std::byte> call_instruction(Abi abi);
/// mmap (mmap2 on 32-bit processors) and munmap.
std::uint64_t mmap_number(Abi abi);
std::uint64_t munmap_number(Abi abi);
/// Makes `registers` those of a thread that is about to make a system call with the instruction at `instruction`.
void prepare_call(Registers& registers, std::uint64_t instruction, std::uint64_t number,
                  std::span<const std::uint64_t, 6> arguments);

}  // namespace tracer::arch
