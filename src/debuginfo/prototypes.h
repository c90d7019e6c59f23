// Functions of an object, described as its debugging information has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

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
  Prototypes(UniqueFd file, ElfHandle elf, const std::string& name, spec::GrowingTables& into);
  const spec::Call* describe(Dwarf_Die function, std::string_view name);
  void find_declarations();

  UniqueFd descriptor_;  ///< what libdw reads from
  spec::GrowingTables& into_;
  TypeReader types_;
  DebugFile file_;
  std::unordered_map<std::string, Dwarf_Off> declarations_;  ///< by the name that linkers know
  bool declarations_known_ = false;
};

}  // namespace tracer::debuginfo
