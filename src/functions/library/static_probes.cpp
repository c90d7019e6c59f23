#include "functions/library/static_probes.h"

#include <fnmatch.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/printable.h"
#include "functions/library/module_reader.h"

namespace tracer::functions::library {

namespace {

constexpr std::size_t max_sections = 65536;
constexpr std::size_t max_probes = 100'000;
constexpr std::size_t max_note_bytes = std::size_t{64} << 20;
constexpr std::size_t max_note_text_size = 4096;
constexpr std::size_t max_symbol_size = 65;  // those in arguments are shorter

class ProbeReader {
 public:
  ProbeReader(Elf* elf, Abi abi) : elf_(elf), abi_(abi) {}

  std::vector<StaticProbe> read();

 private:
  template <typename Visit>
  void each_section(Visit visit);
  void read_notes(Elf_Data* data);
  void read_note(std::span<const char> description);
  /// Looks up the addresses of symbols in arguments.
  void find_symbols();
  template <typename Visit>
  void each_symbol(Visit visit);
  [[nodiscard]] std::uint64_t word(std::span<const char> from) const;

  Elf* elf_;
  Abi abi_;
  std::optional<std::uint64_t> base_;
  std::vector<StaticProbe> probes_;
};

template <typename Visit>
void ProbeReader::each_section(Visit visit) {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf_, &names) != 0) {
    return;
  }
  std::size_t count = 0;
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf_, section)) != nullptr && count < max_sections;
       ++count) {
    GElf_Shdr header;
    if (::gelf_getshdr(section, &header) == nullptr) {
      continue;
    }
    const char* name = ::elf_strptr(elf_, names, header.sh_name);
    visit(section, header, std::string_view(name == nullptr ? "" : name));
  }
}

std::vector<StaticProbe> ProbeReader::read() {
  each_section([this](Elf_Scn*, const GElf_Shdr& header, std::string_view name) {
    if (name == ".stapsdt.base") {
      base_ = header.sh_addr;
    }
  });
  each_section([this](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (name == ".note.stapsdt" && header.sh_type == SHT_NOTE && header.sh_size <= max_note_bytes) {
      read_notes(::elf_getdata(section, nullptr));
    }
  });
  find_symbols();
  return std::move(probes_);
}

void ProbeReader::read_notes(Elf_Data* data) {
  constexpr std::string_view owner = "stapsdt";
  constexpr unsigned kind = 3;
  if (data == nullptr || data->d_buf == nullptr) {
    return;
  }
  const std::span all(static_cast<const char*>(data->d_buf), data->d_size);
  std::size_t at = 0;
  while (at < all.size() && probes_.size() < max_probes) {
    GElf_Nhdr header;
    std::size_t name = 0;
    std::size_t description = 0;
    const std::size_t next = ::gelf_getnote(data, at, &header, &name, &description);
    if (next <= at || name > all.size() || header.n_namesz > all.size() - name || description > all.size() ||
        header.n_descsz > all.size() - description) {
      return;
    }
    if (header.n_type == kind && header.n_namesz == owner.size() + 1 &&
        std::string_view(all.data() + name, owner.size()) == owner) {
      read_note(all.subspan(description, header.n_descsz));
    }
    at = next;
  }
}

std::uint64_t ProbeReader::word(std::span<const char> from) const {
  std::uint64_t value = 0;  // all supported ABIs are little-endian
  std::memcpy(&value, from.data(), word_size(abi_));
  return value;
}

void ProbeReader::read_note(std::span<const char> description) {
  const std::size_t width = word_size(abi_);
  if (description.size() < 3 * width) {
    return;
  }
  StaticProbe probe;
  const std::uint64_t base = word(description.subspan(width));
  // prelink and the like move .stapsdt.base together with the code but do not update the notes.
  const std::uint64_t moved = base_.value_or(base) - base;
  probe.address = word(description) + moved;
  probe.semaphore = word(description.subspan(2 * width));
  probe.semaphore += probe.semaphore != 0 ? moved : 0;
  std::span<const char> rest = description.subspan(3 * width);
  for (std::string* into : {&probe.provider, &probe.name, &probe.argument_text}) {
    const auto end = std::find(rest.begin(), rest.end(), '\0');
    if (end == rest.end()) {
      return;
    }
    const std::string_view text(rest.data(), static_cast<std::size_t>(end - rest.begin()));
    if (text.size() > max_note_text_size) {
      return;
    }
    *into = printable(text);
    rest = rest.subspan(text.size() + 1);
  }
  if (probe.provider.empty() || probe.name.empty()) {
    return;
  }
  probe.arguments = parse_probe_arguments(probe.argument_text, abi_);
  probes_.push_back(std::move(probe));
}

template <typename Visit>
void ProbeReader::each_symbol(Visit visit) {
  each_section([&](Elf_Scn* section, const GElf_Shdr& header, std::string_view) {
    if ((header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) || header.sh_entsize == 0) {
      return;
    }
    Elf_Data* data = ::elf_getdata(section, nullptr);
    const std::size_t count = std::min<std::size_t>(header.sh_size / header.sh_entsize, max_symbols);
    GElf_Sym symbol;
    for (std::size_t i = 0; i < count && ::gelf_getsym(data, static_cast<int>(i), &symbol) != nullptr; ++i) {
      const char* name = ::elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name != nullptr && symbol.st_shndx != SHN_UNDEF) {
        visit(std::string_view(name, ::strnlen(name, max_symbol_size)), symbol.st_value);
      }
    }
  });
}

void ProbeReader::find_symbols() {
  // One pass over the symbols serves all probes: a file may have many probes and even more symbols.
  std::unordered_map<std::string_view, std::optional<std::uint64_t>> addresses;
  const auto each_argument = [this](auto visit) {
    for (StaticProbe& probe : probes_) {
      for (ProbeArgument& argument : probe.arguments) {
        if (!argument.symbol.empty() && argument.where != ProbeArgument::Where::unknown) {
          visit(argument);
        }
      }
    }
  };
  each_argument([&](const ProbeArgument& argument) { addresses.try_emplace(argument.symbol); });
  if (addresses.empty()) {
    return;
  }
  each_symbol([&](std::string_view name, std::uint64_t address) {
    if (const auto wanted = addresses.find(name); wanted != addresses.end() && !wanted->second) {
      wanted->second = address;
    }
  });
  each_argument([&](ProbeArgument& argument) {
    const auto address = addresses[argument.symbol];
    if (!address) {
      argument.where = ProbeArgument::Where::unknown;
      return;
    }
    argument.displacement = static_cast<std::int64_t>(static_cast<std::uint64_t>(argument.displacement) + *address);
    argument.in_module = true;
    if (argument.base == "rip" || argument.base == "eip") {
      argument.base.clear();  // `counter(%rip)` is the address of the counter
    }
  });
}

}  // namespace

std::vector<StaticProbe> read_static_probes(Elf* elf, Abi abi) {
  return ProbeReader(elf, abi).read();
}

ProbePattern::ProbePattern(std::string_view expression) {
  const auto colon = expression.find(':');
  provider = colon == std::string_view::npos ? "*" : expression.substr(0, colon);
  name = colon == std::string_view::npos ? expression : expression.substr(colon + 1);
}

bool ProbePattern::matches(const std::string& its_provider, const std::string& its_name) const {
  return ::fnmatch(provider.c_str(), its_provider.c_str(), 0) == 0 && ::fnmatch(name.c_str(), its_name.c_str(), 0) == 0;
}

}  // namespace tracer::functions::library
