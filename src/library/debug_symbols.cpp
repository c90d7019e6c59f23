#include "library/debug_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

#include "base/printable.h"
#include "debuginfo/debug_file.h"
#include "debuginfo/mini_debug.h"

namespace tracer::library {

namespace {

constexpr int max_symbols = 1 << 22;
constexpr std::size_t max_name_size = 16384;

}  // namespace

class DebugSymbolReader {
 public:
  explicit DebugSymbolReader(DebugSymbols& into) : into_(into) {}

  void read_mini(Elf* elf) {
    std::vector<char> image = debuginfo::mini_debug_file(elf);
    const auto mini = debuginfo::open_elf(image);
    Elf_Scn* section = nullptr;
    while (mini && (section = ::elf_nextscn(mini.get(), section)) != nullptr) {
      GElf_Shdr header;
      if (::gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) {
        continue;
      }
      Elf_Data* data = ::elf_getdata(section, nullptr);
      GElf_Sym symbol;
      for (int i = 0; data != nullptr && i < max_symbols && ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
        add(symbol, symbol.st_value, ::elf_strptr(mini.get(), header.sh_link, symbol.st_name));
      }
    }
  }

  void read_separate(debuginfo::ElfHandle elf, const std::string& path) {
    const debuginfo::DebugFile file(std::move(elf), path);
    const int count = file.module() != nullptr ? ::dwfl_module_getsymtab(file.module()) : 0;
    for (int i = 0; i < std::min(count, max_symbols); ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name = ::dwfl_module_getsym_info(file.module(), i, &symbol, &address, nullptr, nullptr, nullptr);
      add(symbol, address, name);
    }
  }

 private:
  void add(const GElf_Sym& symbol, std::uint64_t address, const char* name) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || *name == '\0' || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
        symbol.st_shndx == SHN_UNDEF || address == 0 || is_cold_part(name)) {
      return;
    }
    const auto stored = into_.names_.insert(printable({name, ::strnlen(name, max_name_size)})).first;
    into_.functions_.push_back({*stored, address, type == STT_GNU_IFUNC});
  }

  DebugSymbols& into_;
};

std::shared_ptr<const DebugSymbols> DebugSymbols::read(UniqueFd file, const std::string& path, bool separate) {
  std::shared_ptr<DebugSymbols> symbols(new DebugSymbols);
  auto elf = debuginfo::open_elf(file.get());
  if (elf) {
    DebugSymbolReader reader(*symbols);
    reader.read_mini(elf.get());
    if (symbols->functions_.empty() && separate) {
      reader.read_separate(std::move(elf), path);
    }
  }
  return symbols;
}

}  // namespace tracer::library
