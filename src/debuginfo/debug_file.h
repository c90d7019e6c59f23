// The debugging information of an object: in the file itself, or in a separate one.
#pragma once

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>

#include "debuginfo/elf_handle.h"

namespace tracer::debuginfo {

class DebugFile {
 public:
  /// `elf` goes with this, and must not be in use elsewhere. `name` is its file, for a separate file next to it.
  ///
  /// A separate file is found as gdb finds it, by build-id and by .gnu_debuglink, and from the servers of
  /// $DEBUGINFOD_URLS, if that is set; .gnu_debugdata is read as well. Nothing is looked for before it is needed.
  DebugFile(ElfHandle elf, const std::string& name);
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  /// What libdw calls it; its addresses are those that the object itself has. Null where libdw cannot work with it.
  [[nodiscard]] Dwfl_Module* module() const { return module_; }
  /// The unit that has code at the address, or null. `bias`: what to take from the object's addresses to get those of
  /// the unit.
  [[nodiscard]] Dwarf_Die* unit_of(std::uint64_t address, Dwarf_Addr& bias) const;

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
  };

  static int give_elf(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, char** file, Elf** elf);

  ElfHandle elf_;  ///< until libdw takes it over
  std::string name_;
  Dwfl_Callbacks callbacks_{};
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace tracer::debuginfo
