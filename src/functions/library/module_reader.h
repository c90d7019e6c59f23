// Reads a ModuleFile from an ELF file. For src/library only.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "functions/library/module_file.h"

namespace tracer::functions::library {

// Limits that no real program reaches. The rest of a file that exceeds them is ignored.
inline constexpr std::size_t max_segments = 256;
inline constexpr std::size_t max_dynamic_entries = 4096;
inline constexpr std::size_t max_symbols = std::size_t{1} << 22;
inline constexpr std::size_t max_slots = std::size_t{1} << 20;
inline constexpr std::size_t max_name_bytes = std::size_t{1} << 28;
inline constexpr std::size_t max_name_size = 16384;
inline constexpr std::size_t max_made_bytes = std::size_t{16} << 20;  ///< of names that are made printable
inline constexpr std::uint64_t max_code = std::uint64_t{1} << 30;
inline constexpr std::size_t max_sections = 65536;

/// Reads one file. read() is called once.
class ModuleReader {
 public:
  ModuleReader(Elf* elf, std::uint64_t file_size, ModuleFile& into)
      : elf_(elf), left_(2 * file_size + smallest_budget), file_(into) {}

  bool read();

 private:
  struct Dynamic {
    std::uint64_t names = 0, names_size = 0, symbols = 0, hash = 0, gnu_hash = 0, versions = 0, got = 0, soname = ~0ULL;
    std::uint64_t jumps = 0, jumps_size = 0, rela = 0, rela_size = 0, rel = 0, rel_size = 0;
    bool jumps_are_rela = false;
    bool is_there = false;
  };

  void read_segments();
  void read_dynamic(const GElf_Phdr& segment);
  void read_names();
  void read_symbols();
  void read_relocations(std::uint64_t address, std::uint64_t size, bool with_addend);
  /// For a program without PT_DYNAMIC.
  void read_relocation_sections();
  void read_slot_contents();
  void name_own_slots();
  void read_full_symbols();
  /// Gives all symbols at an address the size of the largest.
  void unite_sizes();
  void read_section_names();
  void find_stubs();
  template <typename Use>
  void for_each_relocation(std::uint64_t address, std::uint64_t size, bool with_addend, Use use) const;
  [[nodiscard]] std::uint64_t count_symbols() const;
  [[nodiscard]] std::uint64_t count_relocated_symbols() const;
  template <typename Word>
  [[nodiscard]] std::uint64_t count_hashed_symbols(Word word) const;
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  /// Returns how many bytes the segment has from there on.
  [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;
  /// Returns data that `elf_` owns, and keeps to the end; null if the file is too short, or more was read than its
  /// parts can need, which may overlap.
  Elf_Data* data_at(std::uint64_t offset, std::uint64_t size, Elf_Type type) const;
  Elf_Data* data_of(std::uint64_t address, std::uint64_t size, Elf_Type type) const;
  /// Returns a name in `names`, which `file_` owns, made printable; empty if it is too long, or too many have their
  /// bytes in common.
  [[nodiscard]] std::string_view name_at(const std::vector<char>& names, std::uint64_t offset) const;
  [[nodiscard]] std::size_t size_of(Elf_Type type) const { return ::gelf_fsize(elf_, type, 1, EV_CURRENT); }
  void add_function(std::vector<Symbol>& into, const GElf_Sym& symbol, std::string_view name, bool is_default) const;

  static constexpr std::uint64_t smallest_budget = std::uint64_t{1} << 20;

  Elf* elf_;
  mutable std::uint64_t left_;  ///< bytes that may be read yet
  mutable std::uint64_t name_bytes_ = 0;
  mutable std::size_t made_bytes_ = 0;
  ModuleFile& file_;
  Dynamic dynamic_;
  std::vector<std::string_view> symbol_names_;  ///< by index in the dynamic symbol table; empty for data symbols
};

}  // namespace tracer::functions::library
