// Symbols of a stripped file, from .gnu_debugdata or from a separate debugging file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/unique_fd.h"
#include "library/module_file.h"

namespace tracer::library {

class DebugSymbols {
 public:
  /// Reads the symbols of the object `file`, whose path is `path`. If there is no .gnu_debugdata and `separate` is set,
  /// searches for a separate file like debuginfo::DebugFile. The result is never null.
  static std::shared_ptr<const DebugSymbols> read(UniqueFd file, const std::string& path, bool separate);

  DebugSymbols(const DebugSymbols&) = delete;
  DebugSymbols& operator=(const DebugSymbols&) = delete;

  [[nodiscard]] std::span<const Symbol> functions() const { return functions_; }

 private:
  friend class DebugSymbolReader;
  DebugSymbols() = default;

  std::unordered_set<std::string> names_;  ///< storage of the symbols' names
  std::vector<Symbol> functions_;
};

}  // namespace tracer::library
