// Breakpoints, stubs and functions on x86. Facts: Intel's manual, volume 2, and the System V ABI.
#include "arch/breakpoint.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "arch/load.h"
#include "arch/x86_64/address.h"

namespace tracer::arch {
namespace {

constexpr std::array<std::byte, 1> trap = {std::byte{0xcc}};
constexpr std::array<std::byte, 2> syscall_code = {std::byte{0x0f}, std::byte{0x05}};
constexpr std::array<std::byte, 2> int80_code = {std::byte{0xcd}, std::byte{0x80}};

std::uint32_t read32(std::span<const std::byte> code, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, code.data() + at, sizeof value);
  return value;
}

bool is_preceded_by(std::span<const std::byte> code, std::size_t at, std::initializer_list<unsigned> bytes) {
  return at >= bytes.size() &&
         std::equal(bytes.begin(), bytes.end(), code.begin() + static_cast<std::ptrdiff_t>(at - bytes.size()),
                    [](unsigned wanted, std::byte b) { return std::byte(wanted) == b; });
}

}  // namespace

std::span<const std::byte> trap_instruction() {
  return trap;
}

std::uint64_t trap_address(const Registers& registers) {
  return truncated(registers.mode_abi(), registers.instruction_pointer() - trap.size());
}

std::vector<FoundStub> find_stubs(Abi abi, std::span<const std::byte> code, std::uint64_t address,
                                  std::span<const SlotAddress> slots, std::uint64_t got) {
  std::vector<FoundStub> found;
  const auto note = [&](std::size_t at, std::uint64_t slot_address) {
    const auto slot = std::lower_bound(slots.begin(), slots.end(), slot_address,
                                       [](const SlotAddress& s, std::uint64_t a) { return s.address < a; });
    if (slot == slots.end() || slot->address != slot_address) {
      return;
    }
    if (is_preceded_by(code, at, {0xf2})) {  // bnd
      --at;
    }
    if (is_preceded_by(code, at, {0xf3, 0x0f, 0x1e, abi == Abi::i386 ? 0xfbU : 0xfaU})) {  // endbr32, endbr64
      at -= 4;
    }
    found.push_back({address + at, slot->slot});
  };
  for (std::size_t i = 0; i + 6 <= code.size(); ++i) {
    const void* next = std::memchr(code.data() + i, 0xff, code.size() - 5 - i);
    // jmp *disp(%rip), jmp *address, jmp *disp(%ebx)
    if (next == nullptr) {
      break;
    }
    i = static_cast<std::size_t>(static_cast<const std::byte*>(next) - code.data());
    const std::uint32_t displacement = read32(code, i + 2);
    if (code[i + 1] == std::byte{0x25}) {
      note(i, abi == Abi::i386 ? displacement
                               : address + i + 6 +
                                     static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(displacement)}));
    } else if (code[i + 1] == std::byte{0xa3} && abi == Abi::i386) {
      note(i, static_cast<std::uint32_t>(got + displacement));
    }
  }
  if (abi == Abi::i386) {
    // push %eax, mov of the slot to %eax, call of a retpoline: a stub of lld's -z retpolineplt
    for (std::size_t i = 0; i + 12 <= code.size(); ++i) {
      const void* next = std::memchr(code.data() + i, 0x50, code.size() - 11 - i);
      if (next == nullptr) {
        break;
      }
      i = static_cast<std::size_t>(static_cast<const std::byte*>(next) - code.data());
      if (code[i + 1] == std::byte{0xa1} && code[i + 6] == std::byte{0xe8}) {
        note(i, read32(code, i + 2));
      } else if (code[i + 1] == std::byte{0x8b} && code[i + 2] == std::byte{0x83} && code[i + 7] == std::byte{0xe8}) {
        note(i, static_cast<std::uint32_t>(got + read32(code, i + 3)));
      }
    }
    return found;
  }
  // mov disp(%rip),%r11 and a call or jump to a retpoline thunk for %r11: a stub of lld's -z retpolineplt
  for (std::size_t i = 0; i + 8 <= code.size(); ++i) {
    const void* next = std::memchr(code.data() + i, 0x4c, code.size() - 7 - i);
    if (next == nullptr) {
      break;
    }
    i = static_cast<std::size_t>(static_cast<const std::byte*>(next) - code.data());
    if (code[i + 1] == std::byte{0x8b} && code[i + 2] == std::byte{0x1d} &&
        (code[i + 7] == std::byte{0xe8} || code[i + 7] == std::byte{0xe9})) {
      note(i,
           address + i + 7 + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(read32(code, i + 3))}));
    }
  }
  return found;
}

std::optional<FunctionEntry> function_entry(const Registers& registers, const trace::Memory& memory) {
  const Abi abi = registers.mode_abi();
  FunctionEntry entry;
  if (abi != Abi::i386) {
    // rdi, rsi, rdx, rcx, r8, r9
    constexpr std::array<std::size_t, 6> order = {7, 6, 2, 1, 8, 9};
    for (std::size_t i = 0; i < order.size(); ++i) {
      entry.integers[i] = registers.general(order[i]);
    }
  }
  entry.stack_pointer = registers.stack_pointer();
  const auto return_address = load(memory, entry.stack_pointer, word_size(abi));
  if (!return_address) {
    return std::nullopt;
  }
  entry.return_address = *return_address;
  entry.stack_arguments = truncated(abi, entry.stack_pointer + word_size(abi));
  for (std::size_t i = 0; abi == Abi::i386 && i < entry.integers.size(); ++i) {
    entry.integers[i] =
        load(memory, truncated(abi, entry.stack_arguments + i * word_size(abi)), word_size(abi)).value_or(0);
  }
  return entry;
}

ArgumentWords argument_words() {
  // rdi, rsi, rdx, rcx, r8, r9; rsp (struct user_regs_struct)
  static constexpr std::array<std::uint8_t, 6> registers = {14, 13, 12, 11, 9, 8};
  return {registers, 19, 8};
}

bool has_return_address_on_stack() {
  return true;
}

bool can_watch_static_probe(std::span<const std::byte> code) {
  // Linux 6.18 makes a call of a nop of five bytes, which pushes to the red zone.
  constexpr std::byte nop{0x90};
  return !code.empty() && code.front() == nop;
}

std::uint64_t goroutine_record(const Registers& registers) {
  return registers.mode_abi() == Abi::i386 ? 0 : registers.general(14);
}

std::array<std::uint64_t, FunctionEntry::max_integers> goroutine_arguments(const Registers& registers) {
  // rax, rbx, rcx, rdi, rsi, r8, r9, r10
  return {registers.general(0), registers.general(3), registers.general(1), registers.general(7),
          registers.general(6), registers.general(8), registers.general(9), registers.general(10)};
}

bool has_returned(Abi abi, std::uint64_t entry_stack_pointer, std::uint64_t stack_pointer) {
  // ret has popped the return address, and in some 32-bit calling conventions the arguments too.
  constexpr std::uint64_t max_argument_bytes = 256;
  const std::uint64_t least = entry_stack_pointer + word_size(abi);
  return abi == Abi::i386 ? stack_pointer >= least && stack_pointer <= least + max_argument_bytes
                          : stack_pointer == least;
}

std::array<std::uint64_t, 2> longjmp_targets(Abi abi, std::uint64_t buffer, const trace::Memory& memory,
                                             std::uint64_t thread_pointer) {
  // glibc (sysdeps/x86_64/jmpbuf-offsets.h, tls.h: pointer_guard) and musl, which does not mangle the address, store it
  // at the same offset.
  const bool narrow = abi == Abi::i386;
  const auto stored = load(memory, truncated(abi, buffer + (narrow ? 20 : 56)), word_size(abi));
  const auto guard = load(memory, truncated(abi, thread_pointer + (narrow ? 0x18 : 0x30)), word_size(abi));
  if (!stored) {
    return {};
  }
  const std::uint64_t rotated = narrow ? std::rotr(static_cast<std::uint32_t>(*stored), 9) : std::rotr(*stored, 17);
  return {*stored, guard ? truncated(abi, rotated ^ *guard) : 0};
}

std::array<std::uint64_t, 2> function_result(const Registers& registers) {
  constexpr std::size_t rax = 0;
  constexpr std::size_t rdx = 2;
  return {registers.general(rax), registers.general(rdx)};
}

FloatLayout float_layout() {
  // The first 512 bytes have the format of FXSAVE, for 32-bit threads too.
  return {NT_X86_XSTATE, 160, 32};
}

std::span<const std::byte> call_instruction(Abi abi) {
  return abi == Abi::i386 ? std::span<const std::byte>(int80_code) : std::span<const std::byte>(syscall_code);
}

std::uint64_t mmap_number(Abi abi) {
  return abi == Abi::i386 ? 192 : 9;
}

std::uint64_t munmap_number(Abi abi) {
  return abi == Abi::i386 ? 91 : 11;
}

std::uint64_t prctl_number(Abi abi) {
  return abi == Abi::i386 ? 172 : 157;
}

void prepare_call(Registers& registers, std::uint64_t instruction, std::uint64_t number,
                  std::span<const std::uint64_t, 6> arguments) {
  registers.clear_call_number();
  registers.set_instruction_pointer(instruction);
  registers.set_result(static_cast<std::int64_t>(number));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    registers.set_argument(i, registers.mode_abi(), arguments[i]);
  }
}

}  // namespace tracer::arch
