#include "functions/library/module_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/syscall_abi.h"
#include "base/printable.h"

namespace tracer::functions::library {

bool ModuleReader::read() {
  GElf_Ehdr header;
  if (::elf_kind(elf_) != ELF_K_ELF || ::gelf_getehdr(elf_, &header) == nullptr ||
      (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
    return false;
  }
  const auto abi = abi_of_elf(header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS64);
  if (!abi) {
    return false;
  }
  file_.abi_ = *abi;
  file_.entry_ = header.e_entry;
  read_segments();
  read_names();
  read_symbols();
  read_relocations(dynamic_.jumps, dynamic_.jumps_size, dynamic_.jumps_are_rela);
  read_relocations(dynamic_.rela, dynamic_.rela_size, true);
  read_relocations(dynamic_.rel, dynamic_.rel_size, false);
  if (!dynamic_.is_there) {
    read_relocation_sections();
  }
  read_full_symbols();
  unite_sizes();
  read_section_names();
  read_slot_contents();
  name_own_slots();
  find_stubs();
  file_.probes_ = read_static_probes(elf_, file_.abi_);
  return true;
}

void ModuleReader::read_segments() {
  std::size_t count = 0;
  if (::elf_getphdrnum(elf_, &count) != 0) {
    return;
  }
  std::optional<GElf_Phdr> dynamic;
  for (std::size_t i = 0; i < std::min(count, max_segments); ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) {
      break;
    }
    if (segment.p_type == PT_LOAD) {
      file_.segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, (segment.p_flags & PF_X) != 0});
    } else if (segment.p_type == PT_DYNAMIC) {
      dynamic = segment;
    } else if (segment.p_type == PT_INTERP) {
      file_.has_interpreter_ = true;
    }
  }
  if (dynamic) {
    read_dynamic(*dynamic);
  }
}

void ModuleReader::read_dynamic(const GElf_Phdr& segment) {
  dynamic_.is_there = true;
  const std::size_t entry_size = size_of(ELF_T_DYN);
  const std::uint64_t count = std::min<std::uint64_t>(segment.p_filesz / entry_size, max_dynamic_entries);
  Elf_Data* data = data_at(segment.p_offset, count * entry_size, ELF_T_DYN);
  for (std::uint64_t i = 0; data != nullptr && i < count; ++i) {
    GElf_Dyn entry;
    if (::gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) {
      break;
    }
    const std::uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_STRTAB:
        dynamic_.names = value;
        break;
      case DT_STRSZ:
        dynamic_.names_size = value;
        break;
      case DT_SYMTAB:
        dynamic_.symbols = value;
        break;
      case DT_HASH:
        dynamic_.hash = value;
        break;
      case DT_GNU_HASH:
        dynamic_.gnu_hash = value;
        break;
      case DT_VERSYM:
        dynamic_.versions = value;
        break;
      case DT_PLTGOT:
        dynamic_.got = value;
        break;
      case DT_SONAME:
        dynamic_.soname = value;
        break;
      case DT_JMPREL:
        dynamic_.jumps = value;
        break;
      case DT_PLTRELSZ:
        dynamic_.jumps_size = value;
        break;
      case DT_PLTREL:
        dynamic_.jumps_are_rela = value == DT_RELA;
        break;
      case DT_RELA:
        dynamic_.rela = value;
        break;
      case DT_RELASZ:
        dynamic_.rela_size = value;
        break;
      case DT_REL:
        dynamic_.rel = value;
        break;
      case DT_RELSZ:
        dynamic_.rel_size = value;
        break;
      case DT_DEBUG:
        file_.debug_entry_ = segment.p_vaddr + i * entry_size;
        break;
      default:
        break;
    }
  }
}

std::optional<std::uint64_t> ModuleReader::offset_of(std::uint64_t address) const {
  for (const Segment& segment : file_.segments_) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      return segment.offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

std::uint64_t ModuleReader::bytes_from(std::uint64_t address) const {
  for (const Segment& segment : file_.segments_) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      return segment.file_size - (address - segment.address);
    }
  }
  return 0;
}

Elf_Data* ModuleReader::data_at(std::uint64_t offset, std::uint64_t size, Elf_Type type) const {
  if (size == 0 || size > left_ || offset > static_cast<std::uint64_t>(INT64_MAX)) {
    return nullptr;
  }
  left_ -= size;
  return ::elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(offset), size, type);
}

Elf_Data* ModuleReader::data_of(std::uint64_t address, std::uint64_t size, Elf_Type type) const {
  const auto offset = offset_of(address);
  return offset ? data_at(*offset, size, type) : nullptr;
}

void ModuleReader::read_names() {
  const std::uint64_t size = std::min<std::uint64_t>(dynamic_.names_size, max_name_bytes);
  const Elf_Data* data = data_of(dynamic_.names, size, ELF_T_BYTE);
  if (data == nullptr) {
    return;
  }
  const auto* begin = static_cast<const char*>(data->d_buf);
  file_.dynamic_names_.assign(begin, begin + data->d_size);
  file_.soname_ = name_at(file_.dynamic_names_, dynamic_.soname);
}

std::string_view ModuleReader::name_at(const std::vector<char>& names, std::uint64_t offset) const {
  if (offset >= names.size()) {
    return {};
  }
  const char* begin = names.data() + offset;
  const void* end = std::memchr(begin, 0, std::min(names.size() - offset, max_name_size));
  if (end == nullptr) {
    return {};
  }
  const std::string_view name(begin, static_cast<std::size_t>(static_cast<const char*>(end) - begin));
  // Names may have their ends in common, and several symbols one name, but not all of them.
  constexpr std::uint64_t most_shared = 16;
  name_bytes_ += name.size();
  if (name_bytes_ > most_shared * (file_.dynamic_names_.size() + file_.names_.size()) + smallest_budget) {
    return {};
  }
  if (is_printable(name)) {
    return name;
  }
  std::string made = made_bytes_ < max_made_bytes ? printable(name) : std::string();
  made_bytes_ += made.size();
  return *file_.made_names_.insert(std::move(made)).first;
}

}  // namespace tracer::functions::library
