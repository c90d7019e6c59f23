// Owners of what libelf and libdw hand out, and whether a file is one that they should be given.
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>

#include <memory>
#include <vector>

namespace tracer::debuginfo {

struct EndElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

struct EndCfi {
  void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
};
using CfiHandle = std::unique_ptr<Dwarf_CFI, EndCfi>;

/// Opens an object for a machine of word size 4 or 8 that libelf can be trusted with: a tracee's file may claim tables
/// of any size. Null for any other. The handle reads from `file`, or `image`, for as long as it lives.
ElfHandle open_elf(int file);
ElfHandle open_elf(std::vector<char>& image);

/// Whether libdw can be trusted with its call frame information: register numbers and nesting within reason. (It makes
/// room for 100 million registers where a frame names that many.)
bool has_modest_call_frames(Elf* elf);

}  // namespace tracer::debuginfo
