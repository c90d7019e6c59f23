#include "arch/x86_64/registers.h"

#include <cerrno>

namespace tracer {
namespace {

// Places in struct user_regs_struct and user_regs_struct32 (asm/user_64.h, asm/user32.h), in words.
struct Place {
  std::size_t wide;
  std::size_t narrow;
};
constexpr Place result_place{10, 6};
constexpr Place number_place{15, 11};
constexpr Place ip_place{16, 12};
constexpr Place cs_place{17, 13};
constexpr Place sp_place{19, 15};

// rdi, rsi, rdx, r10, r8, r9 (syscall(2)); the narrow set has no such thing and repeats the i386 places.
constexpr std::array<Place, 6> wide_arguments = {{{14, 0}, {13, 1}, {12, 2}, {7, 3}, {9, 4}, {8, 5}}};
// ebx, ecx, edx, esi, edi, ebp.
constexpr std::array<Place, 6> narrow_arguments = {{{5, 0}, {11, 1}, {12, 2}, {13, 3}, {14, 4}, {4, 5}}};

constexpr std::uint64_t user32_cs = 0x23;

const Place& argument_place(std::size_t index, Abi abi) {
  return abi == Abi::i386 ? narrow_arguments[index] : wide_arguments[index];
}

}  // namespace

bool Registers::resize(std::size_t size) {
  if (size != wide_size && size != narrow_size) {
    return false;
  }
  size_ = size;
  return true;
}

std::uint64_t Registers::get(std::size_t wide_index, std::size_t narrow_index) const {
  if (!narrow()) {
    return words_[wide_index];
  }
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(words_.data()) + narrow_index * sizeof value, sizeof value);
  return value;
}

void Registers::set(std::size_t wide_index, std::size_t narrow_index, std::uint64_t value) {
  if (!narrow()) {
    words_[wide_index] = value;
    return;
  }
  const auto low = static_cast<std::uint32_t>(value);
  std::memcpy(reinterpret_cast<std::byte*>(words_.data()) + narrow_index * sizeof low, &low, sizeof low);
}

Abi Registers::mode_abi() const {
  return narrow() || get(cs_place.wide, cs_place.narrow) == user32_cs ? Abi::i386 : Abi::x86_64;
}

Abi Registers::call_abi(std::span<const std::byte> instruction) const {
  if (mode_abi() == Abi::i386) {
    return Abi::i386;
  }
  // int 0x80 works in 64-bit code too and means an i386 call there.
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
  const Place& place = argument_place(index, abi);
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

void Registers::set_call_number(std::uint64_t number) {
  set(number_place.wide, number_place.narrow, number);
}

void Registers::set_argument(std::size_t index, Abi abi, std::uint64_t value) {
  const Place& place = argument_place(index, abi);
  set(place.wide, place.narrow, value);
}

void Registers::set_result(std::int64_t value) {
  set(result_place.wide, result_place.narrow, static_cast<std::uint64_t>(value));
}

void Registers::set_instruction_pointer(std::uint64_t address) {
  set(ip_place.wide, ip_place.narrow, address);
}

}  // namespace tracer
