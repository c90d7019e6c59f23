#include "arch/probe.h"

#include <array>
#include <charconv>

namespace tracer {

namespace {

/// System V names of the first eight general registers, in the order of their numbers, without what tells the width.
constexpr std::array<std::string_view, 8> letters = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

std::optional<unsigned> whole_number(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole && !digits.empty() ? std::optional(value) : std::nullopt;
}

std::uint64_t cut(std::uint64_t value, char width) {
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
    const auto number = whole_number(name.substr(1, name.size() - 1 - (narrow ? 1 : 0)));
    if (!number || *number < 8 || *number > 15 || registers.mode_abi() == Abi::i386) {
      return std::nullopt;
    }
    return cut(registers.general(*number), narrow ? last : 'q');
  }
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::string_view two = letters[i];
    const std::uint64_t value = registers.general(i);
    if (name.size() == 3 && name.substr(1) == two && (name.front() == 'r' || name.front() == 'e')) {
      return name.front() == 'r' ? value : cut(value, 'd');
    }
    if (name == two) {
      return cut(value, 'w');
    }
    if (two.back() == 'x' && name.size() == 2 && name.front() == two.front() &&
        (name.back() == 'l' || name.back() == 'h')) {
      return cut(name.back() == 'l' ? value : value >> 8, 'b');
    }
    if (two.back() != 'x' && name.size() == 3 && name.substr(0, 2) == two && name.back() == 'l') {  // sil
      return cut(value, 'b');
    }
  }
  return std::nullopt;
}

std::optional<unsigned> vector_register(std::string_view name) {
  constexpr std::string_view prefix = "xmm";
  const auto number = name.starts_with(prefix) ? whole_number(name.substr(prefix.size())) : std::nullopt;
  return number && *number < 16 ? number : std::nullopt;
}

std::uint64_t segment_start(const Registers& registers, std::string_view name) {
  return name == "fs" || name == "gs" ? registers.segment_base(name == "gs") : 0;
}

}  // namespace tracer
