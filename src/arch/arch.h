// The interface to the processor architecture. Only this directory knows which one it is.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/frame_registers.h"
#include "base/abi.h"

#if defined(__x86_64__)
#include "arch/x86_64/registers.h"
#elif defined(__aarch64__)
#include "arch/aarch64/registers.h"
#else
#error "no src/arch/ directory for this processor yet"
#endif

namespace tracer::arch {

/// A thread's registers in the format of NT_PRSTATUS (PTRACE_GETREGSET), with accessors that know the system-call
/// conventions. `resize` takes the size that the kernel has filled in and returns false if it is unknown.
template <typename R>
concept RegisterSet = requires(R registers, const R view, std::size_t n, std::uint64_t v, std::uint32_t audit_arch) {
  { registers.buffer() } -> std::same_as<std::span<std::byte>>;
  { registers.resize(n) } -> std::same_as<bool>;
  { view.bytes() } -> std::same_as<std::span<const std::byte>>;

  /// Returns the ABI by the execution mode of the processor alone.
  { view.mode_abi() } -> std::same_as<Abi>;
  /// Returns the ABI of a system call. Takes the `R::call_instruction_size` bytes before the instruction pointer,
  /// because the instruction can select another ABI than the mode.
  { view.call_abi(std::span<const std::byte>{}) } -> std::same_as<Abi>;

  { view.call_number() } -> std::same_as<std::uint64_t>;
  { view.argument(n, Abi{}) } -> std::same_as<std::uint64_t>;
  { view.result() } -> std::same_as<std::int64_t>;
  { view.instruction_pointer() } -> std::same_as<std::uint64_t>;
  { view.stack_pointer() } -> std::same_as<std::uint64_t>;
  /// Whether these can be the registers of a thread at a syscall-enter-stop.
  { view.looks_like_entry() } -> std::same_as<bool>;
  { view.frame_registers() } -> std::same_as<FrameRegisters>;

  registers.set_call_number(v);
  registers.set_argument(n, Abi{}, v);
  registers.set_result(std::int64_t{});
  registers.set_instruction_pointer(v);

  /// The register set that changes the call number, as a 32-bit int; 0 if `bytes()` changes it.
  { R::call_number_set } -> std::convertible_to<unsigned>;
  /// Whether a signal that interrupts a call stops a thread at the call instruction, where the kernel has put it back
  /// already, and will make it fail (EINTR) only if it is still there: nobody can tell whether the call was made.
  { R::rewinds_before_signals } -> std::convertible_to<bool>;
  /// Whether the result is in the register of the first argument.
  { R::result_replaces_argument } -> std::convertible_to<bool>;
  /// The offset of the instruction pointer for PTRACE_POKEUSER, for threads of all ABIs; empty if there is no such
  /// request.
  { R::instruction_pointer_user_offset } -> std::convertible_to<std::optional<std::size_t>>;
};

static_assert(RegisterSet<Registers>);

/// The ABI and the number that the kernel's raw call number (from the register or ptrace_syscall_info) stands for.
struct CallNumber {
  Abi abi;
  std::uint64_t number;
};

/// One value of seccomp_data::arch that a seccomp filter has to handle.
struct FilterArch {
  std::uint32_t audit_arch;
  Abi abi;                  ///< ABI of numbers without `other_bit`
  std::uint32_t other_bit;  ///< numbers with this bit belong to `other`; 0 if there is no such bit
  Abi other;
  std::uint32_t seccomp_number;  ///< of seccomp(2)
  std::uint32_t prctl_number;    ///< of prctl(2)
  std::uint32_t clone_number;    ///< of clone(2), whose first argument is the flags
  std::uint32_t clone3_number;   ///< of clone3(2)
};

}  // namespace tracer::arch
