#include "debuginfo/scopes.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "base/printable.h"
#include "debuginfo/attributes.h"

namespace tracer::debuginfo {

std::string bounded(const char* text) {
  return text == nullptr ? std::string() : printable({text, ::strnlen(text, max_name_size)});
}

std::span<Dwarf_Die> scopes_around(Dwarf_Die* die, Scopes& owner) {
  Dwarf_Die* all = nullptr;
  const int count = ::dwarf_getscopes_die(die, &all);
  owner.reset(count > 0 ? all : nullptr);
  return {owner.get(), static_cast<std::size_t>(std::max(count, 0))};
}

Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int max_hops = 8;
  for (int i = 0; i < max_hops; ++i) {
    const auto origin = referenced_die(die, DW_AT_abstract_origin);
    const auto next = origin ? origin : referenced_die(die, DW_AT_specification);
    if (!next) {
      break;
    }
    die = *next;
  }
  return die;
}

std::span<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address, Scopes& owner) {
  Dwarf_Die* inner = nullptr;
  if (::dwarf_getscopes(unit, address, &inner) <= 0) {
    return {};
  }
  const Scopes innermost(inner);
  // dwarf_getscopes() returns the callers of an inlined function; dwarf_getscopes_die() returns the lexical scopes.
  return scopes_around(inner, owner);
}

}  // namespace tracer::debuginfo
