#include "arch/argument_passing.h"

#include <algorithm>
#include <array>

namespace tracer::arch {

namespace {

using spec::PassedValue;
using spec::ValueClass;
using spec::ValuePart;
using How = Passing::How;

constexpr std::uint32_t word = 8;

bool is_floating(ValueClass value) {
  return value == ValueClass::single || value == ValueClass::floating || value == ValueClass::extended;
}

Passing in_memory(bool hidden_pointer) {
  Passing passing;
  passing.how = How::in_memory;
  passing.hidden_pointer = hidden_pointer;
  return passing;
}

Passing in_x87(const PassedValue& value) {
  constexpr std::uint32_t bytes = 10;
  Passing passing;
  passing.how = How::in_x87;
  for (const ValuePart& part : value.parts) {
    passing.pieces.push_back({false, part.offset, std::min(part.size, bytes)});
  }
  return passing;
}

/// System V ABI, AMD64 supplement, 3.2.3: up to two eightbytes, each in a vector register if it has floating-point
/// members only, otherwise in an integer register.
Passing amd64(const PassedValue& value, bool is_result) {
  if (is_result && value.is_complex && value.parts.front().value_class == ValueClass::extended) {
    return in_x87(value);
  }
  const auto is_unaligned = [](const ValuePart& part) { return part.offset % part.size != 0; };
  if (value.size > 2 * word || std::any_of(value.parts.begin(), value.parts.end(), is_unaligned)) {
    return in_memory(true);
  }
  enum class WordClass : std::uint8_t { nothing, vector, integer };
  std::array<WordClass, 2> classes{};
  for (const ValuePart& part : value.parts) {
    if (part.value_class == ValueClass::extended) {
      return is_result && value.parts.size() == 1 ? in_x87(value) : in_memory(true);
    }
    const WordClass own = is_floating(part.value_class) ? WordClass::vector : WordClass::integer;
    for (std::uint32_t i = part.offset / word; i < 2 && i * word < part.offset + part.size; ++i) {
      classes[i] = std::max(classes[i], own);
    }
  }
  Passing passing;
  for (std::uint32_t i = 0; i < classes.size(); ++i) {
    if (classes[i] != WordClass::nothing) {
      passing.pieces.push_back({classes[i] == WordClass::vector, i * word, std::min(word, value.size - i * word)});
    }
  }
  return passing;
}

/// AAPCS64, 6.8.2 and 6.9: a homogeneous floating-point aggregate (HFA) of up to four members, each in a vector
/// register; otherwise up to two words in integer registers.
Passing aarch64(const PassedValue& value, bool is_result) {
  constexpr std::size_t max_members = 4;
  std::vector<ValuePart> parts = value.parts;
  const auto by_offset = [](const ValuePart& a, const ValuePart& b) { return a.offset < b.offset; };
  const auto same_offset = [](const ValuePart& a, const ValuePart& b) { return a.offset == b.offset; };
  const bool is_homogeneous = !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const ValuePart& part) {
    return is_floating(part.value_class) && part.value_class == parts.front().value_class;
  });
  std::sort(parts.begin(), parts.end(), by_offset);
  parts.erase(std::unique(parts.begin(), parts.end(), same_offset), parts.end());  // members of a union
  Passing passing;
  passing.uses_up_registers = true;
  if (is_homogeneous && parts.size() <= max_members && parts.size() * parts.front().size == value.size) {
    for (const ValuePart& part : parts) {
      passing.pieces.push_back({true, part.offset, part.size});
    }
  } else if (value.size <= 2 * word) {
    for (std::uint32_t at = 0; at < value.size; at += word) {
      passing.pieces.push_back({false, at, std::min(word, value.size - at)});
    }
    passing.starts_even = value.alignment > word;
  } else if (is_result) {
    return in_memory(false);
  } else {
    passing.how = How::by_address;
  }
  return passing;
}

/// System V ABI, i386 supplement, 2.2: all structures are in memory, but a complex float is returned in eax and edx.
Passing i386(const PassedValue& value, bool is_result) {
  constexpr std::uint32_t part_size = 4;
  if (!is_result || !value.is_complex || value.size != 2 * part_size) {
    return in_memory(true);
  }
  Passing passing;
  passing.pieces = {{false, 0, part_size}, {false, part_size, part_size}};
  return passing;
}

Passing passing_of(Abi abi, const PassedValue& value, bool is_result) {
  switch (abi) {
    case Abi::x86_64:
    case Abi::x32:
      return amd64(value, is_result);
    case Abi::aarch64:
      return aarch64(value, is_result);
    default:
      return i386(value, is_result);
  }
}

}  // namespace

Passing passing_of_argument(Abi abi, const PassedValue& value) {
  return passing_of(abi, value, false);
}

Passing passing_of_result(Abi abi, const PassedValue& value) {
  return passing_of(abi, value, true);
}

}  // namespace tracer::arch
