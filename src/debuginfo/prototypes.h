// Descriptions of an object's functions, made from its debugging information.
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
  /// For the reader process: see DebugFile. Descriptions are added to `into`, which must outlive this.
  Prototypes(ObjectFiles& files, spec::GrowingTables& into, Targets targets);

  /// Describes the function that starts at `address` in the object file; null if its parameters are unknown.
  const spec::Call* find_definition(std::uint64_t address, std::string_view name);
  /// Describes a function that the object calls, by its declaration; null if there is none.
  const spec::Call* find_declaration(std::string_view name);

 private:
  using FunctionsByEntry = std::unordered_map<Dwarf_Addr, Dwarf_Die>;

  const spec::Call* describe(Dwarf_Die function, std::string_view name);
  std::optional<TypeReader::Parameter> describe_parameter(Dwarf_Die parameter, const std::vector<Dwarf_Die>& all,
                                                          int language);
  static void find_functions(Dwarf_Die scope, unsigned depth, std::size_t& pieces, FunctionsByEntry& into);
  void find_declarations();
  bool has_types(Dwarf_Die function);

  spec::GrowingTables& into_;
  DebugFile file_;
  TypeReader types_;
  std::unordered_map<Dwarf_Off, FunctionsByEntry> functions_;  ///< by offset of units that were read
  std::unordered_map<std::string, Dwarf_Die> declarations_;    ///< by linkage name
  bool declarations_known_ = false;
  std::unordered_map<Dwarf_Off, bool> have_types_;  ///< by offset of units
};

}  // namespace tracer::debuginfo
