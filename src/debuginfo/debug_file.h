// The debugging information of an object, from the file itself or from a separate file.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>

#include "debuginfo/elf_handle.h"

namespace tracer::debuginfo {

class DebugFile {
 public:
  /// Takes ownership of `elf`, which must not be in use elsewhere. `name` is the path of the file; a separate file may
  /// be next to it.
  ///
  /// A separate file is searched for like in gdb: by build ID, by .gnu_debuglink, and on the servers of
  /// $DEBUGINFOD_URLS if that is set. .gnu_debugdata is read as well. The search starts when the information is first
  /// needed.
  DebugFile(ElfHandle elf, const std::string& name);
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  /// Returns the module, whose addresses are those in the object file. Null if libdw rejects the object.
  [[nodiscard]] Dwfl_Module* module() const { return module_; }
  /// Returns the unit with code at the address, or null. Sets `bias`: an address in the object minus `bias` is the
  /// address in the unit.
  [[nodiscard]] Dwarf_Die* unit_of(std::uint64_t address, Dwarf_Addr& bias) const;

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
  };

  static int find_elf(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, char** file, Elf** elf);

  ElfHandle elf_;  ///< null once libdw owns it
  std::string name_;
  Dwfl_Callbacks callbacks_{};
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace tracer::debuginfo
