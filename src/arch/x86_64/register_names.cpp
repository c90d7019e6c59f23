#include "arch/register_names.h"

#include <elf.h>

#include <array>
#include <cstring>

#include "base/number_text.h"

namespace tracer::arch {

namespace {

/// The names of the first eight general registers in the order of their numbers, without the part for the width.
constexpr std::array<std::string_view, 8> base_names = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

std::uint64_t low_part(std::uint64_t value, char width) {
  switch (width) {
    case 'd':
      return static_cast<std::uint32_t>(value);
    case 'w':
      return static_cast<std::uint16_t>(value);
    case 'b':
      return static_cast<std::uint8_t>(value);
    default:
      return value;
  }
}

}  // namespace

std::optional<std::uint64_t> named_register(const Registers& registers, std::string_view name) {
  if (name == "rip" || name == "eip") {
    return registers.instruction_pointer();
  }
  if (name.size() >= 2 && name.front() == 'r' && name[1] >= '0' && name[1] <= '9') {  // r8d
    const char last = name.back();
    const bool narrow = last == 'd' || last == 'w' || last == 'b';
    const auto number = whole_number<unsigned>(name.substr(1, name.size() - 1 - (narrow ? 1 : 0)));
    if (!number || *number < 8 || *number > 15 || registers.mode_abi() == Abi::i386) {
      return std::nullopt;
    }
    return low_part(registers.general(*number), narrow ? last : 'q');
  }
  for (std::size_t i = 0; i < base_names.size(); ++i) {
    const std::string_view base_name = base_names[i];
    const std::uint64_t value = registers.general(i);
    if (name.size() == 3 && name.substr(1) == base_name && (name.front() == 'r' || name.front() == 'e')) {
      return name.front() == 'r' ? value : low_part(value, 'd');
    }
    if (name == base_name) {
      return low_part(value, 'w');
    }
    if (base_name.back() == 'x' && name.size() == 2 && name.front() == base_name.front() &&
        (name.back() == 'l' || name.back() == 'h')) {
      return low_part(name.back() == 'l' ? value : value >> 8, 'b');
    }
    if (base_name.back() != 'x' && name.size() == 3 && name.substr(0, 2) == base_name && name.back() == 'l') {  // sil
      return low_part(value, 'b');
    }
  }
  return std::nullopt;
}

std::optional<std::uint8_t> register_word(std::string_view name) {
  // Whose value shows where it comes from: each word holds its own number.
  Registers numbered;
  const std::size_t words = numbered.buffer().size() / sizeof(std::uint64_t);
  for (std::uint64_t word = 0; word < words; ++word) {
    std::memcpy(numbered.buffer().data() + word * sizeof word, &word, sizeof word);
  }
  const bool is_high_part = name.size() == 2 && name.back() == 'h';
  const auto found = is_high_part ? std::nullopt : named_register(numbered, name);
  return found ? std::optional(static_cast<std::uint8_t>(*found)) : std::nullopt;
}

std::optional<unsigned> vector_register(std::string_view name) {
  constexpr std::string_view prefix = "xmm";
  const auto number = name.starts_with(prefix) ? whole_number<unsigned>(name.substr(prefix.size())) : std::nullopt;
  return number && *number < 16 ? number : std::nullopt;
}

std::optional<std::uint64_t> segment_base(const Registers& registers, std::string_view name,
                                          const ReadRegisterSet& read) {
  const bool gs = name == "gs";
  if (!gs && name != "fs") {
    return std::nullopt;
  }
  if (registers.mode_abi() != Abi::i386) {
    return registers.segment_base(gs);
  }
  // The selector refers to one of the thread's TLS descriptors: struct user_desc (set_thread_area(2)).
  const std::size_t word = gs ? 10 : 9;  // in the 32-bit register set
  struct Descriptor {
    std::uint32_t number, base, limit, flags;
  };
  std::array<Descriptor, 3> descriptors{};
  std::uint32_t selector = 0;
  const auto bytes = registers.bytes();
  if (bytes.size() < (word + 1) * sizeof selector) {
    return std::nullopt;
  }
  std::memcpy(&selector, bytes.data() + word * sizeof selector, sizeof selector);
  const std::size_t size = read(NT_386_TLS, std::as_writable_bytes(std::span(descriptors)));
  for (std::size_t i = 0; i < size / sizeof(Descriptor); ++i) {
    if (descriptors[i].number == selector >> 3) {
      return descriptors[i].base;
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> thread_pointer(const Registers& registers, const ReadRegisterSet& read) {
  return segment_base(registers, registers.mode_abi() == Abi::i386 ? "gs" : "fs", read);
}

}  // namespace tracer::arch
