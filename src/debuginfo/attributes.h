// Attributes of debugging information entries (DIEs). All strings are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::debuginfo {

std::string name_of(Dwarf_Die& die);
std::string linkage_name(Dwarf_Die& function);  ///< its name where it has no other
std::optional<std::uint64_t> unsigned_attribute(Dwarf_Die& die, unsigned attribute);
bool flag_attribute(Dwarf_Die& die, unsigned attribute);
/// Returns the DIE that an attribute refers to.
std::optional<Dwarf_Die> referenced_die(Dwarf_Die& die, unsigned attribute);
/// Returns the DW_AT_type of a DIE or of its abstract origin or specification.
std::optional<Dwarf_Die> type_of(Dwarf_Die& die);

/// Returns the offset of a member in bytes; empty if it is not constant, as for a virtual base class.
std::optional<std::uint64_t> offset_of(Dwarf_Die& member);
bool is_pointer(int tag);  ///< true for references too
bool is_aggregate(int tag);

bool is_character(Dwarf_Die& die);
bool is_wide_character(Dwarf_Die& die);
bool is_standard_string(Dwarf_Die& die);  ///< std::string of C++

/// Calls `function` for each child of a DIE until it returns false or `reader.spend()` does.
template <typename Reader, typename Function>
void for_each_child(Reader& reader, Dwarf_Die parent, Function function) {
  Dwarf_Die child;
  int more = ::dwarf_child(&parent, &child);
  while (more == 0 && reader.spend() && function(child)) {
    Dwarf_Die next;
    more = ::dwarf_siblingof(&child, &next);
    child = next;
  }
}

}  // namespace tracer::debuginfo
