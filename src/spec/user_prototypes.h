// The names of the libraries that the user's prototypes (ltrace.conf) are compiled into. No module has such a name.
#pragma once

#include <string>
#include <string_view>

namespace tracer::spec {

inline constexpr std::string_view for_all_modules = "*";
/// All of them: what a call through a PLT finds if no better one is known, as in ltrace.
inline constexpr std::string_view for_some_module = "*?";

/// Those for a soname, or for a soname without the numbers at its end.
inline std::string for_module(std::string_view name) {
  return "*@" + std::string(name);
}

}  // namespace tracer::spec
