// Reads the symbols of a module, the slots for addresses of other modules' functions, and the stubs that use the slots.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <unordered_map>

#include "functions/library/module_reader.h"

namespace tracer::functions::library {
namespace {

/// The relocation types of slots that hold a function's address.
struct RelocationTypes {
  unsigned jump = 0;
  unsigned data = 0;     ///< GLOB_DAT
  unsigned pointer = 0;  ///< absolute address, as in a table of function pointers
  unsigned own = 0;      ///< IRELATIVE
};

RelocationTypes relocation_types(Abi abi) {
  switch (abi) {
    case Abi::i386:
      return {R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_32, R_386_IRELATIVE};
    case Abi::aarch64:
      return {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64, R_AARCH64_IRELATIVE};
    case Abi::arm:
      return {R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_ABS32, R_ARM_IRELATIVE};
    default:
      return {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64, R_X86_64_IRELATIVE};
  }
}

/// Whether start-up or exit code calls this function rather than the program's own code.
bool is_startup_function(std::string_view name) {
  return name == "__libc_start_main" || name == "__cxa_finalize" || name == "__gmon_start__";
}

}  // namespace

template <typename Use>
void ModuleReader::for_each_relocation(std::uint64_t address, std::uint64_t size, bool with_addend, Use use) const {
  const Elf_Type type = with_addend ? ELF_T_RELA : ELF_T_REL;
  const std::uint64_t count = std::min<std::uint64_t>(size / size_of(type), max_slots);
  Elf_Data* data = data_of(address, count * size_of(type), type);
  for (std::uint64_t i = 0; data != nullptr && i < count; ++i) {
    GElf_Rela entry{};
    GElf_Rel narrow{};
    if (with_addend ? ::gelf_getrela(data, static_cast<int>(i), &entry) == nullptr
                    : ::gelf_getrel(data, static_cast<int>(i), &narrow) == nullptr) {
      break;
    }
    if (!with_addend) {
      entry.r_info = narrow.r_info;
      entry.r_offset = narrow.r_offset;
    }
    use(entry);
  }
}

std::uint64_t ModuleReader::count_relocated_symbols() const {
  std::uint64_t count = 0;
  const auto note = [&](const GElf_Rela& entry) {
    count = std::max<std::uint64_t>(count, GELF_R_SYM(entry.r_info) + 1);
  };
  for_each_relocation(dynamic_.jumps, dynamic_.jumps_size, dynamic_.jumps_are_rela, note);
  for_each_relocation(dynamic_.rela, dynamic_.rela_size, true, note);
  for_each_relocation(dynamic_.rel, dynamic_.rel_size, false, note);
  return count;
}

/// PT_DYNAMIC does not have the size of the symbol table, so it is computed from the hash tables and the layout.
std::uint64_t ModuleReader::count_symbols() const {
  const auto word = [&](std::uint64_t address) -> std::optional<std::uint32_t> {
    const Elf_Data* data = data_of(address, sizeof(std::uint32_t), ELF_T_WORD);
    if (data == nullptr) {
      return std::nullopt;
    }
    std::uint32_t value = 0;
    std::memcpy(&value, data->d_buf, sizeof value);
    return value;
  };
  if (dynamic_.hash != 0) {
    if (const auto count = word(dynamic_.hash + 4)) {
      return *count;
    }
  }
  // Linkers place the string table after the symbols. A GNU hash table covers exported symbols only, possibly none.
  // patchelf(1) moves the string table; then relocations say which of the other symbols there are.
  const std::uint64_t others = dynamic_.names > dynamic_.symbols
                                   ? (dynamic_.names - dynamic_.symbols) / size_of(ELF_T_SYM)
                                   : count_relocated_symbols();
  return std::max(others, count_hashed_symbols(word));
}

template <typename Word>
std::uint64_t ModuleReader::count_hashed_symbols(Word word) const {
  if (dynamic_.gnu_hash == 0) {
    return 0;
  }
  const auto buckets = word(dynamic_.gnu_hash);
  const auto first = word(dynamic_.gnu_hash + 4);
  const auto filter_words = word(dynamic_.gnu_hash + 8);
  if (!buckets || !first || !filter_words || *buckets > max_symbols) {
    return 0;
  }
  const std::uint64_t bucket_address = dynamic_.gnu_hash + 16 + std::uint64_t{*filter_words} * size_of(ELF_T_ADDR);
  const Elf_Data* data = data_of(bucket_address, *buckets * sizeof(std::uint32_t), ELF_T_WORD);
  if (data == nullptr) {
    return *first;
  }
  const std::span all(static_cast<const std::uint32_t*>(data->d_buf), data->d_size / sizeof(std::uint32_t));
  const auto last = std::max_element(all.begin(), all.end());
  if (last == all.end() || *last < *first) {
    return *first;
  }
  // The chain that starts at the highest bucket value ends at the last symbol of the table.
  const std::uint64_t chain = bucket_address + (std::uint64_t{*buckets} + *last - *first) * sizeof(std::uint32_t);
  if (*last >= max_symbols) {
    return *last;
  }
  const std::uint64_t longest = std::min((max_symbols - *last) * sizeof(std::uint32_t), bytes_from(chain));
  const Elf_Data* hashes = data_of(chain, longest, ELF_T_WORD);
  if (hashes == nullptr) {
    return std::uint64_t{*last} + 1;
  }
  const std::span rest(static_cast<const std::uint32_t*>(hashes->d_buf), hashes->d_size / sizeof(std::uint32_t));
  const auto end = std::find_if(rest.begin(), rest.end(), [](std::uint32_t hash) { return (hash & 1) != 0; });
  return std::uint64_t{*last} + static_cast<std::uint64_t>(end - rest.begin()) + (end != rest.end() ? 1 : 0);
}

void ModuleReader::add_function(std::vector<Symbol>& into, const GElf_Sym& symbol, std::string_view name,
                                bool is_default) const {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
      name.empty() || is_cold_part(name)) {
    return;
  }
  const auto size = static_cast<std::uint32_t>(symbol.st_size);
  into.push_back({name, symbol.st_value, type == STT_GNU_IFUNC, is_default, size == symbol.st_size ? size : 0});
}

void ModuleReader::read_symbols() {
  const std::uint64_t count = std::min<std::uint64_t>(count_symbols(), max_symbols);
  Elf_Data* data = data_of(dynamic_.symbols, count * size_of(ELF_T_SYM), ELF_T_SYM);
  const Elf_Data* versions =
      dynamic_.versions != 0 ? data_of(dynamic_.versions, count * sizeof(std::uint16_t), ELF_T_HALF) : nullptr;
  for (std::uint64_t i = 0; data != nullptr && i < count; ++i) {
    GElf_Sym symbol;
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
      break;
    }
    const std::string_view name = name_at(file_.dynamic_names_, symbol.st_name);
    const auto type = GELF_ST_TYPE(symbol.st_info);
    const bool maybe_function = type == STT_NOTYPE || type == STT_FUNC || type == STT_GNU_IFUNC;
    symbol_names_.push_back(maybe_function ? name : std::string_view{});
    constexpr unsigned hidden = 0x8000;
    std::uint16_t version = 0;
    if (versions != nullptr && (i + 1) * sizeof version <= versions->d_size) {
      std::memcpy(&version, static_cast<const char*>(versions->d_buf) + i * sizeof version, sizeof version);
    }
    add_function(file_.exported_, symbol, name, (version & hidden) == 0);
  }
  for (std::uint32_t i = 0; i < file_.exported_.size(); ++i) {
    const auto [at, is_new] = file_.by_name_.try_emplace(file_.exported_[i].name, i);
    if (!is_new && file_.exported_[i].is_default) {
      at->second = i;
    }
  }
}

void ModuleReader::read_relocations(std::uint64_t address, std::uint64_t size, bool with_addend) {
  const RelocationTypes types = relocation_types(file_.abi_);
  for_each_relocation(address, size, with_addend, [&](const GElf_Rela& entry) {
    const auto relocation = GELF_R_TYPE(entry.r_info);
    const auto symbol = GELF_R_SYM(entry.r_info);
    if (relocation == types.own) {
      Slot slot{entry.r_offset, {}};
      slot.is_own = true;
      slot.resolver = static_cast<std::uint64_t>(entry.r_addend);
      file_.slots_.push_back(slot);
      return;
    }
    const bool by_stub = relocation == types.jump;
    if ((!by_stub && relocation != types.data && relocation != types.pointer) || entry.r_addend != 0 ||
        symbol >= symbol_names_.size() || symbol_names_[symbol].empty()) {
      return;
    }
    Slot slot{entry.r_offset, symbol_names_[symbol], by_stub};
    slot.is_startup = is_startup_function(slot.symbol);
    if (by_stub || !slot.is_startup) {
      file_.slots_.push_back(slot);
    }
  });
}

void ModuleReader::read_relocation_sections() {
  std::size_t sections = 0;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf_, section)) != nullptr && sections++ < max_sections) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_ALLOC) != 0 &&
        (header.sh_type == SHT_RELA || header.sh_type == SHT_REL)) {
      read_relocations(header.sh_addr, header.sh_size, header.sh_type == SHT_RELA);
    }
  }
}

void ModuleReader::read_slot_contents() {
  const std::size_t word = word_size(file_.abi_);
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for (const Slot& slot : file_.slots_) {
    if (slot.by_stub || slot.is_own) {
      first = std::min(first, slot.address);
      last = std::max(last, slot.address);
    }
  }
  constexpr std::uint64_t max_table = std::uint64_t{1} << 26;
  const Elf_Data* data =
      first <= last && last - first < max_table ? data_of(first, last - first + word, ELF_T_BYTE) : nullptr;
  for (Slot& slot : file_.slots_) {
    if (data != nullptr && slot.address >= first && slot.address - first + word <= data->d_size) {
      std::memcpy(&slot.unset, static_cast<const char*>(data->d_buf) + (slot.address - first), word);
    }
    if (slot.is_own && slot.resolver == 0) {
      slot.resolver = slot.unset;  // a relocation without an addend
    }
  }
}

void ModuleReader::unite_sizes() {
  std::unordered_map<std::uint64_t, std::uint32_t> largest;
  for (const auto* symbols : {&file_.exported_, &file_.all_functions_}) {
    for (const Symbol& symbol : *symbols) {
      std::uint32_t& size = largest[symbol.address];
      size = std::max(size, symbol.size);
    }
  }
  for (auto* symbols : {&file_.exported_, &file_.all_functions_}) {
    for (Symbol& symbol : *symbols) {
      symbol.size = largest[symbol.address];
    }
  }
}

void ModuleReader::name_own_slots() {
  std::unordered_map<std::uint64_t, std::string_view> resolvers;
  for (const auto* symbols : {&file_.exported_, &file_.all_functions_}) {
    for (const Symbol& symbol : *symbols) {
      std::string_view& name = resolvers[symbol.is_resolver ? symbol.address : 0];
      if (name.empty() || symbol.name.size() < name.size()) {
        name = symbol.name;
      }
    }
  }
  for (Slot& slot : file_.slots_) {
    if (!slot.is_own) {
      continue;
    }
    const auto known = resolvers.find(slot.resolver);
    if (known != resolvers.end() && slot.resolver != 0) {
      slot.symbol = known->second;
    } else {
      std::array<char, 32> name{};
      std::snprintf(name.data(), name.size(), "IREL.0x%llx", static_cast<unsigned long long>(slot.resolver));
      slot.symbol = *file_.made_names_.emplace(name.data()).first;
    }
  }
}

void ModuleReader::find_stubs() {
  std::vector<arch::SlotAddress> slots;
  slots.reserve(file_.slots_.size());
  for (std::uint32_t i = 0; i < file_.slots_.size(); ++i) {
    slots.push_back({file_.slots_[i].address, i});
  }
  std::sort(slots.begin(), slots.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  for (const Segment& segment : file_.segments_) {
    if (!segment.executable || slots.empty() || segment.file_size > max_code) {
      continue;
    }
    const Elf_Data* data = data_at(segment.offset, segment.file_size, ELF_T_BYTE);
    if (data == nullptr) {
      continue;
    }
    const std::span code(static_cast<const std::byte*>(data->d_buf), data->d_size);
    for (const arch::FoundStub& found : arch::find_stubs(file_.abi_, code, segment.address, slots, dynamic_.got)) {
      file_.stubs_.push_back({found.address, found.slot});
      Slot& slot = file_.slots_[found.slot];
      slot.by_stub = slot.by_stub || slot.is_own;
    }
  }
}

void ModuleReader::read_section_names() {
  std::size_t names = 0;
  std::size_t sections = 0;
  bool has_tables = ::elf_getshdrstrndx(elf_, &names) != 0;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf_, section)) != nullptr && sections++ < max_sections) {
    GElf_Shdr header;
    const char* name =
        ::gelf_getshdr(section, &header) != nullptr ? ::elf_strptr(elf_, names, header.sh_name) : nullptr;
    has_tables = has_tables || (name != nullptr && std::string_view(name).starts_with(".gcc_except_table"));
  }
  file_.has_exception_tables_ = has_tables || sections == 0;
}

void ModuleReader::read_full_symbols() {
  std::size_t sections = 0;
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf_, section)) != nullptr && sections++ < max_sections) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) {
      continue;
    }
    GElf_Shdr names_header;
    Elf_Scn* names_section = ::elf_getscn(elf_, header.sh_link);
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (data == nullptr || names_section == nullptr || ::gelf_getshdr(names_section, &names_header) == nullptr ||
        names_header.sh_size > max_name_bytes) {
      return;
    }
    const Elf_Data* names = data_at(names_header.sh_offset, names_header.sh_size, ELF_T_BYTE);
    if (names == nullptr) {
      return;
    }
    const auto* begin = static_cast<const char*>(names->d_buf);
    file_.names_.assign(begin, begin + names->d_size);
    const std::size_t count = std::min<std::size_t>(data->d_size / size_of(ELF_T_SYM), max_symbols);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
        break;
      }
      add_function(file_.all_functions_, symbol, name_at(file_.names_, symbol.st_name), true);
    }
    return;
  }
}

}  // namespace tracer::functions::library
