// Finds the structures that descriptions take from the kernel's own type information: `struct NAME from btf`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sysc/source.h"

namespace tracer::sysc {

/// Precedes the names of such structures, so that they do not collide with those of descriptions.
inline constexpr const char* btf_prefix = "btf_";

/// Returns the names, each once and without the prefix. What is no description is left to whoever parses it.
std::vector<std::string> names_from_btf(std::span<const Source> sources);

}  // namespace tracer::sysc
