// Symbols of a stripped file, from .gnu_debugdata or from a separate debugging file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "debuginfo/reader.h"
#include "functions/library/module_file.h"

namespace tracer::functions::library {

class DebugSymbols {
 public:
  /// Reads the functions of an object, from .gnu_debugdata or, if there is none, from its separate file. The result is
  /// never null.
  static std::shared_ptr<const DebugSymbols> read(debuginfo::ObjectFiles files, debuginfo::Reader& reader);

  DebugSymbols(const DebugSymbols&) = delete;
  DebugSymbols& operator=(const DebugSymbols&) = delete;

  [[nodiscard]] std::span<const Symbol> functions() const { return functions_; }

 private:
  DebugSymbols() = default;

  std::unordered_set<std::string> names_;  ///< storage of the symbols' names
  std::vector<Symbol> functions_;
};

}  // namespace tracer::functions::library
