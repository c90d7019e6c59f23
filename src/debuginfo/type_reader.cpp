#include "debuginfo/type_reader.h"

#include <dwarf.h>

#include <string>

#include "debuginfo/attributes.h"
#include "debuginfo/standard_types.h"

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

/// What a class declares that decides how it is passed.
struct TypeReader::SpecialMembers {
  bool provided = false;  ///< a destructor, or a constructor that copies or moves, has code of its own
  bool copies = false;    ///< a constructor that copies is declared
  bool moves = false;  ///< a constructor or an operator that moves is declared, so that nothing copies unless declared
  bool can_be_made = false;       ///< one that copies or moves is declared, and is not deleted
  bool unclear = false;           ///< a constructor may copy, if its further parameters have default arguments
  bool trivial_by_parts = false;  ///< one without code is declared for the case that the parts are trivial
};

namespace {

/// True if a function is only there where what is within is trivial, as of GCC's std::optional: `requires
/// is_trivially_copy_constructible_v<T>`.
bool requires_trivial_parts(Dwarf_Die function) {
  const std::string name = linkage_name(function);
  const std::size_t at = name.find("is_trivially_");
  const std::size_t before = at == std::string::npos ? at : name.find_last_not_of("0123456789", at - 1);
  return before != std::string::npos && name[before] == 'Q';
}

}  // namespace

/// C++ passes objects by address whose destructor or constructors that copy and move are not trivial, or that nothing
/// can copy or move (Itanium C++ ABI, 3.1.1). clang records which classes those are, gcc does not: they declare such a
/// function, have a virtual table, or a member or base class that is one of them.
std::optional<bool> TypeReader::is_passed_by_address(Dwarf_Die die, unsigned depth) {
  if (const auto said = unsigned_attribute(die, DW_AT_calling_convention)) {
    return *said == DW_CC_pass_by_reference;
  }
  if (is_standard_string(die)) {
    return true;
  }
  SpecialMembers members;
  std::optional<bool> by_part = false;
  for_each_child(*this, die, [&](Dwarf_Die& child) {
    const int tag = ::dwarf_tag(&child);
    const auto type = type_of(child);
    if (tag == DW_TAG_subprogram) {
      add_special_member(child, die, members);
    } else if (tag == DW_TAG_member && name_of(child).starts_with("_vptr")) {
      by_part = true;
    } else if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && type && depth < max_depth &&
               !flag_attribute(child, DW_AT_external)) {
      Peeled part = peel(*type);
      const bool is_class = !part.is_void && is_aggregate(::dwarf_tag(&part.die));
      const auto own = is_class ? is_passed_by_address(part.die, depth + 1) : std::optional(false);
      by_part = own == false ? by_part : own;
    }
    return by_part != true;
  });
  if (by_part == true || (members.provided && !members.trivial_by_parts) ||
      (!members.can_be_made && (members.copies || members.moves))) {
    return true;
  }
  return by_part == false && !members.unclear ? std::optional(false) : std::nullopt;
}

void TypeReader::add_special_member(Dwarf_Die function, Dwarf_Die object, SpecialMembers& members) {
  const std::string name = name_of(function);
  const bool is_constructor = name == name_of(object).substr(0, name_of(object).find('<'));
  const bool is_destructor = name.starts_with('~');
  if (flag_attribute(function, DW_AT_artificial) || (!is_constructor && !is_destructor && name != "operator=")) {
    return;
  }
  unsigned count = 0;
  int reference = 0;  // the tag of the first parameter, if that refers to an object of this class
  for_each_child(*this, function, [&](Dwarf_Die& child) {
    const auto type = type_of(child);
    if (::dwarf_tag(&child) == DW_TAG_formal_parameter && !flag_attribute(child, DW_AT_artificial) && type) {
      Peeled parameter = peel(*type);
      const int tag = parameter.is_void ? 0 : ::dwarf_tag(&parameter.die);
      Peeled target = is_pointer(tag) && tag != DW_TAG_pointer_type ? target_of(parameter.die) : Peeled{};
      reference = count == 0 && !target.is_void && target.die.addr == object.addr ? tag : reference;
      ++count;
    }
    return count < 2;
  });
  const bool is_move = reference == DW_TAG_rvalue_reference_type;
  if (!is_destructor && reference == 0) {
    return;
  }
  members.moves = members.moves || is_move;
  if (!is_destructor && (!is_constructor || count != 1)) {
    members.unclear = members.unclear || is_constructor;
    return;
  }
  const bool is_deleted = flag_attribute(function, DW_AT_deleted);
  const bool is_defaulted = unsigned_attribute(function, DW_AT_defaulted) == std::uint64_t{DW_DEFAULTED_in_class};
  members.provided = members.provided || (!is_deleted && !is_defaulted);
  members.trivial_by_parts = members.trivial_by_parts || (is_defaulted && requires_trivial_parts(function));
  members.copies = members.copies || (is_constructor && !is_move);
  members.can_be_made = members.can_be_made || (is_constructor && !is_deleted);
}

std::optional<TypeReader::Parameter> TypeReader::parameter(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  const auto by_address = is_aggregate(tag) ? is_passed_by_address(peeled.die) : std::optional(false);
  if (!by_address) {
    return std::nullopt;
  }
  if (*by_address) {
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

std::optional<TypeId> TypeReader::result(Dwarf_Die type) {
  Peeled peeled = peel(type);
  if (peeled.is_void) {
    return std::nullopt;
  }
  const int tag = ::dwarf_tag(&peeled.die);
  if (is_pointer(tag)) {
    return stored_pointer(peeled.die);
  }
  const auto by_address = is_aggregate(tag) ? is_passed_by_address(peeled.die) : std::optional(false);
  const auto found = by_address ? value(type, 0) : std::nullopt;
  if (!found || found->size == 0) {
    return std::nullopt;
  }
  return *by_address ? StandardTypes(*this).in_memory(*found).id : found->id;
}

}  // namespace tracer::debuginfo
