// Types of Rust: enums with fields, tuples, and how Rust passes structures.
#include <dwarf.h>

#include <algorithm>
#include <string>

#include "debuginfo/attributes.h"
#include "debuginfo/standard_types.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::ExprId;
using spec::ExprOp;
using spec::Style;
using spec::Type;
using spec::TypeId;

constexpr std::size_t max_variants = 256;

/// One of the values that an enum of Rust can have.
struct Variant {
  std::optional<std::uint64_t> mark;  ///< the discriminant; empty: any that no other has
  std::string name;
  Dwarf_Die type{};
  std::uint64_t offset = 0;
};

std::uint64_t low_bytes(std::uint64_t value, std::uint64_t count) {
  return count >= sizeof value ? value : value & ((std::uint64_t{1} << (count * 8)) - 1);
}

}  // namespace

/// A structure with a variant part: `None`, or `{Some=3}`.
std::optional<StandardTypes::Value> StandardTypes::variants(Dwarf_Die die, std::string_view name, std::uint64_t size,
                                                            unsigned depth) {
  std::optional<Dwarf_Die> part;
  for_each_child(types_, die, [&](Dwarf_Die& child) {
    part = ::dwarf_tag(&child) == DW_TAG_variant_part ? std::optional(child) : part;
    return !part;
  });
  auto discriminant = part ? referenced_die(*part, DW_AT_discr) : std::nullopt;
  const auto type = discriminant ? type_of(*discriminant) : std::nullopt;
  const auto at = discriminant ? offset_of(*discriminant) : std::nullopt;
  TypeReader::Peeled peeled = type ? types_.peel(*type) : TypeReader::Peeled{};
  const std::uint64_t width = peeled.is_void ? 0 : unsigned_attribute(peeled.die, DW_AT_byte_size).value_or(0);
  if (!at || (width != 1 && width != 2 && width != 4 && width != 8) || *at > size || width > size - *at) {
    return std::nullopt;
  }
  std::vector<Variant> all;
  bool is_clear = true;
  for_each_child(types_, *part, [&](Dwarf_Die& variant) {
    if (::dwarf_tag(&variant) != DW_TAG_variant) {
      return true;
    }
    Variant one;
    one.mark = unsigned_attribute(variant, DW_AT_discr_value);
    Dwarf_Die member;
    const bool has_member = ::dwarf_child(&variant, &member) == 0 && ::dwarf_tag(&member) == DW_TAG_member;
    const auto own = has_member ? type_of(member) : std::nullopt;
    const auto offset = has_member ? offset_of(member) : std::nullopt;
    is_clear = own && offset && *offset <= size && !::dwarf_hasattr(&variant, DW_AT_discr_list);
    if (is_clear) {
      one.name = name_of(member);
      one.type = *own;
      one.offset = *offset;
      all.push_back(one);
    }
    return is_clear && all.size() <= max_variants;
  });
  if (!is_clear || all.empty() || all.size() > max_variants) {
    return std::nullopt;
  }
  const spec::StringRef none = into_.text("_");
  const auto byte_count = static_cast<std::uint8_t>(width);
  std::vector<spec::Field> fields = {
      field(none, types_.scalar(byte_count, false, Style::number, "discriminant"), *at, spec::none, true)};
  for (const Variant& one : all) {
    bool has_fields = false;
    TypeReader::Peeled inner = types_.peel(one.type);
    for_each_child(types_, inner.die, [&](Dwarf_Die& child) {
      has_fields = has_fields || ::dwarf_tag(&child) == DW_TAG_member;
      return !has_fields;
    });
    if (!has_fields && one.mark) {
      spec::Constant constant;
      constant.name = into_.text(one.name);
      constant.value = low_bytes(*one.mark, width);
      spec::ConstantSet set;
      set.name = into_.text(name);
      Type alone;
      alone.width = byte_count;
      alone.name = set.name;
      alone.set = into_.add(set, {}, {constant});
      fields.push_back(field(none, into_.add(alone), *at, spec::none, false));
      continue;
    }
    const auto value = types_.value(one.type, depth + 1);
    if (!value || value->size > size - one.offset) {
      return std::nullopt;
    }
    spec::Struct named;
    named.name = into_.text(one.name);
    named.layout.size.fill(static_cast<std::uint32_t>(value->size));
    named.layout.align.fill(value->alignment);
    const TypeId shown = into_.add(named, {field(into_.text(one.name), value->id, 0, spec::none, false)});
    fields.push_back(field(none, shown, one.offset, spec::none, false));
  }
  // Only now is it known which number the first field will have.
  const ExprId mark = expression(ExprOp::field, static_cast<spec::FieldId>(into_.tables().fields.size()), spec::none);
  ExprId is_other = spec::none;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].mark) {
      continue;
    }
    const ExprId number = into_.literal(static_cast<std::int64_t>(low_bytes(*all[i].mark, width)));
    fields[i + 1].condition = expression(ExprOp::equal, mark, number);
    const ExprId differs = expression(ExprOp::not_equal, mark, number);
    is_other = is_other == spec::none ? differs : expression(ExprOp::bit_and, is_other, differs);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    fields[i + 1].condition = all[i].mark ? fields[i + 1].condition : is_other;
  }
  return standing_for(name, size, fields);
}

/// Tuples, and structures whose members have numbers: their elements.
std::optional<StandardTypes::Value> StandardTypes::numbered(Dwarf_Die die, std::string_view name, std::uint64_t size,
                                                            unsigned depth) {
  std::vector<std::pair<std::string, Part>> members;
  bool is_numbered = true;
  for_each_child(types_, die, [&](Dwarf_Die& child) {
    if (::dwarf_tag(&child) == DW_TAG_member) {
      const std::string own = name_of(child);
      const auto type = type_of(child);
      const auto at = offset_of(child);
      is_numbered = type && at && own.size() > 2 && own.starts_with("__") &&
                    own.find_first_not_of("0123456789", 2) == std::string::npos;
      if (is_numbered) {
        members.push_back({own, {*type, *at}});
      }
    }
    return is_numbered;
  });
  if (!is_numbered || members.empty()) {
    return std::nullopt;
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.size(), a.first) < std::pair(b.first.size(), b.first);
  });
  std::vector<Part> parts;
  parts.reserve(members.size());
  for (const auto& member : members) {
    parts.push_back(member.second);
  }
  return list_of(name, size, parts, depth);
}

/// Returns false for what Rust may pass otherwise than C: several variants with fields, arrays.
bool StandardTypes::add_scalars(Dwarf_Die type, std::uint64_t offset, unsigned depth, Scalars& scalars) {
  constexpr unsigned max_depth = 10;
  constexpr std::size_t most = 8;
  TypeReader::Peeled peeled = types_.peel(type);
  const int tag = peeled.is_void ? 0 : ::dwarf_tag(&peeled.die);
  if (is_aggregate(tag) && depth < max_depth) {
    return add_scalars_of_members(peeled.die, offset, depth, scalars);
  }
  const auto size = is_pointer(tag) ? word_size_ : unsigned_attribute(peeled.die, DW_AT_byte_size).value_or(0);
  scalars.push_back({offset, size});
  return (is_pointer(tag) || tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type) && scalars.size() <= most;
}

/// Of a structure, a variant part of one, or a variant.
bool StandardTypes::add_scalars_of_members(Dwarf_Die parent, std::uint64_t offset, unsigned depth, Scalars& scalars) {
  bool fits = true;
  unsigned filled = 0;  // variants with fields
  for_each_child(types_, parent, [&](Dwarf_Die& child) {
    const int tag = ::dwarf_tag(&child);
    const auto type = tag == DW_TAG_member ? type_of(child) : std::nullopt;
    const auto at = tag == DW_TAG_member ? offset_of(child) : std::nullopt;
    if (type && at) {
      fits = add_scalars(*type, offset + *at, depth + 1, scalars);
    } else if (tag == DW_TAG_variant_part || tag == DW_TAG_variant) {
      const std::size_t before = scalars.size();
      fits = add_scalars_of_members(child, offset, depth + 1, scalars);
      filled += tag == DW_TAG_variant && scalars.size() != before ? 1 : 0;
    }
    return fits && filled < 2;
  });
  return fits && filled < 2;
}

/// Whether the structure is one scalar, or two of a word each: those Rust has always passed as C does.
bool StandardTypes::is_passed_as_in_c(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  const auto size = peeled.is_void ? std::nullopt : unsigned_attribute(peeled.die, DW_AT_byte_size);
  Scalars scalars;
  if (!size || !add_scalars(type, 0, 0, scalars) || scalars.empty()) {
    return false;
  }
  const bool is_one = std::all_of(scalars.begin(), scalars.end(), [&](const auto& scalar) {
    return scalar.first == 0 && scalar.second == *size && *size <= word_size_;
  });
  const bool is_two =
      *size == std::uint64_t{2} * word_size_ && std::all_of(scalars.begin(), scalars.end(), [&](const auto& scalar) {
        return scalar.first % word_size_ == 0 && scalar.second == word_size_;
      });
  return is_one || is_two;
}

/// Rust does not promise how it passes structures. What is larger than two words it has always passed by address, and
/// returned as C does, but for pairs of integers of 128 bits.
std::optional<TypeReader::Parameter> StandardTypes::rust_parameter(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  if (is_array(type)) {
    return std::nullopt;  // by value, and not as in C by address
  }
  const auto passed = types_.parameter(type);
  const bool is_structure = passed && into_.tables().types[passed->type].kind == spec::TypeKind::structure;
  if (passed && passed->at_exit) {
    // What is not borrowed mutably does not change, and what a box owns may be gone at the exit.
    const std::string name = name_of(peeled.die);
    const bool may_change = name.starts_with("&mut ") || name.starts_with("*mut ");
    const Type& pointer = into_.tables().types[passed->type];
    return may_change || pointer.kind != spec::TypeKind::pointer
               ? *passed
               : TypeReader::Parameter{types_.pointer_to(pointer.target, Direction::in), false, false};
  }
  if (!is_structure || !is_returned_as_in_c(type)) {
    return is_structure ? std::nullopt : passed;
  }
  const auto size = unsigned_attribute(peeled.die, DW_AT_byte_size);
  return size && *size > std::uint64_t{2} * word_size_
             ? TypeReader::Parameter{types_.pointer_to(passed->type, Direction::in), false, false}
             : *passed;
}

bool StandardTypes::is_array(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  return !peeled.is_void && ::dwarf_tag(&peeled.die) == DW_TAG_array_type;
}

bool StandardTypes::is_returned_as_in_c(Dwarf_Die type) {
  TypeReader::Peeled peeled = types_.peel(type);
  if (peeled.is_void || ::dwarf_tag(&peeled.die) == DW_TAG_base_type) {
    return !peeled.is_void && word_size_ == 8;
  }
  if (is_array(type)) {
    return false;
  }
  const auto size = unsigned_attribute(peeled.die, DW_AT_byte_size);
  if (!size || *size <= std::uint64_t{2} * word_size_) {
    return size && is_passed_as_in_c(type);
  }
  constexpr std::uint64_t widest = 16;
  Scalars scalars;
  const bool is_pair = add_scalars(type, 0, 0, scalars) && scalars.size() <= 2;
  return !is_pair || scalars.empty() || scalars.front().second != widest;
}

}  // namespace tracer::debuginfo
