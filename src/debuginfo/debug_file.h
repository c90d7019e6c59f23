// The debugging information of an object, from the file itself or from a separate file.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>

#include "debuginfo/elf_handle.h"
#include "debuginfo/reader.h"

namespace tracer::debuginfo {

class DebugFile {
 public:
  /// Takes the separate file, and refers to the other files for as long as it lives. For the reader process: libdw may
  /// need any memory and time, and searches for files by itself, which that process cannot open.
  explicit DebugFile(ObjectFiles& files);
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  /// Returns the module, whose addresses are those in the object file. Null if libdw rejects the object.
  [[nodiscard]] Dwfl_Module* module() const { return module_; }
  /// Returns the size of an address in the object, in bytes.
  [[nodiscard]] unsigned word_size() const { return word_size_; }
  /// Returns the unit with code at the address, or null. Sets `bias`: an address in the object minus `bias` is the
  /// address in the unit.
  [[nodiscard]] Dwarf_Die* unit_of(std::uint64_t address, Dwarf_Addr& bias) const;

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
  };
  struct EndDwarf {
    void operator()(Dwarf* dwarf) const { ::dwarf_end(dwarf); }
  };

  static int find_elf(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, char** file, Elf** elf);
  static int find_separate_file(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file,
                                const char* link, GElf_Word checksum, char** found);

  ElfHandle elf_;  ///< null once libdw owns it
  ElfHandle alternate_elf_;
  std::unique_ptr<Dwarf, EndDwarf> alternate_;
  UniqueFd debug_;
  std::string name_;
  unsigned word_size_ = 8;
  Dwfl_Callbacks callbacks_{};
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace tracer::debuginfo
