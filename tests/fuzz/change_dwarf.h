// Debugging information made hostile where its structure is: headers of units, forms of attributes, line programs and
// call frames get values that are at an edge.
#pragma once

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace tracer::fuzz {

/// `Bytes`: a string or a vector of char with a 64-bit ELF file, whose sections are not compressed.
template <typename Bytes>
class DwarfChanger {
 public:
  DwarfChanger(Bytes& file, std::mt19937_64& random) : file_(file), random_(random) {}

  void change() {
    find_sections();
    if (sections_.empty()) {
      return;
    }
    for (std::size_t left = 1 + random_() % 6; left != 0; --left) {
      const Section& section = sections_[random_() % sections_.size()];
      switch (section.kind) {
        case Kind::abbreviations:
          change_abbreviation(section);
          break;
        case Kind::frames:
          change_record(section, {{0, 4}, {4, 4}, {8, 1}, {8, 4}, {9, 1}, {12, 4}, {16, 1}, {17, 1}});
          break;
        case Kind::lines:
          // Length, version, header length, the five numbers of the line machine, its opcodes, the directory table.
          change_record(section, {{0, 4},
                                  {4, 2},
                                  {6, 1},
                                  {7, 1},
                                  {8, 4},
                                  {12, 1},
                                  {13, 1},
                                  {14, 1},
                                  {15, 1},
                                  {16, 1},
                                  {17, 1},
                                  {18, 1},
                                  {20, 1},
                                  {30, 1},
                                  {31, 1},
                                  {32, 1},
                                  {36, 1}});
          break;
        case Kind::units:
          // Length, version, type and address size or offset of the abbreviations, the first entries.
          change_record(section, {{0, 4}, {4, 2}, {6, 1}, {7, 1}, {8, 4}, {11, 1}, {12, 1}, {13, 4}, {17, 4}, {24, 4}});
          break;
        case Kind::other:
          write(section.start + random_() % section.size, std::size_t{1} << random_() % 4);
          break;
      }
    }
  }

 private:
  enum class Kind { abbreviations, units, lines, frames, other };
  struct Section {
    Kind kind;
    std::uint64_t start;
    std::uint64_t size;
  };
  struct Field {
    std::uint64_t offset;
    std::size_t size;
  };

  template <typename T>
  bool read(std::uint64_t offset, T& into) const {
    if (offset > file_.size() || file_.size() - offset < sizeof into) {
      return false;
    }
    std::memcpy(&into, file_.data() + offset, sizeof into);
    return true;
  }

  void find_sections() {
    Elf64_Ehdr header{};
    Elf64_Shdr names{};
    if (!read(0, header) || !read(header.e_shoff + header.e_shstrndx * sizeof names, names)) {
      return;
    }
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section{};
      std::array<char, 16> bytes{};
      if (!read(header.e_shoff + i * sizeof section, section) || !read(names.sh_offset + section.sh_name, bytes) ||
          section.sh_type == SHT_NOBITS || section.sh_size < 64 || section.sh_offset > file_.size() ||
          file_.size() - section.sh_offset < section.sh_size) {
        continue;
      }
      const std::string_view name(bytes.data(), ::strnlen(bytes.data(), bytes.size()));
      if (name.substr(0, 7) == ".debug_" || name == ".eh_frame" || name == ".eh_frame_hdr") {
        const Kind kind = name == ".debug_abbrev"                          ? Kind::abbreviations
                          : name == ".debug_info" || name == ".debug_type" ? Kind::units
                          : name == ".debug_line"                          ? Kind::lines
                          : name == ".eh_frame" || name == ".debug_frame"  ? Kind::frames
                                                                           : Kind::other;
        sections_.push_back({kind, section.sh_offset, section.sh_size});
      }
    }
  }

  /// Goes from record to record by their lengths, as a reader does, and changes a field of one, or a byte behind its
  /// header.
  template <std::size_t N>
  void change_record(const Section& section, const Field (&fields)[N]) {
    std::vector<Field> records;
    for (std::uint64_t at = 0; at + 4 <= section.size && records.size() < 4096;) {
      std::uint32_t length = 0;
      if (!read(section.start + at, length) || length == 0 || length > section.size - at) {
        break;
      }
      records.push_back({section.start + at, length});
      at += std::uint64_t{4} + length;
    }
    if (records.empty()) {
      records.push_back({section.start, section.size - 4});
    }
    const Field& record = records[random_() % records.size()];
    if (random_() % 4 == 0) {
      write(record.offset + 4 + random_() % record.size, random_() % 2 + 1);
    } else {
      const Field& field = fields[random_() % N];
      write(record.offset + field.offset, field.size);
    }
  }

  /// Another tag, form or code, which are single bytes mostly; or no end of the list.
  void change_abbreviation(const Section& section) {
    static constexpr std::array<unsigned char, 20> forms = {0x01, 0x03, 0x04, 0x06, 0x08, 0x09, 0x0a, 0x0d, 0x0e, 0x10,
                                                            0x13, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1b, 0x20, 0x21, 0x80};
    const std::uint64_t at = section.start + random_() % section.size;
    if (random_() % 3 == 0) {
      write(at, 1);
    } else {
      file_[at] = static_cast<char>(forms[random_() % forms.size()]);
    }
  }

  void write(std::uint64_t offset, std::size_t size) {
    if (offset > file_.size() || file_.size() - offset < size) {
      return;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, file_.data() + offset, size);
    const std::array<std::uint64_t, 12> edges = {
        0,    1,          ~std::uint64_t{0},      value + 1,      value - 1, value * 2, 0x7f,
        0x80, 0xfffffff0, std::uint64_t{1} << 31, random_() % 32, random_()};
    value = edges[random_() % edges.size()];
    std::memcpy(file_.data() + offset, &value, size);
  }

  Bytes& file_;
  std::mt19937_64& random_;
  std::vector<Section> sections_;
};

}  // namespace tracer::fuzz
