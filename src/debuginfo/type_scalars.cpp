// Converts numbers, enumerations, strings and pointers of debugging information.
#include <dwarf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "debuginfo/attributes.h"
#include "debuginfo/standard_types.h"
#include "debuginfo/type_reader.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::Style;
using spec::Type;
using spec::TypeId;
using spec::TypeKind;

constexpr std::size_t max_constants = 4096;

}  // namespace

TypeId TypeReader::scalar(std::uint8_t width, bool is_signed, Style style, std::string_view name) {
  Type type;
  type.width = width;
  type.is_signed = is_signed;
  type.style = style;
  type.name = into_.text(name);
  return into_.add(type);
}

TypeId TypeReader::cached(TypeId& cache, Style style, std::string_view name) {
  cache = cache != spec::none ? cache : scalar(spec::word_wide, false, style, name);
  return cache;
}

TypeId TypeReader::address() {
  return cached(address_, Style::address, "ptr");
}

TypeId TypeReader::pointer_to(TypeId target, Direction direction) {
  Type type;
  type.kind = TypeKind::pointer;
  type.target = target;
  type.direction = direction;
  type.name = into_.text('*' + std::string(into_.tables().text(into_.tables().types[target].name)));
  return into_.add(type);
}

TypeId TypeReader::string_pointer(Direction direction) {
  Type text;
  text.kind = TypeKind::cstr;
  text.name = into_.text("cstr");
  return pointer_to(into_.add(text), direction);
}

TypeReader::Parameter TypeReader::string_of_length(std::size_t parameter_index) {
  Type text;
  text.kind = TypeKind::cstr;
  text.name = into_.text("cstr");
  text.length_kind = spec::LengthKind::count;
  text.length = into_.argument(parameter_index);
  return {pointer_to(into_.add(text), Direction::out), true, false};
}

TypeId TypeReader::bytes(std::uint64_t size) {
  Type type;
  type.kind = TypeKind::bytes;
  type.name = into_.text("bytes");
  type.hex = true;
  type.length_kind = spec::LengthKind::count;
  type.length = into_.literal(static_cast<std::int64_t>(size));
  return into_.add(type);
}

TypeId TypeReader::stored_pointer(Dwarf_Die pointer, unsigned depth) {
  Peeled target = target_of(pointer);
  if (target.is_void) {
    return address();
  }
  if (::dwarf_tag(&target.die) == DW_TAG_subroutine_type) {
    return cached(code_, Style::code, "code");
  }
  if (is_character(target.die)) {
    return string_pointer(Direction::in);
  }
  const auto shown = targets_ == Targets::of_all ? this->target(target, depth + 1) : std::nullopt;
  return shown ? pointer_to(*shown, Direction::in) : address();
}

std::optional<TypeReader::Value> TypeReader::floating(std::uint64_t size, std::string_view name) {
  // A name with 128 is that of gcc's _Float128, which is not a long double. clang names all complex types "complex".
  const bool is_long = (size == 12 || size == 16) && name.find("128") == std::string_view::npos;
  if (size != 4 && size != 8 && !is_long) {
    return std::nullopt;
  }
  const auto width = static_cast<std::uint8_t>(size);
  const auto alignment = static_cast<std::uint8_t>(word_size_ == 4 ? 4 : width);
  return Value{scalar(is_long ? spec::long_double_wide : width, false, Style::floating, name), width, alignment};
}

/// A _Complex of C is the real part followed by the imaginary part.
std::optional<TypeReader::Value> TypeReader::complex(std::uint64_t size, std::string_view name) {
  const auto part = size % 2 == 0 ? floating(size / 2, name) : std::nullopt;
  if (!part) {
    return std::nullopt;
  }
  std::vector<spec::Field> fields(2);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].name = into_.text(i == 0 ? "re" : "im");
    fields[i].type = part->id;
    fields[i].offset.fill(static_cast<std::uint32_t>(i * part->size));
  }
  spec::Struct structure;
  structure.name = into_.text(name);
  structure.is_complex = true;
  structure.layout.size.fill(static_cast<std::uint32_t>(size));
  structure.layout.align.fill(part->alignment);
  return Value{into_.add(structure, fields), size, part->alignment};
}

std::optional<TypeReader::Value> TypeReader::base(Dwarf_Die die) {
  const auto size = unsigned_attribute(die, DW_AT_byte_size);
  const auto encoding = unsigned_attribute(die, DW_AT_encoding);
  const std::string name = name_of(die);
  if (!size || !encoding) {
    return std::nullopt;
  }
  const auto width = static_cast<std::uint8_t>(std::min<std::uint64_t>(*size, 255));
  if (*encoding == DW_ATE_float) {
    return floating(*size, name);
  }
  if (*encoding == DW_ATE_complex_float) {
    return complex(*size, name);
  }
  if (width == 16 && (*encoding == DW_ATE_signed || *encoding == DW_ATE_unsigned)) {
    return StandardTypes(*this).wide_integer(name, *encoding == DW_ATE_signed);
  }
  if (width == 0 || width > 8 || !std::has_single_bit(width)) {
    return std::nullopt;
  }
  const bool is_signed = *encoding == DW_ATE_signed || *encoding == DW_ATE_signed_char;
  const bool is_wide = name == "wchar_t" || *encoding == DW_ATE_UTF;
  const Style style = *encoding == DW_ATE_boolean   ? Style::truth
                      : is_character(die)           ? Style::character
                      : *encoding == DW_ATE_address ? Style::address
                                                    : Style::number;
  const auto alignment = static_cast<std::uint8_t>(std::min<unsigned>(width, word_size_));
  return Value{scalar(width, is_signed && style == Style::number && !is_wide, style, name), width, alignment};
}

std::optional<TypeReader::Value> TypeReader::enumeration(Dwarf_Die die) {
  const auto size = unsigned_attribute(die, DW_AT_byte_size);
  if (!size || *size == 0 || *size > 8 || !std::has_single_bit(*size)) {
    return std::nullopt;
  }
  std::vector<spec::Constant> constants;
  std::uint64_t bits = 0;
  bool are_single_bits = true;
  bool is_signed = false;
  for_each_child(*this, die, [&](Dwarf_Die& child) {
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    if (::dwarf_tag(&child) == DW_TAG_enumerator && ::dwarf_attr(&child, DW_AT_const_value, &attribute) != nullptr &&
        ::dwarf_formsdata(&attribute, &value) == 0) {
      spec::Constant constant;
      constant.name = into_.text(name_of(child));
      constant.value = static_cast<std::uint64_t>(value);
      constants.push_back(constant);
      is_signed = is_signed || value < 0;
      are_single_bits = are_single_bits && (constant.value & (constant.value - 1)) == 0 && (constant.value & bits) == 0;
      bits |= constant.value;
    }
    return constants.size() < max_constants;
  });
  spec::ConstantSet set;
  const std::string name = name_of(die);
  set.name = into_.text(name.empty() ? "enum" : name);
  // Constants of one bit each, at least three of them, are taken for flags.
  set.is_flags = are_single_bits && bits > 3;
  set.fallback = set.is_flags ? Style::hex : Style::number;
  Type type;
  type.width = static_cast<std::uint8_t>(*size);
  type.is_signed = is_signed;
  type.style = set.fallback;
  type.name = set.name;
  type.set = into_.add(set, {}, constants);
  return Value{into_.add(type), *size, static_cast<std::uint8_t>(std::min<std::uint64_t>(*size, word_size_))};
}

}  // namespace tracer::debuginfo
