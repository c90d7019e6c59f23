// What pieces of debugging information say of themselves. All texts are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tracer::debuginfo {

std::string name_of(Dwarf_Die& die);
std::optional<std::uint64_t> number(Dwarf_Die& die, unsigned attribute);
bool flag(Dwarf_Die& die, unsigned attribute);
/// What one of its attributes refers to.
std::optional<Dwarf_Die> referred(Dwarf_Die& die, unsigned attribute);
/// Its own or, of an abstract instance or a declaration, the one of what it stands for.
std::optional<Dwarf_Die> type_of(Dwarf_Die& die);

// By the tag of a piece.
bool is_pointer(int tag);  ///< or a reference
bool is_aggregate(int tag);

bool is_character(Dwarf_Die& die);
bool is_wide_character(Dwarf_Die& die);
bool is_standard_string(Dwarf_Die& die);  ///< of C++

/// For each child of a piece, while there are any and the reader has patience left.
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
