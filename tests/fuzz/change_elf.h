// An ELF file made hostile where its structure is: fields of headers and of tables get values that are at an edge.
#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace tracer::fuzz {

/// A field of `size` bytes at `offset` in the file.
struct ElfField {
  std::uint64_t offset;
  std::size_t size;
};

/// `Bytes`: a string or a vector of char with a 64-bit ELF file.
template <typename Bytes>
class ElfChanger {
 public:
  ElfChanger(Bytes& file, std::mt19937_64& random) : file_(file), random_(random) {}

  void change() {
    Elf64_Ehdr header{};
    if (!read(0, header)) {
      return;
    }
    collect(header);
    const std::size_t changes = 1 + random_() % 6;
    for (std::size_t i = 0; i < changes && !fields_.empty(); ++i) {
      write(fields_[random_() % fields_.size()]);
    }
  }

 private:
  template <typename T>
  bool read(std::uint64_t offset, T& into) const {
    if (offset > file_.size() || file_.size() - offset < sizeof into) {
      return false;
    }
    std::memcpy(&into, file_.data() + offset, sizeof into);
    return true;
  }

  /// Fields of a record whose words are 4 or 8 bytes long.
  void add(std::uint64_t record, std::initializer_list<std::size_t> sizes) {
    for (const std::size_t size : sizes) {
      fields_.push_back({record, size});
      record += size;
    }
  }

  void collect(const Elf64_Ehdr& header) {
    fields_.clear();
    add(24, {8, 8, 8, 4, 2, 2, 2, 2, 2, 2});  // from e_entry on
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
      add(header.e_phoff + i * sizeof(Elf64_Phdr), {4, 4, 8, 8, 8, 8, 8, 8});
    }
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      add(header.e_shoff + i * sizeof section, {4, 4, 8, 8, 8, 8, 4, 4, 8, 8});
      if (read(header.e_shoff + i * sizeof section, section) && section.sh_size >= 16) {
        collect(section);
      }
    }
  }

  /// A few entries of tables, and the lengths and counts at the start of anything else.
  void collect(const Elf64_Shdr& section) {
    const std::uint64_t last = section.sh_size - 16;
    const std::uint64_t at = section.sh_offset + random_() % (last + 1) / 8 * 8;
    switch (section.sh_type) {
      case SHT_DYNAMIC:
      case SHT_RELA:
        add(at, {8, 8});
        break;
      case SHT_SYMTAB:
      case SHT_DYNSYM:
        add(section.sh_offset + random_() % (section.sh_size / sizeof(Elf64_Sym) + 1) * sizeof(Elf64_Sym),
            {4, 1, 1, 2, 8, 8});
        break;
      case SHT_GNU_versym:
      case SHT_GNU_verdef:
      case SHT_GNU_verneed:
        add(section.sh_offset, {2, 2, 2, 2, 4, 4});
        break;
      default:
        add(section.sh_offset, {4, 4, 4, 4});  // of a note, a hash table, a unit of DWARF, a compressed section
        add(at, {4, 2, 1});
        break;
    }
  }

  void write(const ElfField& field) {
    if (field.offset > file_.size() || file_.size() - field.offset < field.size) {
      return;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, file_.data() + field.offset, field.size);
    const std::array<std::uint64_t, 14> edges = {0,
                                                 1,
                                                 ~std::uint64_t{0},
                                                 value + 1,
                                                 value - 1,
                                                 value * 2,
                                                 value ^ SHF_COMPRESSED,
                                                 file_.size(),
                                                 file_.size() - 1,
                                                 std::uint64_t{1} << 31,
                                                 std::uint64_t{1} << 40,
                                                 ~std::uint64_t{0} << 12,
                                                 random_() % 32,
                                                 random_()};
    value = edges[random_() % edges.size()];
    std::memcpy(file_.data() + field.offset, &value, field.size);
  }

  Bytes& file_;
  std::mt19937_64& random_;
  std::vector<ElfField> fields_;
};

}  // namespace tracer::fuzz
