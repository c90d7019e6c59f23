// Where in a program's text a piece of debugging information stands. All texts and walks are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace tracer::debuginfo {

inline constexpr std::size_t longest_name = 4096;

/// A copy, cut at longest_name; empty for null.
std::string bounded(const char* text);

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

/// A scope and those around it, up to the unit. They belong to `owner`.
std::span<Dwarf_Die> scopes_around(Dwarf_Die* die, Scopes& owner);

/// The innermost scope at the address and those around it, up to the unit.
std::span<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address, Scopes& owner);

/// Where a function is declared, in its class or namespace.
Dwarf_Die declaration_of(Dwarf_Die die);

}  // namespace tracer::debuginfo
