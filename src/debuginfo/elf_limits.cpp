// Checks the limits of a possibly hostile file before libelf and libdw read it.
#include <dwarf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "debuginfo/elf_handle.h"

namespace tracer::debuginfo {

namespace {

// Sizes of sections that libelf reads as a whole, in bytes.
constexpr std::uint64_t max_section_size = std::uint64_t{512} << 20;
constexpr std::uint64_t max_symbol_size = std::uint64_t{128} << 20;  // of a symbol table
constexpr std::uint64_t max_table_size = std::uint64_t{64} << 20;    // of other tables
constexpr std::size_t max_sections = 200'000;
constexpr std::size_t max_segments = 1000;

constexpr std::uint64_t max_registers = 256;
constexpr std::size_t max_remembered_states = 256;
constexpr std::size_t max_program_size = 64 << 10;  // bytes
constexpr std::size_t max_layouts = 1 << 16;        // CIEs of a file, which compilers and linkers share

/// The call frame instructions of one CIE or FDE that have not been read yet. Reading past the end returns zeros and
/// sets `bad`.
class Program {
 public:
  explicit Program(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const { return bad_ || bytes_.empty(); }
  [[nodiscard]] bool bad() const { return bad_; }

  std::uint8_t byte() {
    if (bytes_.empty()) {
      bad_ = true;
      return 0;
    }
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  /// Reads a LEB128 number. Its value is correct for unsigned numbers only.
  std::uint64_t leb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t part = byte();
      value |= shift < 64 ? std::uint64_t{part & 0x7fU} << shift : 0;
      if ((part & 0x80U) == 0) {
        return value;
      }
    }
  }
  void skip(std::uint64_t count) {
    if (count > bytes_.size()) {
      bad_ = true;
      return;
    }
    bytes_ = bytes_.subspan(static_cast<std::size_t>(count));
  }
  void skip_block() { skip(leb128()); }

 private:
  std::span<const std::uint8_t> bytes_;
  bool bad_ = false;
};

/// Reads one instruction (DWARF 5, 6.4.2). Returns false if libdw must not read it.
bool instruction_within_limits(Program& program, std::size_t& remembered_states) {
  const std::uint8_t opcode = program.byte();
  constexpr unsigned primary_shift = 6;
  if (opcode >> primary_shift != 0) {
    if (opcode >> primary_shift == DW_CFA_offset >> primary_shift) {
      program.leb128();
    }
    return true;
  }
  switch (opcode) {
    case DW_CFA_nop:
    case DW_CFA_restore_state:
    case DW_CFA_GNU_window_save:
      return true;
    case DW_CFA_remember_state:
      return ++remembered_states <= max_remembered_states;
    case DW_CFA_advance_loc1:
      program.skip(1);
      return true;
    case DW_CFA_advance_loc2:
      program.skip(2);
      return true;
    case DW_CFA_advance_loc4:
      program.skip(4);
      return true;
    case DW_CFA_MIPS_advance_loc8:
      program.skip(8);
      return true;
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_GNU_args_size:
      program.leb128();
      return true;
    case DW_CFA_def_cfa_expression:
      program.skip_block();
      return true;
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_def_cfa_register:
      return program.leb128() < max_registers;
    case DW_CFA_register:
    case DW_CFA_offset_extended:
    case DW_CFA_def_cfa:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
    case DW_CFA_GNU_negative_offset_extended: {
      const bool within_limits = program.leb128() < max_registers;
      program.leb128();
      return within_limits;
    }
    case DW_CFA_expression:
    case DW_CFA_val_expression: {
      const bool within_limits = program.leb128() < max_registers;
      program.skip_block();
      return within_limits;
    }
    default:
      return false;  // unknown instructions, and DW_CFA_set_loc, which no compiler emits
  }
}

bool program_within_limits(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > max_program_size) {
    return false;
  }
  Program program(bytes);
  std::size_t remembered_states = 0;
  while (!program.done()) {
    if (!instruction_within_limits(program, remembered_states)) {
      return false;
    }
  }
  return !program.bad();
}

/// The part of an FDE before its instructions, according to its CIE (Linux Standard Base, 10.6.1).
struct Layout {
  std::size_t addresses = 0;  ///< size of the initial location and the address range, in bytes
  bool augmented = false;     ///< whether augmentation data follows
};

/// Returns the size of a pointer with this encoding (DW_EH_PE_…) in bytes; 0 if it varies.
std::size_t encoded_size(std::uint8_t encoding, std::size_t word_size) {
  constexpr std::array<std::size_t, 8> sizes = {0, 0, 2, 4, 8, 0, 0, 0};  // by the low bits of DW_EH_PE_*
  return (encoding & 7U) == DW_EH_PE_absptr ? word_size : sizes[encoding & 7U];
}

std::optional<Layout> layout_of(const Dwarf_CIE& cie, std::size_t word_size) {
  const std::string_view letters = cie.augmentation == nullptr ? "" : cie.augmentation;
  Layout layout{2 * word_size, letters.starts_with('z')};
  if (!layout.augmented) {
    return letters.empty() ? std::optional(layout) : std::nullopt;
  }
  const std::uint8_t* data = cie.augmentation_data;
  const std::uint8_t* const end = data == nullptr ? nullptr : data + cie.augmentation_data_size;
  for (const char letter : letters.substr(1)) {
    if (letter == 'R' && data != end) {
      const std::size_t size = encoded_size(*data, word_size);
      layout.addresses = 2 * size;
      return size == 0 ? std::nullopt : std::optional(layout);
    }
    if (letter == 'L' && data != end) {
      ++data;
    } else if (letter == 'P' && data != end) {
      const std::size_t size = encoded_size(*data, word_size);
      if (size == 0 || static_cast<std::size_t>(end - data) < size + 1) {
        return std::nullopt;
      }
      data += size + 1;
    } else if (letter != 'S' && letter != 'B') {
      return std::nullopt;
    }
  }
  return layout;
}

bool fde_within_limits(const Dwarf_FDE& fde, const Layout& layout) {
  const std::span<const std::uint8_t> bytes(fde.start, fde.end);
  if (bytes.size() < layout.addresses) {
    return false;
  }
  const auto rest = bytes.subspan(layout.addresses);
  if (!layout.augmented) {
    return program_within_limits(rest);
  }
  // The length of the augmentation data is a ULEB128 number. In compilers' output it is one byte long.
  if (rest.empty() || rest.front() >= 0x80 || rest.size() - 1 < rest.front()) {
    return false;
  }
  return program_within_limits(rest.subspan(std::size_t{rest.front()} + 1));
}

/// Returns .eh_frame, found by section headers or, without them, by PT_GNU_EH_FRAME.
std::optional<Elf_Data> call_frames(Elf* elf) {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) == 0) {
    Elf_Scn* section = nullptr;
    while ((section = ::elf_nextscn(elf, section)) != nullptr) {
      GElf_Shdr header;
      const char* name =
          ::gelf_getshdr(section, &header) != nullptr ? ::elf_strptr(elf, names, header.sh_name) : nullptr;
      if (name != nullptr && std::string_view(name) == ".eh_frame") {
        const Elf_Data* data = header.sh_type == SHT_NOBITS ? nullptr : ::elf_rawdata(section, nullptr);
        return data != nullptr && data->d_buf != nullptr ? std::optional(*data) : std::nullopt;
      }
    }
  }
  std::size_t count = 0;
  ::elf_getphdrnum(elf, &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_GNU_EH_FRAME) {
      continue;
    }
    // The version, three encodings, and the offset from this field to .eh_frame (Linux Standard Base, 10.6.2).
    struct Start {
      std::uint8_t version, pointer, count, table;
      std::int32_t distance;
    } start;
    std::size_t size = 0;
    const char* const file = ::elf_rawfile(elf, &size);
    if (file == nullptr || header.p_offset > size || size - header.p_offset < sizeof start) {
      return std::nullopt;
    }
    std::memcpy(&start, file + header.p_offset, sizeof start);
    const std::uint64_t at = header.p_offset + 4 + static_cast<std::uint64_t>(std::int64_t{start.distance});
    if (start.pointer != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) || at >= size) {
      return std::nullopt;
    }
    Elf_Data data{};
    data.d_buf = const_cast<char*>(file) + at;
    data.d_size = size - at;
    return data;
  }
  return std::nullopt;
}

using Start = std::array<char, sizeof(Elf64_Ehdr)>;

/// Whether e_shnum, which is bounded, has the number of sections. libelf allocates a descriptor for each section at
/// once.
bool has_few_sections(const Start& start) {
  if (std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) {
    return false;
  }
  // If the number does not fit into e_shnum, it is in the first section header. No real object has so many sections.
  std::uint16_t count = 0;
  std::uint64_t table = 0;
  if (start[EI_CLASS] == ELFCLASS64) {
    Elf64_Ehdr header;
    std::memcpy(&header, start.data(), sizeof header);
    count = header.e_shnum;
    table = header.e_shoff;
  } else {
    Elf32_Ehdr header;
    std::memcpy(&header, start.data(), sizeof header);
    count = header.e_shnum;
    table = header.e_shoff;
  }
  return count != 0 || table == 0;
}

bool has_few_sections(const std::vector<char>& image) {
  Start start{};
  if (image.size() < start.size()) {
    return false;
  }
  std::copy_n(image.begin(), start.size(), start.begin());
  return has_few_sections(start);
}

/// What libelf reads into memory as a whole.
bool is_read_whole(const GElf_Shdr& header) {
  switch (header.sh_type) {
    case SHT_NOBITS:
      return false;
    case SHT_SYMTAB:
    case SHT_DYNSYM:
    case SHT_STRTAB:
    case SHT_DYNAMIC:
    case SHT_NOTE:
    case SHT_GNU_versym:
    case SHT_GNU_verdef:
    case SHT_GNU_verneed:
      return true;
    default:
      return (header.sh_flags & SHF_ALLOC) != 0;
  }
}

/// Adds up what the sections of a file cost. They neither overlap nor exceed the file in any real object.
class Budget {
 public:
  explicit Budget(std::uint64_t file_size) : left_(file_size) {}

  /// Returns false if the file must not be read.
  bool spend(Elf_Scn* section, const GElf_Shdr& header) {
    // libelf allocates the claimed size of a compressed section at once.
    GElf_Chdr compressed;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 &&
        (::gelf_getchdr(section, &compressed) == nullptr || compressed.ch_size > max_section_size)) {
      return false;
    }
    if (!is_read_whole(header)) {
      return true;
    }
    const bool in_budget = header.sh_size <= left_ && header.sh_size <= largest(header.sh_type);
    left_ -= in_budget ? header.sh_size : 0;
    return in_budget;
  }

 private:
  static std::uint64_t largest(std::uint32_t type) {
    return type == SHT_DYNAMIC || type == SHT_NOTE    ? max_table_size
           : type == SHT_SYMTAB || type == SHT_DYNSYM ? max_symbol_size
                                                      : max_section_size;
  }

  std::uint64_t left_;
};

/// Whether this is an ELF object of `size` bytes whose tables are within the limits.
bool is_within_limits(Elf* elf, std::uint64_t size) {
  if (::elf_kind(elf) != ELF_K_ELF) {
    return false;
  }
  std::size_t sections = 0;
  std::size_t segments = 0;
  GElf_Ehdr header;
  if (::gelf_getehdr(elf, &header) == nullptr || ::elf_getshdrnum(elf, &sections) != 0 || sections > max_sections ||
      ::elf_getphdrnum(elf, &segments) != 0 || segments > max_segments) {
    return false;
  }
  Budget budget(size);
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr section_header;
    if (::gelf_getshdr(section, &section_header) == nullptr || !budget.spend(section, section_header)) {
      return false;
    }
  }
  return true;
}

ElfHandle open_within_limits(Elf* elf, std::uint64_t size) {
  ElfHandle handle(elf);
  return handle && is_within_limits(elf, size) ? std::move(handle) : nullptr;
}

/// Whether a large file takes so little space that its tables can only be zeros.
bool is_mostly_holes(const struct ::stat& status) {
  constexpr off_t large = off_t{64} << 20;
  constexpr off_t block = 512;            // of st_blocks
  constexpr off_t best_compression = 16;  // by a file system
  return status.st_size > large && status.st_blocks * block < status.st_size / best_compression;
}

ElfHandle begin_elf(int file, Elf_Cmd command) {
  ::elf_version(EV_CURRENT);  // libelf requires this call before any other
  Start start{};
  if (::pread(file, start.data(), start.size(), 0) < static_cast<ssize_t>(sizeof(Elf32_Ehdr)) ||
      !has_few_sections(start)) {
    return nullptr;
  }
  struct ::stat status {};
  if (::fstat(file, &status) != 0 || is_mostly_holes(status)) {
    return nullptr;
  }
  return open_within_limits(::elf_begin(file, command, nullptr), static_cast<std::uint64_t>(status.st_size));
}

}  // namespace

ElfHandle open_elf(int file) {
  // The file is read, not mapped: if its owner truncated a mapped file, the tracer would get SIGBUS.
  return begin_elf(file, ELF_C_READ);
}

ElfHandle map_elf(int file) {
  return begin_elf(file, ELF_C_READ_MMAP);
}

ElfHandle open_elf(std::vector<char>& image) {
  ::elf_version(EV_CURRENT);
  return has_few_sections(image) ? open_within_limits(::elf_memory(image.data(), image.size()), image.size()) : nullptr;
}

ElfHandle open_elf_without_sections(std::vector<char>& image) {
  const auto remove = [&](auto header) {
    if (image.size() < sizeof header) {
      return;
    }
    std::memcpy(&header, image.data(), sizeof header);
    header.e_shoff = 0;
    header.e_shnum = 0;
    header.e_shstrndx = SHN_UNDEF;
    std::memcpy(image.data(), &header, sizeof header);
  };
  if (image.size() > EI_CLASS && image[EI_CLASS] == ELFCLASS64) {
    remove(Elf64_Ehdr{});
  } else {
    remove(Elf32_Ehdr{});
  }
  return open_elf(image);
}

bool has_bounded_call_frames(Elf* elf) {
  auto data = call_frames(elf);
  if (!data) {
    return false;
  }
  const auto* ident = reinterpret_cast<const unsigned char*>(::elf_getident(elf, nullptr));
  const std::size_t word_size = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
  std::map<Dwarf_Off, Layout> layouts;  // by offset of the CIE, which precedes its FDEs
  Dwarf_Off next = 0;
  for (Dwarf_Off offset = 0;; offset = next) {
    Dwarf_CFI_Entry entry;
    const int result = ::dwarf_next_cfi(ident, &*data, true, offset, &next, &entry);
    if (result > 0) {
      return true;
    }
    if (result < 0 || next <= offset) {
      return false;
    }
    if (dwarf_cfi_cie_p(&entry)) {
      const auto layout = layout_of(entry.cie, word_size);
      if (!layout || layouts.size() == max_layouts || entry.cie.return_address_register >= max_registers ||
          !program_within_limits({entry.cie.initial_instructions, entry.cie.initial_instructions_end})) {
        return false;
      }
      layouts[offset] = *layout;
    } else {
      const auto layout = layouts.find(entry.fde.CIE_pointer);
      if (layout == layouts.end() || !fde_within_limits(entry.fde, layout->second)) {
        return false;
      }
    }
  }
}

}  // namespace tracer::debuginfo
