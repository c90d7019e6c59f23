// Arrays, structures and unions of debugging information.
#include <dwarf.h>

#include <algorithm>
#include <string>
#include <vector>

#include "debuginfo/attributes.h"
#include "debuginfo/type_reader.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::Type;
using spec::TypeId;
using spec::TypeKind;

constexpr std::uint64_t largest_type = 65536;  // bytes
constexpr std::size_t most_members = 512;
constexpr std::size_t briefly_shown = 12;  // members, without -v

/// Bytes from the begin of its structure; empty if that is not always the same, as of a virtual base.
std::optional<std::uint64_t> offset_of(Dwarf_Die& member) {
  Dwarf_Attribute attribute;
  if (::dwarf_attr(&member, DW_AT_data_member_location, &attribute) == nullptr) {
    return 0;
  }
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (const auto constant = number(member, DW_AT_data_member_location)) {
    return constant;
  }
  const bool is_sum =
      ::dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 && operations->atom == DW_OP_plus_uconst;
  return is_sum ? std::optional<std::uint64_t>(operations->number) : std::nullopt;
}

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
    auto own = number(child, DW_AT_count);
    if (const auto last = number(child, DW_AT_upper_bound); !own && last && *last < largest_type) {
      own = *last + 1;
    }
    // Of several dimensions all elements, one after the other.
    count = own && *own <= largest_type ? std::optional(count.value_or(1) * *own) : 0;
    return *count != 0 && *count <= largest_type;
  });
  return count;
}

std::optional<TypeReader::Value> TypeReader::array(Dwarf_Die die, unsigned depth) {
  const auto count = count_of(die);
  const auto type = type_of(die);
  if (!count || *count == 0 || *count > largest_type || !type) {
    return std::nullopt;
  }
  Peeled element = peel(*type);
  const auto inner = element.is_void ? std::nullopt : value(*type, depth + 1);
  if (!inner || inner->size == 0 || *count > largest_type / inner->size) {
    return std::nullopt;
  }
  Type made;
  made.length_kind = spec::LengthKind::count;
  made.length = into_.literal(static_cast<std::int64_t>(*count));
  if (is_character(element.die)) {
    made.kind = TypeKind::cstr;
    made.name = into_.text("cstr");
  } else {
    made.kind = TypeKind::array;
    made.target = inner->id;
    made.name = into_.text(std::string(into_.tables().text(into_.tables().types[inner->id].name)) + "[]");
  }
  return Value{into_.add(made), *count * inner->size, inner->alignment};
}

/// Moves `offset` to the storage that has the bits.
std::optional<TypeReader::Value> TypeReader::bit_field(Dwarf_Die member, const Value& storage, std::uint64_t& offset) {
  const auto count = number(member, DW_AT_bit_size);
  auto from = number(member, DW_AT_data_bit_offset);
  if (const auto above = number(member, DW_AT_bit_offset); count && !from && above) {
    // Until DWARF 3, from the highest bit of its storage down.
    const std::uint64_t storage_bits = number(member, DW_AT_byte_size).value_or(storage.size) * 8;
    if (*above > storage_bits || *count > storage_bits - *above || offset > largest_type) {
      return std::nullopt;
    }
    from = offset * 8 + storage_bits - *above - *count;
  }
  const Type& plain = into_.tables().types[storage.id];
  if (!count || !from || *count == 0 || *count > 64 || *from > largest_type * 8 || plain.kind != TypeKind::scalar ||
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
  const auto place = offset_of(member);
  if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !type || !place || flag(member, DW_AT_external) ||
      flag(member, DW_AT_declaration)) {
    return;
  }
  std::uint64_t offset = *place;
  auto found = value(*type, depth + 1);
  const bool is_part = ::dwarf_hasattr(&member, DW_AT_bit_size) != 0;
  spec::Field field;
  field.hidden = flag(member, DW_AT_artificial);
  if (found && is_part) {
    found = bit_field(member, *found, offset);
  }
  if (!found) {
    Peeled peeled = peel(*type);
    const std::uint64_t size = is_part || peeled.is_void ? 0 : number(peeled.die, DW_AT_byte_size).value_or(0);
    if (size == 0 || size > largest_type) {
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
  field.in_brief = members.fields.size() < briefly_shown;
  members.alignment = std::max(members.alignment, found->alignment);
  members.fields.push_back(field);
}

/// libstdc++'s: it begins with the address of its text.
TypeReader::Value TypeReader::standard_string(std::uint64_t size) {
  std::vector<spec::Field> fields(1);
  fields[0].name = into_.text("text");
  fields[0].type = text_pointer(Direction::in);
  spec::Struct structure;
  structure.name = into_.text("std::string");
  structure.is_list = true;
  structure.layout.size.fill(static_cast<std::uint32_t>(size));
  structure.layout.align.fill(static_cast<std::uint8_t>(word_size_));
  return Value{into_.add(structure, fields), size, static_cast<std::uint8_t>(word_size_)};
}

std::optional<TypeReader::Value> TypeReader::aggregate(Dwarf_Die die, unsigned depth) {
  const auto size = number(die, DW_AT_byte_size);
  if (is_standard_string(die)) {
    // Where a unit only declares it, as clang has it, of the usual size.
    return standard_string(std::clamp<std::uint64_t>(size.value_or(0), std::uint64_t{4} * word_size_, largest_type));
  }
  if (!size || *size > largest_type || flag(die, DW_AT_declaration)) {
    return std::nullopt;
  }
  Members members;
  members.size = *size;
  for_each_child(*this, die, [&](Dwarf_Die& child) {
    add_member(child, depth, members);
    return members.fields.size() < most_members;
  });
  spec::Struct structure;
  const std::string name = name_of(die);
  const bool is_union = ::dwarf_tag(&die) == DW_TAG_union_type;
  structure.name = into_.text(!name.empty() ? name : is_union ? "union" : "struct");
  structure.kind = is_union ? spec::StructKind::overlay : spec::StructKind::plain;
  structure.has_brief = members.fields.size() > briefly_shown;
  const auto alignment = number(die, DW_AT_alignment).value_or(members.alignment);
  members.alignment = static_cast<std::uint8_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(alignment, 1), 128));
  structure.layout.size.fill(static_cast<std::uint32_t>(*size));
  structure.layout.align.fill(members.alignment);
  return Value{into_.add(structure, members.fields), *size, members.alignment};
}

}  // namespace tracer::debuginfo
