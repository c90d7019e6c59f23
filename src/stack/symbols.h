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
  std::string_view name;  ///< as in the file (mangled), of bounded length
  std::uint64_t start = 0;
};

class SymbolTable {
 public:
  /// Adds the functions of all symbol tables in `elf`, which must outlive this.
  void add(Elf* elf);

  /// Returns the function that `address` lies in, by the size that its symbol has: of several, the one with the highest
  /// start, and of those the first in the file.
  [[nodiscard]] std::optional<Symbol> around(std::uint64_t address) const;

 private:
  void read(Elf* elf);
  struct Entry {
    std::uint64_t start;
    std::uint64_t size;     ///< in bytes, not zero
    std::uint32_t order;    ///< position in the file
    std::uint32_t name;     ///< offset in the string table
    std::uint16_t strings;  ///< index into strings_
  };
  struct Strings {
    Elf* elf;
    std::size_t section;
  };
  static constexpr std::size_t max_symbols = 8'000'000;
  static constexpr int max_nested = 64;  ///< symbols that begin between a function's start and an address in it

  std::vector<Entry> entries_;  ///< sorted by start and by place in the file, without duplicates
  std::vector<Strings> strings_;
};

/// Demangles C++ and Rust names and returns any other name as it is, both made printable.
std::string demangle(std::string_view name);

}  // namespace tracer::stack
