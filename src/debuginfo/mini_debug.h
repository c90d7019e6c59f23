// Reads .gnu_debugdata ("MiniDebugInfo"): an xz-compressed ELF file with the symbols of a stripped object.
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "debuginfo/elf_handle.h"
#include "debuginfo/reader.h"

namespace tracer::debuginfo {

/// Returns the decompressed file; empty if there is none or it is too large. For the reader process.
std::vector<char> mini_debug_file(Elf* elf);

/// Has the reader process decompress the file that `elf` has; nothing is asked if it has none. `file`: a descriptor of
/// the object, whose path is `name`.
std::vector<char> read_mini_debug_file(Elf* elf, UniqueFd file, const std::string& name, Reader& reader);

}  // namespace tracer::debuginfo
