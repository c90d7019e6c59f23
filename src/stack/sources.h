// Source lines, inlined functions and full symbol tables, from the object itself or a separate debugging file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debuginfo/reader.h"

namespace tracer::stack {

/// The function and the source line of an instruction. All strings are bounded.
struct SourceLocation {
  std::string function;  ///< demangled; empty if unknown
  std::uint64_t offset = 0;
  std::string file;   ///< path as the compiler recorded it; empty if unknown
  unsigned line = 0;  ///< 0 if unknown
  bool inlined = false;
};

class Sources {
 public:
  /// `reader` outlives this.
  Sources(debuginfo::ObjectFiles files, debuginfo::Reader& reader) : file_(std::move(files)), reader_(reader) {}
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  /// Returns the functions at an address in the object file: inlined ones, innermost first, then the one that contains
  /// them. `adjustment` is 1 for a return address, which is after the call, and 0 otherwise.
  const std::vector<SourceLocation>& at(std::uint64_t address, unsigned adjustment);
  /// Clears the cache if it has become too large.
  void trim_cache();

 private:
  static constexpr std::size_t max_locations = 1 << 16;
  static constexpr std::size_t max_bytes = std::size_t{8} << 20;  // of names, beyond what one walk adds

  std::vector<SourceLocation> find(std::uint64_t address, unsigned adjustment);

  debuginfo::ReadFile file_;
  debuginfo::Reader& reader_;
  std::unordered_map<std::uint64_t, std::vector<SourceLocation>> locations_;
  std::size_t bytes_ = 0;
};

}  // namespace tracer::stack
