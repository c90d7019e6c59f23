#include "stack/symbols.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <tuple>

namespace tracer::stack {

void SymbolTable::add(Elf* elf) {
  try {
    read(elf);
  } catch (const std::bad_alloc&) {  // addresses show without names
    entries_ = {};
  }
}

void SymbolTable::read(Elf* elf) {
  Elf_Scn* section = nullptr;
  while ((section = ::elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) {
      continue;
    }
    Elf_Data* data = ::elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) {
      continue;
    }
    const auto strings = static_cast<std::uint16_t>(strings_.size());
    strings_.push_back({elf, header.sh_link});
    const std::size_t count = data->d_size / ::gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    for (std::size_t i = 0; i < count && entries_.size() < max_symbols; ++i) {
      GElf_Sym symbol;
      if (::gelf_getsym(data, static_cast<int>(i), &symbol) != nullptr && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
          symbol.st_shndx != SHN_UNDEF && symbol.st_size != 0) {
        entries_.push_back(
            {symbol.st_value, symbol.st_size, static_cast<std::uint32_t>(entries_.size()), symbol.st_name, strings});
      }
    }
    if (strings_.size() == 16) {
      break;
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.start, a.strings, a.order) < std::tie(b.start, b.strings, b.order);
  });
  const auto same_range = [](const Entry& a, const Entry& b) { return a.start == b.start && a.size == b.size; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_range), entries_.end());
  entries_.shrink_to_fit();
}

std::optional<Symbol> SymbolTable::around(std::uint64_t address) const {
  auto entry = std::upper_bound(entries_.begin(), entries_.end(), address,
                                [](std::uint64_t value, const Entry& each) { return value < each.start; });
  const Entry* found = nullptr;
  for (int i = 0; i < max_nested && entry != entries_.begin(); ++i) {
    --entry;
    if (found != nullptr && entry->start != found->start) {
      break;
    }
    if (address - entry->start < entry->size) {
      found = &*entry;
    }
  }
  if (found == nullptr) {
    return std::nullopt;
  }
  const Strings& strings = strings_[found->strings];
  const char* const name = ::elf_strptr(strings.elf, strings.section, found->name);
  if (name == nullptr || *name == '\0') {
    return std::nullopt;
  }
  constexpr std::size_t max_size = 16384;
  return Symbol{{name, ::strnlen(name, max_size)}, found->start};
}

}  // namespace tracer::stack
