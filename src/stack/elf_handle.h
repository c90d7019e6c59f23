// Owners of what libelf and libdw hand out, and whether a file is one that they should be given.
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>

#include <memory>

namespace tracer::stack {

struct EndElf {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, EndElf>;

struct EndCfi {
  void operator()(Dwarf_CFI* cfi) const { ::dwarf_cfi_end(cfi); }
};
using CfiHandle = std::unique_ptr<Dwarf_CFI, EndCfi>;

/// Whether libelf can be trusted with it: an object for a machine of word size 4 or 8, of bounded tables. A tracee's
/// file may claim sections of any size.
bool is_modest(Elf* elf);

/// Whether libdw can be trusted with its call frame information: register numbers and nesting within reason. (It makes
/// room for 100 million registers where a frame names that many.)
bool has_modest_call_frames(Elf* elf);

}  // namespace tracer::stack
