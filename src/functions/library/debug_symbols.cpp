#include "functions/library/debug_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>

#include "base/printable.h"
#include "debuginfo/debug_file.h"
#include "debuginfo/mini_debug.h"
#include "functions/library/module_reader.h"

namespace tracer::functions::library {

namespace {

constexpr int max_debug_symbols = 1 << 22;
constexpr std::size_t max_answer = std::size_t{64} << 20;  // bytes

}  // namespace

namespace {

/// Collects functions into an answer.
class Functions {
 public:
  explicit Functions(debuginfo::Output& into) : into_(into) {}

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
      for (int i = 0; data != nullptr && i < max_debug_symbols && ::gelf_getsym(data, i, &symbol) != nullptr; ++i) {
        add(symbol, symbol.st_value, ::elf_strptr(mini.get(), header.sh_link, symbol.st_name));
      }
    }
  }

  void read_separate(debuginfo::ObjectFiles& files) {
    const debuginfo::DebugFile file(files);
    const int count = file.module() != nullptr ? ::dwfl_module_getsymtab(file.module()) : 0;
    for (int i = 0; i < std::min(count, max_debug_symbols); ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name = ::dwfl_module_getsym_info(file.module(), i, &symbol, &address, nullptr, nullptr, nullptr);
      add(symbol, address, name);
    }
  }

  [[nodiscard]] bool empty() const { return into_.bytes().empty(); }

 private:
  void add(const GElf_Sym& symbol, std::uint64_t address, const char* name) {
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || *name == '\0' || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
        symbol.st_shndx == SHN_UNDEF || address == 0 || into_.bytes().size() > max_answer) {
      return;
    }
    const std::string_view bounded(name, ::strnlen(name, max_name_size));
    if (is_cold_part(bounded)) {
      return;
    }
    into_.text(bounded);
    into_.value(address);
    into_.value(type == STT_GNU_IFUNC);
  }

  debuginfo::Output& into_;
};

/// The question: nothing. The answer: name, address, and whether it is a resolver, of each function.
void find_functions(debuginfo::OpenedFile& file, debuginfo::Input&, debuginfo::Output& answer) {
  Functions functions(answer);
  if (const auto elf = debuginfo::map_elf(file.files.object.get())) {
    functions.read_mini(elf.get());
  }
  if (functions.empty()) {
    functions.read_separate(file.files);
  }
}

}  // namespace

std::shared_ptr<const DebugSymbols> DebugSymbols::read(debuginfo::ObjectFiles files, debuginfo::Reader& reader) {
  std::shared_ptr<DebugSymbols> symbols(new DebugSymbols);
  debuginfo::ReadFile file(std::move(files));
  auto answer = reader.ask(file, find_functions, {});
  while (answer && !answer->bad()) {
    const std::string_view name = answer->text();
    const auto address = answer->value<std::uint64_t>();
    const bool is_resolver = answer->value<bool>();
    if (!answer->bad()) {
      const auto stored = symbols->names_.insert(printable(name)).first;
      symbols->functions_.push_back({*stored, address, is_resolver});
    }
  }
  return symbols;
}

}  // namespace tracer::functions::library
