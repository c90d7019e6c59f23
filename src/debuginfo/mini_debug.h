// Reads .gnu_debugdata ("MiniDebugInfo"): an xz-compressed ELF file with the symbols of a stripped object.
#pragma once

#include <vector>

#include "debuginfo/elf_handle.h"

namespace tracer::debuginfo {

/// Returns the decompressed file; empty if there is none or it is too large.
std::vector<char> mini_debug_file(Elf* elf);

}  // namespace tracer::debuginfo
