// Owners of libelf and libdw handles, and checks that a file is safe to pass to these libraries.
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

/// Opens an ELF object if its tables have reasonable sizes; otherwise returns null. A tracee's file may claim tables of
/// any size, for which libelf would allocate memory. The handle reads from `file` or `image` for as long as it lives.
ElfHandle open_elf(int file);
/// Maps the file, which is for the reader process: if its owner truncates it, the process gets SIGBUS.
ElfHandle map_elf(int file);
ElfHandle open_elf(std::vector<char>& image);
/// Opens a program or library by its segments alone, which are what the loader reads. Removes the section headers from
/// the image: they may be damaged.
ElfHandle open_elf_without_sections(std::vector<char>& image);

/// Whether the register numbers and the nesting in the call frame information are within limits. libdw would allocate
/// memory for 100 million registers if a frame names that many.
bool has_bounded_call_frames(Elf* elf);

}  // namespace tracer::debuginfo
