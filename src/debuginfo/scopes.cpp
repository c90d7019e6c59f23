#include "debuginfo/scopes.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "debuginfo/attributes.h"

namespace tracer::debuginfo {

std::string bounded(const char* text) {
  return text == nullptr ? std::string() : std::string(text, ::strnlen(text, longest_name));
}

std::span<Dwarf_Die> scopes_around(Dwarf_Die* die, Scopes& owner) {
  Dwarf_Die* all = nullptr;
  const int count = ::dwarf_getscopes_die(die, &all);
  owner.reset(count > 0 ? all : nullptr);
  return {owner.get(), static_cast<std::size_t>(std::max(count, 0))};
}

Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int most_hops = 8;
  for (int i = 0; i < most_hops; ++i) {
    const auto origin = referred(die, DW_AT_abstract_origin);
    const auto next = origin ? origin : referred(die, DW_AT_specification);
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
  // What is around an inlined function is what calls it, not what it is written in.
  return scopes_around(inner, owner);
}

}  // namespace tracer::debuginfo
