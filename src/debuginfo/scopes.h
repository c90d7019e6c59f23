// The scopes that contain a DIE or an address. All strings and walks are bounded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace tracer::debuginfo {

inline constexpr std::size_t max_name_size = 4096;

/// Returns a printable copy of the first max_name_size bytes; empty for null.
std::string bounded(const char* text);

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

/// Returns a scope and the scopes around it, up to the unit. `owner` owns the result.
std::span<Dwarf_Die> scopes_around(Dwarf_Die* die, Scopes& owner);

/// Returns the innermost scope at the address and the scopes around it, up to the unit. `owner` owns the result.
std::span<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address, Scopes& owner);

/// Returns the declaration of a function in its class or namespace; `die` itself if there is no other.
Dwarf_Die declaration_of(Dwarf_Die die);

}  // namespace tracer::debuginfo
