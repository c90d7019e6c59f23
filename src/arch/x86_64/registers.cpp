#include "arch/x86_64/registers.h"

#include <array>
#include <cerrno>

namespace tracer::arch {
namespace {

// Indexes in struct user_regs_struct and user_regs_struct32 (asm/user_64.h, asm/user32.h), in words.
struct RegisterPlace {
  std::size_t wide;
  std::size_t narrow;
};
constexpr RegisterPlace result_place{10, 6};
constexpr RegisterPlace number_place{15, 11};
constexpr RegisterPlace ip_place{16, 12};
constexpr RegisterPlace cs_place{17, 13};
constexpr RegisterPlace flags_place{18, 14};
constexpr RegisterPlace sp_place{19, 15};
constexpr std::size_t fs_base_place = 21;
constexpr std::size_t gs_base_place = 22;

// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
constexpr std::array<RegisterPlace, 16> general_places = {{{10, 6},
                                                           {11, 1},
                                                           {12, 2},
                                                           {5, 0},
                                                           {19, 15},
                                                           {4, 5},
                                                           {13, 3},
                                                           {14, 4},
                                                           {9, 0},
                                                           {8, 0},
                                                           {7, 0},
                                                           {6, 0},
                                                           {3, 0},
                                                           {2, 0},
                                                           {1, 0},
                                                           {0, 0}}};

// rdi, rsi, rdx, r10, r8, r9 (syscall(2)). The narrow set has i386 calls only, so its indexes are those of i386.
constexpr std::array<RegisterPlace, 6> wide_arguments = {{{14, 0}, {13, 1}, {12, 2}, {7, 3}, {9, 4}, {8, 5}}};
// ebx, ecx, edx, esi, edi, ebp.
constexpr std::array<RegisterPlace, 6> narrow_arguments = {{{5, 0}, {11, 1}, {12, 2}, {13, 3}, {14, 4}, {4, 5}}};

// By DWARF register number: System V ABI for x86_64, figure 3.36, and for i386, table 2.14. The last is the return
// address.
constexpr std::array<std::uint8_t, 17> wide_by_dwarf = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};
constexpr std::array<std::uint8_t, 9> narrow_by_dwarf = {6, 1, 2, 0, 15, 5, 3, 4, 12};

constexpr std::uint64_t user32_cs = 0x23;

const RegisterPlace& argument_place(std::size_t index, Abi abi) {
  return abi == Abi::i386 ? narrow_arguments[index] : wide_arguments[index];
}

}  // namespace

Abi Registers::mode_abi() const {
  return narrow() || get(cs_place.wide, cs_place.narrow) == user32_cs ? Abi::i386 : Abi::x86_64;
}

Abi Registers::call_abi(std::span<const std::byte> instruction) const {
  if (mode_abi() == Abi::i386) {
    return Abi::i386;
  }
  // int 0x80 makes an i386 call in 64-bit code too.
  if (instruction.size() == call_instruction_size && instruction[0] == std::byte{0xcd} &&
      instruction[1] == std::byte{0x80}) {
    return Abi::i386;
  }
  return (call_number() >> 30) == 1 ? Abi::x32 : Abi::x86_64;
}

std::uint64_t Registers::call_number() const {
  return get(number_place.wide, number_place.narrow);
}

std::uint64_t Registers::argument(std::size_t index, Abi abi) const {
  const RegisterPlace& place = argument_place(index, abi);
  const std::uint64_t value = get(place.wide, place.narrow);
  return abi == Abi::i386 ? static_cast<std::uint32_t>(value) : value;
}

std::int64_t Registers::result() const {
  const std::uint64_t value = get(result_place.wide, result_place.narrow);
  return mode_abi() == Abi::i386 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

std::uint64_t Registers::instruction_pointer() const {
  return get(ip_place.wide, ip_place.narrow);
}
std::uint64_t Registers::stack_pointer() const {
  return get(sp_place.wide, sp_place.narrow);
}

bool Registers::looks_like_entry() const {
  return result() == -ENOSYS;
}

FrameRegisters Registers::frame_registers() const {
  FrameRegisters frame;
  const bool small = mode_abi() == Abi::i386;
  const auto fill = [&](const auto& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      frame.set(static_cast<unsigned>(i), get(places[i], places[i]));
    }
    frame.count = static_cast<unsigned>(places.size());
  };
  if (narrow()) {
    fill(narrow_by_dwarf);
  } else if (small) {
    // The kernel has returned the registers of 32-bit code in the wide set.
    constexpr std::array<std::uint8_t, 9> places = {10, 11, 12, 5, 19, 4, 13, 14, 16};
    fill(places);
  } else {
    fill(wide_by_dwarf);
  }
  frame.stack_pointer = small ? 4 : 7;
  frame.frame_pointer = small ? 5 : 6;
  frame.word_size = small ? 4 : 8;
  frame.address_mask = small ? 0xffffffffU : ~std::uint64_t{0};
  frame.instruction_pointer = instruction_pointer();
  return frame;
}

void Registers::set_call_number(std::uint64_t number) {
  set(number_place.wide, number_place.narrow, number);
}

void Registers::set_argument(std::size_t index, Abi abi, std::uint64_t value) {
  const RegisterPlace& place = argument_place(index, abi);
  set(place.wide, place.narrow, value);
}

void Registers::set_result(std::int64_t value) {
  set(result_place.wide, result_place.narrow, static_cast<std::uint64_t>(value));
}

void Registers::set_instruction_pointer(std::uint64_t address) {
  set(ip_place.wide, ip_place.narrow, address);
}

std::uint64_t Registers::general(std::size_t number) const {
  const RegisterPlace& place = general_places[number];
  return get(place.wide, place.narrow);
}

void Registers::set_general(std::size_t number, std::uint64_t value) {
  const RegisterPlace& place = general_places[number];
  set(place.wide, place.narrow, value);
}

std::uint64_t Registers::flags() const {
  return get(flags_place.wide, flags_place.narrow);
}

void Registers::set_flags(std::uint64_t value) {
  set(flags_place.wide, flags_place.narrow, value);
}

std::uint64_t Registers::segment_base(bool gs) const {
  return narrow() ? 0 : get(gs ? gs_base_place : fs_base_place, 0);
}

void Registers::clear_call_number() {
  set(number_place.wide, number_place.narrow, ~std::uint64_t{0});
}

}  // namespace tracer::arch
