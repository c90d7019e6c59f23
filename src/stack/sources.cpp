#include "stack/sources.h"

#include <dwarf.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

#include "base/unique_fd.h"
#include "stack/symbols.h"

namespace tracer::stack {

namespace {

constexpr std::size_t longest_name = 4096;

std::string bounded(const char* text) {
  return text == nullptr ? std::string() : std::string(text, ::strnlen(text, longest_name));
}

/// libdw maps separate files. One that somebody else can cut off meanwhile would take the tracer with it, so it gets a
/// copy.
int only_steady(UniqueFd file) {
  struct ::stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return -1;
  }
  if (status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return file.release();
  }
  constexpr off_t largest = off_t{1} << 30;
  UniqueFd copy(::memfd_create("debug", MFD_CLOEXEC));
  if (!copy.valid() || !S_ISREG(status.st_mode) || status.st_size > largest) {
    return -1;
  }
  off_t offset = 0;
  while (offset < status.st_size) {
    const auto rest = static_cast<std::size_t>(status.st_size - offset);
    if (::sendfile(copy.get(), file.get(), &offset, rest) <= 0) {
      return -1;
    }
  }
  return copy.release();
}

int find_separate_file(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file,
                       const char* link, GElf_Word checksum, char** found) {
  UniqueFd fd(::dwfl_standard_find_debuginfo(module, user, name, base, file, link, checksum, found));
  return fd.valid() ? only_steady(std::move(fd)) : -1;
}

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using Scopes = std::unique_ptr<Dwarf_Die, FreeScopes>;

/// A scope and those around it, up to the unit.
std::span<Dwarf_Die> scopes_around(Dwarf_Die* die, Scopes& owner) {
  Dwarf_Die* all = nullptr;
  const int count = ::dwarf_getscopes_die(die, &all);
  owner.reset(count > 0 ? all : nullptr);
  return {owner.get(), static_cast<std::size_t>(std::max(count, 0))};
}

/// Where a function is declared, in its class or namespace.
Dwarf_Die declaration_of(Dwarf_Die die) {
  constexpr int most_hops = 8;
  for (int i = 0; i < most_hops; ++i) {
    Dwarf_Attribute reference;
    Dwarf_Die next;
    if ((::dwarf_attr(&die, DW_AT_abstract_origin, &reference) == nullptr &&
         ::dwarf_attr(&die, DW_AT_specification, &reference) == nullptr) ||
        ::dwarf_formref_die(&reference, &next) == nullptr) {
      break;
    }
    die = next;
  }
  return die;
}

/// `space::Class::name`, for a function without a mangled name. What is local to a function has no such name.
std::string qualified_name(Dwarf_Die* die) {
  std::string name = bounded(::dwarf_diename(die));
  Dwarf_Die declaration = declaration_of(*die);
  Scopes owner;
  for (Dwarf_Die& scope : scopes_around(&declaration, owner)) {
    const int tag = ::dwarf_tag(&scope);
    const bool named =
        tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
    if (scope.addr == declaration.addr) {
      continue;
    }
    const std::string prefix = named ? bounded(::dwarf_diename(&scope)) : std::string();
    if (prefix.empty() || name.size() > longest_name) {
      break;
    }
    name.insert(0, "::").insert(0, prefix);
  }
  return name;
}

std::string function_name(Dwarf_Die* die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute value;
    if (::dwarf_attr_integrate(die, attribute, &value) != nullptr) {
      const std::string mangled = bounded(::dwarf_formstring(&value));
      if (!mangled.empty()) {
        return demangle(mangled);
      }
    }
  }
  return qualified_name(die);
}

/// Where the code around an inlined function calls it.
void set_call_place(Dwarf_Die* unit, Dwarf_Die* inlined, SourcePlace& place) {
  Dwarf_Attribute attribute;
  Dwarf_Word file = 0;
  Dwarf_Word line = 0;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (::dwarf_attr(inlined, DW_AT_call_file, &attribute) != nullptr && ::dwarf_formudata(&attribute, &file) == 0 &&
      ::dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count) {
    place.file = bounded(::dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr));
  }
  if (::dwarf_attr(inlined, DW_AT_call_line, &attribute) != nullptr && ::dwarf_formudata(&attribute, &line) == 0) {
    place.line = static_cast<unsigned>(line);
  }
}

/// The innermost scope at the address and those around it, up to the unit.
std::span<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address, Scopes& owner) {
  Dwarf_Die* inner = nullptr;
  if (::dwarf_getscopes(unit, address, &inner) <= 0) {
    return {};
  }
  const Scopes innermost(inner);
  // What is around an inlined function is what calls it, not what it is written in.
  return scopes_around(inner, owner);
}

}  // namespace

int Sources::give_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char** file, Elf** elf) {
  auto& self = *static_cast<Sources*>(*user);
  *elf = self.elf_.release();
  *file = ::strdup(self.name_.c_str());
  return -1;
}

Sources::Sources(ElfHandle elf, const std::string& name) : elf_(std::move(elf)), name_(name) {
  callbacks_.find_elf = give_elf;
  callbacks_.find_debuginfo = find_separate_file;
  callbacks_.section_address = ::dwfl_offline_section_address;
  std::uint64_t start = ~std::uint64_t{0};
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  std::size_t count = 0;
  if (!elf_ || ::elf_getphdrnum(elf_.get(), &count) != 0) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD &&
        header.p_memsz <= ~std::uint64_t{0} - header.p_vaddr) {
      alignment = start == ~std::uint64_t{0} && header.p_align != 0 ? header.p_align : alignment;
      start = std::min(start, header.p_vaddr);
      end = std::max(end, header.p_vaddr + header.p_memsz);
    }
  }
  // Where the object itself says that it is: then its addresses and the module's are the same.
  start &= 0 - alignment;
  dwfl_.reset(::dwfl_begin(&callbacks_));
  if (!dwfl_ || end <= start) {
    return;
  }
  ::dwfl_report_begin(dwfl_.get());
  module_ = ::dwfl_report_module(dwfl_.get(), name_.c_str(), start, end);
  void** user = nullptr;
  if (module_ != nullptr &&
      ::dwfl_module_info(module_, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != nullptr) {
    *user = this;
  }
  ::dwfl_report_end(dwfl_.get(), nullptr, nullptr);
}

Sources::~Sources() = default;

void Sources::forget_if_many() {
  if (places_.size() > most_places) {
    places_.clear();
  }
}

const std::vector<SourcePlace>& Sources::at(std::uint64_t address, unsigned behind) {
  // Code is at `address - behind`; both forms of one address are different questions.
  const std::uint64_t key = (address - behind) << 1 | behind;
  const auto [place, fresh] = places_.try_emplace(key);
  if (fresh) {
    place->second = find(address - behind, behind);
  }
  return place->second;
}

Dwarf_Die* Sources::unit_of(std::uint64_t address, Dwarf_Addr& bias) const {
  if (Dwarf_Die* unit = ::dwfl_module_addrdie(module_, address, &bias)) {
    return unit;
  }
  // Not every compiler writes a table of the addresses of units.
  constexpr std::size_t most_units = 100'000;
  Dwarf_Die* unit = nullptr;
  for (std::size_t i = 0; i < most_units; ++i) {
    unit = ::dwfl_module_nextcu(module_, unit, &bias);
    if (unit == nullptr || ::dwarf_haspc(unit, address - bias) > 0) {
      return unit;
    }
  }
  return nullptr;
}

std::vector<SourcePlace> Sources::find(std::uint64_t address, unsigned behind) const {
  std::vector<SourcePlace> places;
  if (module_ == nullptr) {
    return places;
  }
  Dwarf_Addr bias = 0;
  SourcePlace place;
  if (Dwarf_Die* const unit = unit_of(address, bias)) {
    if (Dwarf_Line* const line = ::dwarf_getsrc_die(unit, address - bias)) {
      int number = 0;
      ::dwarf_lineno(line, &number);
      place.line = number > 0 ? static_cast<unsigned>(number) : 0;
      place.file = bounded(::dwarf_linesrc(line, nullptr, nullptr));
    }
    Scopes owner;
    constexpr std::size_t most_inlined = 256;
    for (Dwarf_Die& scope : scopes_at(unit, address - bias, owner)) {
      const int tag = ::dwarf_tag(&scope);
      if (tag == DW_TAG_inlined_subroutine && places.size() < most_inlined) {
        place.function = function_name(&scope);
        place.inlined = true;
        places.push_back(std::move(place));
        place = {};
        set_call_place(unit, &scope, place);
      } else if (tag == DW_TAG_subprogram) {
        place.function = function_name(&scope);
        Dwarf_Addr entry = 0;
        if (::dwarf_lowpc(&scope, &entry) == 0 && entry <= address - bias) {
          place.offset = address - bias - entry + behind;
        }
        break;
      }
    }
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name = ::dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr && *name != '\0') {
    const std::string plain = bounded(name);
    place.function = demangle(plain.substr(0, plain.find('@')));  // @@GLIBC_2.34
    place.offset = offset + behind;
  }
  places.push_back(std::move(place));
  return places;
}

}  // namespace tracer::stack
