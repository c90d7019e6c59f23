// What the rest of the program may ask of a processor architecture. The only folder that knows which one it is.
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
#error "no src/arch/ folder for this processor yet"
#endif

namespace tracer::arch {

/// A thread's registers as the kernel hands them out with NT_PRSTATUS (PTRACE_GETREGSET), and the system-call
/// conventions read from them. `resize` takes the size that the kernel filled in; false if it is not one of ours.
template <typename R>
concept RegisterSet = requires(R registers, const R view, std::size_t n, std::uint64_t v, std::uint32_t audit_arch) {
  { registers.buffer() } -> std::same_as<std::span<std::byte>>;
  { registers.resize(n) } -> std::same_as<bool>;
  { view.bytes() } -> std::same_as<std::span<const std::byte>>;

  /// ABI by the mode of the processor alone.
  { view.mode_abi() } -> std::same_as<Abi>;
  /// The instruction before the instruction pointer, `R::call_instruction_size` bytes, may say otherwise.
  { view.call_abi(std::span<const std::byte>{}) } -> std::same_as<Abi>;

  { view.call_number() } -> std::same_as<std::uint64_t>;
  { view.argument(n, Abi{}) } -> std::same_as<std::uint64_t>;
  { view.result() } -> std::same_as<std::int64_t>;
  { view.instruction_pointer() } -> std::same_as<std::uint64_t>;
  { view.stack_pointer() } -> std::same_as<std::uint64_t>;
  /// Whether these can be the registers of a thread that is about to enter a call, as far as they tell.
  { view.looks_like_entry() } -> std::same_as<bool>;
  { view.frame_registers() } -> std::same_as<FrameRegisters>;

  registers.set_call_number(v);
  registers.set_argument(n, Abi{}, v);
  registers.set_result(std::int64_t{});
  registers.set_instruction_pointer(v);

  /// The regset that a changed call number travels in, as an int of 32 bits; 0: it travels in `bytes()`.
  { R::call_number_set } -> std::convertible_to<unsigned>;
  { R::result_replaces_argument } -> std::convertible_to<bool>;
  /// Where PTRACE_POKEUSER, if there is such a thing, takes the instruction pointer of threads of all ABIs.
  { R::instruction_pointer_in_user } -> std::convertible_to<std::optional<std::size_t>>;
};

static_assert(RegisterSet<Registers>);

/// A call number as it stands in the register or in ptrace_syscall_info, taken apart.
struct CallNumber {
  Abi abi;
  std::uint64_t number;
};

/// One kernel entry that a seccomp filter has to tell apart by seccomp_data::arch.
struct FilterArch {
  std::uint32_t audit_arch;
  Abi abi;                  ///< of numbers without the bit
  std::uint32_t other_bit;  ///< numbers with this bit belong to `other`; 0 if there is no such thing
  Abi other;
  std::uint32_t seccomp_number;  ///< of seccomp(2)
  std::uint32_t prctl_number;    ///< of prctl(2)
  std::uint32_t clone_number;    ///< of clone(2), whose first argument are the flags
  std::uint32_t clone3_number;   ///< of clone3(2)
};

}  // namespace tracer::arch
