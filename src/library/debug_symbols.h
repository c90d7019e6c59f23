// Functions that a stripped file does not name itself: .gnu_debugdata does, or a separate file of debugging
// information.
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
  /// Of the object that `file` refers to and that is called `path`. `separate`: a separate file is looked for, as
  /// debuginfo::DebugFile does, where there is no .gnu_debugdata. Never null.
  static std::shared_ptr<const DebugSymbols> read(UniqueFd file, const std::string& path, bool separate);

  DebugSymbols(const DebugSymbols&) = delete;
  DebugSymbols& operator=(const DebugSymbols&) = delete;

  [[nodiscard]] std::span<const Symbol> functions() const { return functions_; }

 private:
  friend class DebugSymbolReader;
  DebugSymbols() = default;

  std::unordered_set<std::string> names_;  ///< what the symbols' names refer to
  std::vector<Symbol> functions_;
};

}  // namespace tracer::library
