// The functions of an object, by address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "debuginfo/elf_handle.h"

namespace tracer::stack {

struct Symbol {
  std::string_view name;  ///< as in the file, of bounded length
  std::uint64_t start = 0;
};

class SymbolTable {
 public:
  /// Adds the functions of all symbol tables in `elf`, which outlives this.
  void add(Elf* elf);

  /// The function that starts at `address` or, however far that is, next before it. Among several at one place the
  /// first in the file.
  [[nodiscard]] std::optional<Symbol> before(std::uint64_t address) const;

 private:
  struct Entry {
    std::uint64_t start;
    std::uint32_t order;
    std::uint32_t name;     ///< in the string table
    std::uint16_t strings;  ///< into strings_
  };
  struct Strings {
    Elf* elf;
    std::size_t section;
  };
  static constexpr std::size_t most_symbols = 8'000'000;

  std::vector<Entry> entries_;  ///< sorted; one for each start
  std::vector<Strings> strings_;
};

/// C++ and Rust names as people write them; any other as it is.
std::string demangle(std::string_view name);

}  // namespace tracer::stack
