// Functions of an object, described as its debugging information has them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "debuginfo/debug_file.h"
#include "debuginfo/type_reader.h"
#include "spec/growing_tables.h"

namespace tracer::debuginfo {

class Prototypes {
 public:
  /// Null if it is no object that can be worked with. `name` as in DebugFile. Descriptions go to `into`, which outlives
  /// this.
  static std::unique_ptr<Prototypes> open(UniqueFd file, const std::string& name, spec::GrowingTables& into);

  /// The function whose code begins at `address`, as the object counts; null if nothing says what it takes.
  const spec::Call* at(std::uint64_t address, std::string_view name);
  /// A function that the object calls, as its source has declared it.
  const spec::Call* declared(std::string_view name);

 private:
  using FunctionsByEntry = std::unordered_map<Dwarf_Addr, Dwarf_Die>;

  Prototypes(UniqueFd file, ElfHandle elf, const std::string& name, spec::GrowingTables& into);
  const spec::Call* describe(Dwarf_Die function, std::string_view name);
  std::optional<TypeReader::Taken> take(Dwarf_Die parameter, const std::vector<Dwarf_Die>& all, bool may_be_address);
  static void find_functions(Dwarf_Die scope, unsigned depth, std::size_t& pieces, FunctionsByEntry& into);
  void find_declarations();

  UniqueFd descriptor_;  ///< what libdw reads from
  spec::GrowingTables& into_;
  TypeReader types_;
  DebugFile file_;
  std::unordered_map<Dwarf_Off, FunctionsByEntry> functions_;  ///< of units that were looked into
  std::unordered_map<std::string, Dwarf_Die> declarations_;    ///< by the name that linkers know
  bool declarations_known_ = false;
};

}  // namespace tracer::debuginfo
