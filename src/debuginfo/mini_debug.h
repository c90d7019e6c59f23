// .gnu_debugdata: symbols that a distribution leaves in a stripped file, an ELF file of their own compressed by xz.
#pragma once

#include <vector>

#include "debuginfo/elf_handle.h"

namespace tracer::debuginfo {

/// The file in the section; empty where there is none, or none of reasonable size.
std::vector<char> mini_debug_file(Elf* elf);

}  // namespace tracer::debuginfo
