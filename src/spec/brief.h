// Words that a description gives an array in place of the one that is counted (Type::brief).
#pragma once

#include <string_view>

namespace tracer::spec {

/// The word of `brief all`: all elements show, whatever -s says.
inline constexpr std::string_view brief_all = "*";

}  // namespace tracer::spec
