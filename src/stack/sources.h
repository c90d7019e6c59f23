// Where code comes from: source lines, inlined functions and full symbol tables, from the file itself or from a
// separate file of debugging information.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debuginfo/debug_file.h"

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
  /// See debuginfo::DebugFile.
  Sources(debuginfo::ElfHandle elf, const std::string& name);
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  /// The functions at an address as the object itself counts them: inlined ones from the inside out, then the one that
  /// has a symbol. `behind`: the address is so far behind the code that is meant.
  const std::vector<SourcePlace>& at(std::uint64_t address, unsigned behind);
  void forget_if_many();

 private:
  static constexpr std::size_t most_places = 1 << 16;

  [[nodiscard]] std::vector<SourcePlace> find(std::uint64_t address, unsigned behind) const;

  debuginfo::DebugFile file_;
  std::unordered_map<std::uint64_t, std::vector<SourcePlace>> places_;
};

}  // namespace tracer::stack
