#include "debuginfo/attributes.h"

#include <dwarf.h>

#include "debuginfo/scopes.h"

namespace tracer::debuginfo {

std::string name_of(Dwarf_Die& die) {
  return bounded(::dwarf_diename(&die));
}

std::string linkage_name(Dwarf_Die& function) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (::dwarf_attr_integrate(&function, attribute, &value) != nullptr) {
      return bounded(::dwarf_formstring(&value));
    }
  }
  return bounded(::dwarf_diename(&function));
}

std::optional<std::uint64_t> unsigned_attribute(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word word = 0;
  return ::dwarf_attr(&die, attribute, &value) != nullptr && ::dwarf_formudata(&value, &word) == 0
             ? std::optional<std::uint64_t>(word)
             : std::nullopt;
}

bool flag_attribute(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  bool set = false;
  return ::dwarf_attr(&die, attribute, &value) != nullptr && ::dwarf_formflag(&value, &set) == 0 && set;
}

std::optional<Dwarf_Die> referenced_die(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Die found;
  return ::dwarf_attr(&die, attribute, &value) != nullptr && ::dwarf_formref_die(&value, &found) != nullptr
             ? std::optional(found)
             : std::nullopt;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute value;
  Dwarf_Die type;
  // libdw follows a bounded number of DW_AT_abstract_origin and DW_AT_specification references.
  return ::dwarf_attr_integrate(&die, DW_AT_type, &value) != nullptr && ::dwarf_formref_die(&value, &type) != nullptr
             ? std::optional(type)
             : std::nullopt;
}

std::optional<std::uint64_t> offset_of(Dwarf_Die& member) {
  Dwarf_Attribute attribute;
  if (::dwarf_attr(&member, DW_AT_data_member_location, &attribute) == nullptr) {
    return 0;
  }
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (const auto constant = unsigned_attribute(member, DW_AT_data_member_location)) {
    return constant;
  }
  const bool is_sum =
      ::dwarf_getlocation(&attribute, &operations, &count) == 0 && count == 1 && operations->atom == DW_OP_plus_uconst;
  return is_sum ? std::optional<std::uint64_t>(operations->number) : std::nullopt;
}

bool is_pointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool is_aggregate(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_character(Dwarf_Die& die) {
  return ::dwarf_tag(&die) == DW_TAG_base_type && unsigned_attribute(die, DW_AT_byte_size) == 1 &&
         name_of(die) == "char";
}

bool is_standard_string(Dwarf_Die& die) {
  return is_aggregate(::dwarf_tag(&die)) && name_of(die).starts_with("basic_string<char,");
}

bool is_wide_character(Dwarf_Die& die) {
  return ::dwarf_tag(&die) == DW_TAG_base_type && name_of(die) == "wchar_t";
}

}  // namespace tracer::debuginfo
