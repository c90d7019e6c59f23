// Where code comes from: source lines, inlined functions and full symbol tables, from the file itself or from a
// separate file of debugging information.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stack/elf_handle.h"

namespace tracer::stack {

/// A function that code belongs to. Texts are bounded.
struct SourcePlace {
  std::string function;  ///< demangled; empty if unknown
  std::uint64_t offset = 0;
  std::string file;   ///< as the compiler was given it; empty if unknown
  unsigned line = 0;  ///< 0 if unknown
  bool inlined = false;
};

class Sources {
 public:
  /// `elf` goes with this, and must not be in use elsewhere. `name` is its file, for a separate file next to it.
  ///
  /// A separate file is found as gdb finds it, by build-id and by .gnu_debuglink, and from the servers of
  /// $DEBUGINFOD_URLS, if that is set; .gnu_debugdata is read as well.
  Sources(ElfHandle elf, const std::string& name);
  ~Sources();
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  /// The functions at an address as the object itself counts them: inlined ones from the inside out, then the one that
  /// has a symbol. `behind`: the address is so far behind the code that is meant.
  const std::vector<SourcePlace>& at(std::uint64_t address, unsigned behind);
  void forget_if_many();

 private:
  struct EndDwfl {
    void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
  };
  static constexpr std::size_t most_places = 1 << 16;

  static int give_elf(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, char** file, Elf** elf);
  [[nodiscard]] std::vector<SourcePlace> find(std::uint64_t address, unsigned behind) const;
  [[nodiscard]] Dwarf_Die* unit_of(std::uint64_t address, Dwarf_Addr& bias) const;

  ElfHandle elf_;  ///< until libdw takes it over
  std::string name_;
  Dwfl_Callbacks callbacks_{};
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<SourcePlace>> places_;
};

}  // namespace tracer::stack
