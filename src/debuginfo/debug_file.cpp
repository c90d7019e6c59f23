#include "debuginfo/debug_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tracer::debuginfo {

int DebugFile::find_separate_file(Dwfl_Module*, void** user, const char*, Dwarf_Addr, const char*, const char*,
                                  GElf_Word, char**) {
  return static_cast<DebugFile*>(*user)->debug_.release();
}

int DebugFile::find_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char** file, Elf** elf) {
  auto& self = *static_cast<DebugFile*>(*user);
  *elf = self.elf_.release();
  *file = ::strdup(self.name_.c_str());
  return -1;
}

DebugFile::DebugFile(ObjectFiles& files)
    : elf_(map_elf(files.object.get())),
      alternate_elf_(files.alternate.valid() ? map_elf(files.alternate.get()) : nullptr),
      alternate_(alternate_elf_ ? ::dwarf_begin_elf(alternate_elf_.get(), DWARF_C_READ, nullptr) : nullptr),
      debug_(std::move(files.debug)),
      name_(files.name) {
  callbacks_.find_elf = find_elf;
  callbacks_.find_debuginfo = find_separate_file;
  callbacks_.section_address = ::dwfl_offline_section_address;
  std::uint64_t start = ~std::uint64_t{0};
  std::uint64_t end = 0;
  std::uint64_t alignment = 1;
  std::size_t count = 0;
  if (!elf_ || ::elf_getphdrnum(elf_.get(), &count) != 0) {
    return;
  }
  word_size_ = ::gelf_getclass(elf_.get()) == ELFCLASS32 ? 4 : 8;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &header) != nullptr && header.p_type == PT_LOAD &&
        header.p_memsz <= ~std::uint64_t{0} - header.p_vaddr) {
      alignment = start == ~std::uint64_t{0} && header.p_align != 0 ? header.p_align : alignment;
      start = std::min(start, header.p_vaddr);
      end = std::max(end, header.p_vaddr + header.p_memsz);
    }
  }
  // The module is reported at the object's own addresses, so that both use the same addresses.
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
  Dwarf_Addr bias = 0;
  if (Dwarf* const dwarf = alternate_ ? ::dwfl_module_getdwarf(module_, &bias) : nullptr) {
    ::dwarf_setalt(dwarf, alternate_.get());
  }
}

Dwarf_Die* DebugFile::unit_of(std::uint64_t address, Dwarf_Addr& bias) const {
  if (Dwarf_Die* unit = ::dwfl_module_addrdie(module_, address, &bias)) {
    return unit;
  }
  // Not every compiler writes .debug_aranges.
  constexpr std::size_t max_units = 100'000;
  Dwarf_Die* unit = nullptr;
  for (std::size_t i = 0; i < max_units; ++i) {
    unit = ::dwfl_module_nextcu(module_, unit, &bias);
    if (unit == nullptr || ::dwarf_haspc(unit, address - bias) > 0) {
      return unit;
    }
  }
  return nullptr;
}

}  // namespace tracer::debuginfo
