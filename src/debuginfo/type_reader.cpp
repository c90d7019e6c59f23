#include "debuginfo/type_reader.h"

#include <dwarf.h>

#include <string>

#include "debuginfo/attributes.h"

namespace tracer::debuginfo {

namespace {

using spec::Direction;
using spec::TypeId;

constexpr unsigned max_hops = 64;
constexpr unsigned max_depth = 12;

}  // namespace

/// Strips typedefs, qualifiers and subranges, like dwarf_peel_type(), but stops at wchar_t.
TypeReader::Peeled TypeReader::peel(Dwarf_Die die) {
  Peeled peeled{die, false, false};
  for (unsigned i = 0; i < max_hops; ++i) {
    const int tag = ::dwarf_tag(&peeled.die);
    peeled.is_const = peeled.is_const || tag == DW_TAG_const_type;
    if (const auto type_unit = referenced_die(peeled.die, DW_AT_signature)) {
      peeled.die = *type_unit;
      continue;
    }
    if (tag == DW_TAG_typedef && name_of(peeled.die) == "wchar_t") {
      return peeled;
    }
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type && tag != DW_TAG_subrange_type) {
      return peeled;
    }
    auto next = type_of(peeled.die);
    const auto own_size = tag == DW_TAG_subrange_type ? unsigned_attribute(peeled.die, DW_AT_byte_size) : std::nullopt;
    if (!next || (own_size && own_size != unsigned_attribute(*next, DW_AT_byte_size))) {
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

std::optional<TypeReader::Value> TypeReader::value(Dwarf_Die die, unsigned depth) {
  Peeled peeled = peel(die);
  if (peeled.is_void || depth > max_depth || !spend()) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_pointer(tag) || tag == DW_TAG_unspecified_type) {
    const TypeId id = is_pointer(tag) ? stored_pointer(peeled.die, depth) : address();
    return Value{id, word_size_, static_cast<std::uint8_t>(word_size_)};
  }
  if (tag == DW_TAG_typedef) {  // wchar_t
    const auto real = type_of(peeled.die);
    return real ? value(*real, depth + 1) : std::nullopt;
  }
  const auto [known, is_new] = values_.try_emplace(peeled.die.addr);
  if (!is_new) {
    return known->second;  // empty for a type that contains itself
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
  values_[peeled.die.addr] = found;
  return found;
}

/// C++ passes objects with a non-trivial copy constructor or destructor by address. gcc does not record which classes
/// those are: they have such a user-provided function, a virtual table, or a member or base class that is one of them.
bool TypeReader::is_passed_by_address(Dwarf_Die die, unsigned depth) {
  if (const auto said = unsigned_attribute(die, DW_AT_calling_convention)) {
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
    if (tag == DW_TAG_subprogram && !flag_attribute(child, DW_AT_artificial) &&
        !::dwarf_hasattr(&child, DW_AT_defaulted)) {
      const std::string name = name_of(child);
      by_address = name.starts_with('~') || (name == own_name && is_copy_constructor(child, die));
    } else if (tag == DW_TAG_member && name_of(child).starts_with("_vptr")) {
      by_address = true;
    } else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && type && depth < max_depth &&
               !flag_attribute(child, DW_AT_external)) {
      Peeled part = peel(*type);
      by_address = !part.is_void && is_aggregate(::dwarf_tag(&part.die)) && is_passed_by_address(part.die, depth + 1);
    }
    return !by_address;
  });
  return by_address;
}

/// Whether the only parameter of a constructor is a reference to its own class.
bool TypeReader::is_copy_constructor(Dwarf_Die constructor, Dwarf_Die object) {
  unsigned count = 0;
  bool of_own_class = false;
  for_each_child(*this, constructor, [&](Dwarf_Die& child) {
    const auto type = type_of(child);
    if (::dwarf_tag(&child) == DW_TAG_formal_parameter && !flag_attribute(child, DW_AT_artificial) && type) {
      Peeled parameter = peel(*type);
      const int tag = ::dwarf_tag(&parameter.die);
      Peeled target = is_pointer(tag) && tag != DW_TAG_pointer_type ? target_of(parameter.die) : Peeled{};
      of_own_class = !target.is_void && target.die.addr == object.addr;
      ++count;
    }
    return count < 2;
  });
  return count == 1 && of_own_class;
}

std::optional<TypeReader::Parameter> TypeReader::parameter(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_aggregate(tag) && is_passed_by_address(peeled.die)) {
    const auto object = value(peeled.die, 0);
    return Parameter{object ? pointer_to(object->id, Direction::in) : address(), false, false};
  }
  if (!is_pointer(tag)) {
    const auto found = value(type, 0);
    return found && found->size != 0 ? std::optional(Parameter{found->id, false, false}) : std::nullopt;
  }
  return pointed_to(target_of(peeled.die)).value_or(Parameter{stored_pointer(peeled.die), false, false});
}

TypeReader::Parameter TypeReader::by_address(Dwarf_Die type) {
  return pointed_to(peel(type)).value_or(Parameter{address(), false, false});
}

/// Returns an empty value if only the address can be shown.
std::optional<TypeReader::Parameter> TypeReader::pointed_to(Peeled target) {
  if (target.is_void) {
    return std::nullopt;
  }
  const Direction pointer_direction = target.is_const ? Direction::in : Direction::out;
  const bool at_exit = !target.is_const && targets_ == Targets::of_arguments;
  if (is_character(target.die)) {
    return Parameter{string_pointer(at_exit ? Direction::out : Direction::in), at_exit, false};
  }
  if (is_wide_character(target.die) || ::dwarf_tag(&target.die) == DW_TAG_typedef) {
    const TypeId wide = into_.pointer_to_custom("wide_text");
    return Parameter{wide == spec::none ? address() : wide, at_exit, false};
  }
  const auto found = this->target(target, 0);
  if (!found) {
    return std::nullopt;
  }
  const int target_tag = ::dwarf_tag(&target.die);
  const bool is_number = target_tag == DW_TAG_base_type || target_tag == DW_TAG_enumeration_type;
  const Direction direction = is_number && !target.is_const ? Direction::inout : pointer_direction;
  return pointer_to_filled(*found, direction);
}

/// What the function may write is shown when it returns, unless all is shown at the entry.
TypeReader::Parameter TypeReader::pointer_to_filled(TypeId target, Direction direction) {
  const bool at_exit = direction != Direction::in && targets_ == Targets::of_arguments;
  return {pointer_to(target, at_exit ? direction : Direction::in), at_exit, at_exit && direction == Direction::inout};
}

std::optional<TypeId> TypeReader::target(Peeled& target, unsigned depth) {
  const int tag = ::dwarf_tag(&target.die);
  const bool is_byte = tag == DW_TAG_base_type && unsigned_attribute(target.die, DW_AT_byte_size) == 1;
  const bool is_stream = is_aggregate(tag) && name_of(target.die) == "_IO_FILE";
  if (is_byte || is_stream) {
    return std::nullopt;
  }
  const auto found = value(target.die, depth);
  if (found) {
    return found->id;
  }
  const auto being_read = structures_.find(target.die.addr);
  return being_read == structures_.end() ? std::nullopt : std::optional(being_read->second);
}

bool TypeReader::is_returned_by_hidden_pointer(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void || !is_aggregate(::dwarf_tag(&peeled.die)) || !is_passed_by_address(peeled.die)) {
    return false;
  }
  // What is as large as this is returned in memory, whatever its constructors are.
  constexpr std::uint64_t largest_in_registers = 16;
  const auto found = value(type, 0);
  return !found || (word_size_ != 4 && found->size <= largest_in_registers);
}

std::optional<TypeId> TypeReader::result(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_pointer(tag)) {
    return stored_pointer(peeled.die);
  }
  if (is_returned_by_hidden_pointer(type)) {
    return address();
  }
  const auto found = value(type, 0);
  return found && found->size != 0 ? std::optional(found->id) : std::nullopt;
}

}  // namespace tracer::debuginfo
