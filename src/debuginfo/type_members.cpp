// Converts arrays, structures and unions of debugging information.
#include <dwarf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "debuginfo/attributes.h"
#include "debuginfo/standard_types.h"
#include "debuginfo/type_reader.h"

namespace tracer::debuginfo {

namespace {

using spec::Type;
using spec::TypeId;
using spec::TypeKind;

constexpr std::uint64_t max_type_size = 65536;  // bytes
constexpr std::size_t max_members = 512;
constexpr std::size_t brief_members = 12;  // number of members that are shown without -v

}  // namespace

struct TypeReader::Members {
  std::vector<spec::Field> fields;
  std::uint64_t size = 0;  ///< of the structure
  std::uint8_t alignment = 1;
};

std::optional<std::uint64_t> TypeReader::count_of(Dwarf_Die array) {
  std::optional<std::uint64_t> count;
  for_each_child(*this, array, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) != DW_TAG_subrange_type) {
      return true;
    }
    auto own = unsigned_attribute(child, DW_AT_count);
    if (const auto last = unsigned_attribute(child, DW_AT_upper_bound); !own && last && *last < max_type_size) {
      own = *last + 1;
    }
    // An array of several dimensions is shown as one list of all elements.
    count = own && *own <= max_type_size ? std::optional(count.value_or(1) * *own) : 0;
    return *count != 0 && *count <= max_type_size;
  });
  return count;
}

std::optional<TypeReader::Value> TypeReader::array(Dwarf_Die die, unsigned depth) {
  const auto count = count_of(die);
  const auto type = type_of(die);
  if (!count || *count == 0 || *count > max_type_size || !type) {
    return std::nullopt;
  }
  Peeled element = peel(*type);
  const auto inner = element.is_void ? std::nullopt : value(*type, depth + 1);
  if (!inner || inner->size == 0 || *count > max_type_size / inner->size) {
    return std::nullopt;
  }
  Type made;
  made.length_kind = spec::LengthKind::count;
  made.length = into_.literal(static_cast<std::int64_t>(*count));
  if (is_character(element.die)) {
    made.kind = TypeKind::cstr;
    made.style = spec::Style::terminated;  // all of it shows where it has no NUL
    made.name = into_.text("cstr");
  } else {
    made.kind = TypeKind::array;
    made.target = inner->id;
    made.name = into_.text(std::string(into_.tables().text(into_.tables().types[inner->id].name)) + "[]");
  }
  return Value{into_.add(made), *count * inner->size, inner->alignment};
}

/// Returns the type of a bit-field and sets `offset` to that of the storage unit that contains it.
std::optional<TypeReader::Value> TypeReader::bit_field(Dwarf_Die member, const Value& storage, std::uint64_t& offset) {
  const auto count = unsigned_attribute(member, DW_AT_bit_size);
  auto from = unsigned_attribute(member, DW_AT_data_bit_offset);
  if (const auto above = unsigned_attribute(member, DW_AT_bit_offset); count && !from && above) {
    // Before DWARF 4 the offset counts from the most significant bit of the storage unit.
    const std::uint64_t storage_bits = unsigned_attribute(member, DW_AT_byte_size).value_or(storage.size) * 8;
    if (*above > storage_bits || *count > storage_bits - *above || offset > max_type_size) {
      return std::nullopt;
    }
    from = offset * 8 + storage_bits - *above - *count;
  }
  const Type& plain = into_.tables().types[storage.id];
  if (!count || !from || *count == 0 || *count > 64 || *from > max_type_size * 8 || plain.kind != TypeKind::scalar ||
      storage.size == 0) {
    return std::nullopt;
  }
  offset = *from / 8 / storage.size * storage.size;
  const std::uint64_t first = *from - offset * 8;
  if (first + *count > storage.size * 8) {
    return std::nullopt;
  }
  Type type = plain;
  type.bit_offset = static_cast<std::uint8_t>(first);
  type.bit_count = static_cast<std::uint8_t>(*count);
  return Value{into_.add(type), storage.size, storage.alignment};
}

void TypeReader::add_member(Dwarf_Die member, unsigned depth, Members& members) {
  const int tag = ::dwarf_tag(&member);
  auto type = type_of(member);
  const auto own_offset = offset_of(member);
  if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type || !own_offset ||
      flag_attribute(member, DW_AT_external) || flag_attribute(member, DW_AT_declaration)) {
    return;
  }
  std::uint64_t offset = *own_offset;
  auto found = value(*type, depth + 1);
  const bool is_bit_field = ::dwarf_hasattr(&member, DW_AT_bit_size) != 0;
  spec::Field field;
  field.hidden = flag_attribute(member, DW_AT_artificial);
  if (found && is_bit_field) {
    found = bit_field(member, *found, offset);
  }
  if (!found) {
    Peeled peeled = peel(*type);
    const std::uint64_t size =
        is_bit_field || peeled.is_void ? 0 : unsigned_attribute(peeled.die, DW_AT_byte_size).value_or(0);
    if (size == 0 || size > max_type_size) {
      return;
    }
    found = Value{bytes(size), size, 1};
  }
  if (offset > members.size || found->size > members.size - offset) {
    return;
  }
  const std::string name = name_of(member);
  const TypeKind kind = into_.tables().types[found->id].kind;
  field.inlined = name.empty() && kind == TypeKind::structure;
  field.hidden = field.hidden || (name.empty() && !field.inlined);
  field.name = into_.text(name.empty() ? "_" : name);
  field.type = found->id;
  field.offset.fill(static_cast<std::uint32_t>(offset));
  field.in_brief = members.fields.size() < brief_members;
  members.alignment = std::max(members.alignment, found->alignment);
  members.fields.push_back(field);
}

std::optional<TypeReader::Value> TypeReader::aggregate(Dwarf_Die die, unsigned depth) {
  const auto size = unsigned_attribute(die, DW_AT_byte_size);
  if (!size || *size > max_type_size || flag_attribute(die, DW_AT_declaration)) {
    const bool is_known = is_standard_string(die) && name_of(die).find("std::__1::") == std::string::npos;
    return is_known ? std::optional(StandardTypes(*this).declared_string()) : std::nullopt;
  }
  if (const auto standard = StandardTypes(*this).read(die, *size, depth)) {
    return standard;
  }
  const TypeId own = into_.declare_structure();
  structures_[die.addr] = own;
  Members members;
  members.size = *size;
  for_each_child(*this, die, [&](Dwarf_Die& child) {
    add_member(child, depth, members);
    return members.fields.size() < max_members;
  });
  spec::Struct structure;
  const std::string name = name_of(die);
  const bool is_union = ::dwarf_tag(&die) == DW_TAG_union_type;
  structure.name = into_.text(!name.empty() ? name : is_union ? "union" : "struct");
  structure.kind = is_union ? spec::StructKind::overlay : spec::StructKind::plain;
  structure.has_brief = members.fields.size() > brief_members;
  const auto alignment = unsigned_attribute(die, DW_AT_alignment).value_or(members.alignment);
  members.alignment = static_cast<std::uint8_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(alignment, 1), 128));
  structure.layout.size.fill(static_cast<std::uint32_t>(*size));
  structure.layout.align.fill(members.alignment);
  into_.define(own, structure, members.fields);
  return Value{own, *size, members.alignment};
}

}  // namespace tracer::debuginfo
