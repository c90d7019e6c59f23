#pragma once

#include <cstdint>

namespace tracer::debuginfo {

/// What is shown of the objects that pointers lead to.
enum class Targets : std::uint8_t {
  of_arguments,  ///< those of arguments, at the return if the function may have filled them in
  of_all,        ///< as ltrace does: those of all pointers, of results and in structures, too; at the entry
};

}  // namespace tracer::debuginfo
