#include "debuginfo/type_reader.h"

#include <dwarf.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "debuginfo/scopes.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::Style;
using spec::Type;
using spec::TypeId;
using spec::TypeKind;

constexpr unsigned most_hops = 64;
constexpr unsigned deepest = 12;
constexpr std::uint64_t largest_type = 65536;  // bytes
constexpr std::size_t most_members = 512;
constexpr std::size_t most_constants = 4096;
constexpr std::size_t briefly_shown = 12;  // members, without -v

std::string name_of(Dwarf_Die& die) {
  return bounded(::dwarf_diename(&die));
}

std::optional<std::uint64_t> number(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word word = 0;
  return ::dwarf_attr(&die, attribute, &value) != nullptr && ::dwarf_formudata(&value, &word) == 0
             ? std::optional<std::uint64_t>(word)
             : std::nullopt;
}

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

bool flag(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  bool set = false;
  return ::dwarf_attr(&die, attribute, &value) != nullptr && ::dwarf_formflag(&value, &set) == 0 && set;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute value;
  Dwarf_Die type;
  // Through an abstract instance or a declaration, of which libdw follows a few.
  return ::dwarf_attr_integrate(&die, DW_AT_type, &value) != nullptr && ::dwarf_formref_die(&value, &type) != nullptr
             ? std::optional(type)
             : std::nullopt;
}

bool is_pointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool is_aggregate(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_character(Dwarf_Die& die) {
  return ::dwarf_tag(&die) == DW_TAG_base_type && number(die, DW_AT_byte_size) == 1 && name_of(die) == "char";
}

bool is_standard_string(Dwarf_Die& die) {
  return is_aggregate(::dwarf_tag(&die)) && name_of(die).starts_with("basic_string<char,");
}

bool is_wide_character(Dwarf_Die& die) {
  return ::dwarf_tag(&die) == DW_TAG_base_type && name_of(die) == "wchar_t";
}

/// For each child of a piece, while there are any and the reader has patience left.
template <typename Function>
void for_each_child(TypeReader& reader, Dwarf_Die parent, Function function) {
  Dwarf_Die child;
  int more = ::dwarf_child(&parent, &child);
  while (more == 0 && reader.spend() && function(child)) {
    Dwarf_Die next;
    more = ::dwarf_siblingof(&child, &next);
    child = next;
  }
}

}  // namespace

struct TypeReader::Members {
  std::vector<spec::Field> fields;
  std::uint64_t size = 0;  ///< of the structure
  std::uint8_t alignment = 1;
};

/// Sees through typedef and what only qualifies.
TypeReader::Peeled TypeReader::peel(Dwarf_Die die) {
  Peeled peeled{die, false, false};
  for (unsigned i = 0; i < most_hops; ++i) {
    const int tag = ::dwarf_tag(&peeled.die);
    peeled.is_const = peeled.is_const || tag == DW_TAG_const_type;
    if (tag == DW_TAG_typedef && name_of(peeled.die) == "wchar_t") {
      return peeled;
    }
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type) {
      return peeled;
    }
    const auto next = type_of(peeled.die);
    if (!next) {
      break;
    }
    peeled.die = *next;
  }
  peeled.is_void = true;
  return peeled;
}

TypeReader::Peeled TypeReader::target_of(Dwarf_Die die) {
  const auto target = type_of(die);
  return target ? peel(*target) : Peeled{};
}

TypeId TypeReader::scalar(std::uint8_t width, bool is_signed, Style style, std::string_view name) {
  Type type;
  type.width = width;
  type.is_signed = is_signed;
  type.style = style;
  type.name = into_.text(name);
  return into_.add(type);
}

TypeId TypeReader::remembered(TypeId& place, Style style, std::string_view name) {
  place = place != spec::none ? place : scalar(spec::word_wide, false, style, name);
  return place;
}

TypeId TypeReader::address() {
  return remembered(address_, Style::address, "ptr");
}

TypeId TypeReader::pointer_to(TypeId target, Direction direction) {
  Type type;
  type.kind = TypeKind::pointer;
  type.target = target;
  type.direction = direction;
  type.name = into_.text('*' + std::string(into_.tables().text(into_.tables().types[target].name)));
  return into_.add(type);
}

TypeId TypeReader::text_pointer(Direction direction) {
  Type text;
  text.kind = TypeKind::cstr;
  text.name = into_.text("cstr");
  return pointer_to(into_.add(text), direction);
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

TypeId TypeReader::held_pointer(Dwarf_Die pointer) {
  Peeled target = target_of(pointer);
  if (target.is_void) {
    return address();
  }
  if (::dwarf_tag(&target.die) == DW_TAG_subroutine_type) {
    return remembered(code_, Style::code, "code");
  }
  return is_character(target.die) ? text_pointer(Direction::in) : address();
}

std::optional<TypeReader::Value> TypeReader::base(Dwarf_Die die) {
  const auto size = number(die, DW_AT_byte_size);
  const auto encoding = number(die, DW_AT_encoding);
  const std::string name = name_of(die);
  if (!size || !encoding) {
    return std::nullopt;
  }
  const auto width = static_cast<std::uint8_t>(std::min<std::uint64_t>(*size, 255));
  if (*encoding == DW_ATE_float) {
    const bool is_long = (width == 12 || width == 16) && name == "long double";
    if (width != 4 && width != 8 && !is_long) {
      return std::nullopt;
    }
    const auto alignment = static_cast<std::uint8_t>(word_size_ == 4 ? 4 : width);
    return Value{scalar(is_long ? spec::long_double_wide : width, false, Style::floating, name), width, alignment};
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
  const auto size = number(die, DW_AT_byte_size);
  if (!size || *size == 0 || *size > 8 || !std::has_single_bit(*size)) {
    return std::nullopt;
  }
  std::vector<spec::Constant> constants;
  std::uint64_t bits = 0;
  bool are_apart = true;
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
      are_apart = are_apart && (constant.value & (constant.value - 1)) == 0 && (constant.value & bits) == 0;
      bits |= constant.value;
    }
    return constants.size() < most_constants;
  });
  spec::ConstantSet set;
  const std::string name = name_of(die);
  set.name = into_.text(name.empty() ? "enum" : name);
  // One bit each, and more than two of them: they are there to be combined.
  set.is_flags = are_apart && bits > 3;
  set.fallback = set.is_flags ? Style::hex : Style::number;
  Type type;
  type.width = static_cast<std::uint8_t>(*size);
  type.is_signed = is_signed;
  type.style = set.fallback;
  type.name = set.name;
  type.set = into_.add(set, {}, constants);
  return Value{into_.add(type), *size, static_cast<std::uint8_t>(std::min<std::uint64_t>(*size, word_size_))};
}

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

std::optional<TypeReader::Value> TypeReader::value(Dwarf_Die die, unsigned depth) {
  Peeled peeled = peel(die);
  if (peeled.is_void || depth > deepest || !spend()) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_pointer(tag) || tag == DW_TAG_unspecified_type) {
    const TypeId id = is_pointer(tag) ? held_pointer(peeled.die) : address();
    return Value{id, word_size_, static_cast<std::uint8_t>(word_size_)};
  }
  if (tag == DW_TAG_typedef) {  // wchar_t
    const auto real = type_of(peeled.die);
    return real ? value(*real, depth + 1) : std::nullopt;
  }
  const auto [known, is_new] = known_.try_emplace(peeled.die.addr);
  if (!is_new) {
    return known->second;  // nothing, for what contains itself
  }
  std::optional<Value> found;
  if (tag == DW_TAG_base_type) {
    found = base(peeled.die);
  } else if (tag == DW_TAG_enumeration_type) {
    found = enumeration(peeled.die);
  } else if (tag == DW_TAG_array_type) {
    found = array(peeled.die, depth);
  } else if (is_aggregate(tag)) {
    found = aggregate(peeled.die, depth);
  }
  known_[peeled.die.addr] = found;
  return found;
}

/// As C++ does with objects that have to be copied or destroyed by code. gcc does not say which they are: those that
/// have a destructor or a constructor of copies of their own, a table of virtual functions, or a part that is such.
bool TypeReader::is_passed_by_address(Dwarf_Die die, unsigned depth) {
  if (const auto said = number(die, DW_AT_calling_convention)) {
    return *said == DW_CC_pass_by_reference;
  }
  if (is_standard_string(die)) {
    return true;
  }
  const std::string own_name = name_of(die).substr(0, name_of(die).find('<'));
  bool by_address = false;
  for_each_child(*this, die, [&](Dwarf_Die& child) {
    const int tag = ::dwarf_tag(&child);
    const auto type = type_of(child);
    if (tag == DW_TAG_subprogram && !flag(child, DW_AT_artificial) && !::dwarf_hasattr(&child, DW_AT_defaulted)) {
      const std::string name = name_of(child);
      by_address = name.starts_with('~') || (name == own_name && copies(child, die));
    } else if (tag == DW_TAG_member && name_of(child).starts_with("_vptr")) {
      by_address = true;
    } else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && type && depth < deepest &&
               !flag(child, DW_AT_external)) {
      Peeled part = peel(*type);
      by_address = !part.is_void && is_aggregate(::dwarf_tag(&part.die)) && is_passed_by_address(part.die, depth + 1);
    }
    return !by_address;
  });
  return by_address;
}

/// Whether a constructor takes a reference to an object of its own class, and nothing else.
bool TypeReader::copies(Dwarf_Die constructor, Dwarf_Die object) {
  unsigned taken = 0;
  bool of_own_class = false;
  for_each_child(*this, constructor, [&](Dwarf_Die& child) {
    const auto type = type_of(child);
    if (::dwarf_tag(&child) == DW_TAG_formal_parameter && !flag(child, DW_AT_artificial) && type) {
      Peeled parameter = peel(*type);
      const int tag = ::dwarf_tag(&parameter.die);
      Peeled target = is_pointer(tag) && tag != DW_TAG_pointer_type ? target_of(parameter.die) : Peeled{};
      of_own_class = !target.is_void && target.die.addr == object.addr;
      ++taken;
    }
    return taken < 2;
  });
  return taken == 1 && of_own_class;
}

std::optional<TypeReader::Taken> TypeReader::parameter(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_aggregate(tag) && is_passed_by_address(peeled.die)) {
    const auto object = value(peeled.die, 0);
    return Taken{object ? pointer_to(object->id, Direction::in) : address(), false, false};
  }
  if (!is_pointer(tag)) {
    const auto found = value(type, 0);
    return found && found->size != 0 ? std::optional(Taken{found->id, false, false}) : std::nullopt;
  }
  Peeled target = target_of(peeled.die);
  if (target.is_void) {
    return Taken{address(), false, false};
  }
  const Direction filled = target.is_const ? Direction::in : Direction::out;
  if (is_character(target.die)) {
    return Taken{text_pointer(filled), !target.is_const, false};
  }
  if (is_wide_character(target.die) || ::dwarf_tag(&target.die) == DW_TAG_typedef) {
    const TypeId wide = into_.pointer_to_custom("wide_text");
    return Taken{wide == spec::none ? address() : wide, !target.is_const, false};
  }
  const int target_tag = ::dwarf_tag(&target.die);
  const bool is_byte = target_tag == DW_TAG_base_type && number(target.die, DW_AT_byte_size) == 1;
  const bool is_stream = is_aggregate(target_tag) && name_of(target.die) == "_IO_FILE";
  const auto found = is_byte || is_stream ? std::nullopt : value(target.die, 0);
  if (!found) {
    return Taken{held_pointer(peeled.die), false, false};
  }
  const bool is_number = target_tag == DW_TAG_base_type || target_tag == DW_TAG_enumeration_type;
  const Direction direction = is_number && !target.is_const ? Direction::inout : filled;
  return Taken{pointer_to(found->id, direction), direction != Direction::in, direction == Direction::inout};
}

bool TypeReader::is_placed_by_caller(Dwarf_Die type) {
  Peeled peeled = peel(type);
  return !peeled.is_void && is_aggregate(::dwarf_tag(&peeled.die)) && is_passed_by_address(peeled.die);
}

std::optional<TypeId> TypeReader::result(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_pointer(tag)) {
    return held_pointer(peeled.die);
  }
  if (is_placed_by_caller(type)) {
    return address();
  }
  const auto found = value(type, 0);
  return found && found->size != 0 ? std::optional(found->id) : std::nullopt;
}

}  // namespace tracer::debuginfo
