#include "debuginfo/debug_file.h"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/unique_fd.h"

namespace tracer::debuginfo {

namespace {

/// Returns `file`, or a copy if users other than root can write it. libdw maps separate files, and a file that somebody
/// truncates would kill the tracer with SIGBUS.
int stable_file(UniqueFd file) {
  struct ::stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return -1;
  }
  if (status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
    return file.release();
  }
  constexpr off_t max_size = off_t{1} << 30;
  UniqueFd copy(::memfd_create("debug", MFD_CLOEXEC));
  if (!copy.valid() || !S_ISREG(status.st_mode) || status.st_size > max_size) {
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
  return fd.valid() ? stable_file(std::move(fd)) : -1;
}

}  // namespace

int DebugFile::find_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char** file, Elf** elf) {
  auto& self = *static_cast<DebugFile*>(*user);
  *elf = self.elf_.release();
  *file = ::strdup(self.name_.c_str());
  return -1;
}

DebugFile::DebugFile(ElfHandle elf, const std::string& name) : elf_(std::move(elf)), name_(name) {
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
