#include "explain/file_header.h"

#include <elf.h>
#include <fmt/core.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "debuginfo/elf_handle.h"
#include "explain/system_view.h"
#include "proc/tracee_file.h"

namespace tracer::explain {

namespace {

constexpr std::size_t max_entries = 4096;  // limit for every table, as the file may be hostile

void read_script(FileHeader& header, const std::string& start) {
  header.kind = FileHeader::Kind::script;
  std::string line = start.substr(2, std::min(start.find('\n'), start.size()) - 2);
  header.carriage_return = !line.empty() && line.back() == '\r';
  const std::size_t from = line.find_first_not_of(" \t");
  if (from == std::string::npos) {
    return;
  }
  line = line.substr(from);
  const std::size_t space = line.find_first_of(" \t");
  header.interpreter = line.substr(0, space);
  if (space != std::string::npos) {
    const std::size_t word = line.find_first_not_of(" \t", space);
    header.interpreter_argument = word == std::string::npos ? "" : line.substr(word);
  }
}

std::string text_at(Elf* elf, std::size_t section, std::size_t offset) {
  const char* text = ::elf_strptr(elf, section, offset);
  return text == nullptr ? std::string() : std::string(text).substr(0, 4096);
}

void read_dynamic(FileHeader& header, Elf* elf, Elf_Scn* section, const GElf_Shdr& section_header) {
  Elf_Data* data = ::elf_getdata(section, nullptr);
  GElf_Dyn entry;
  for (int i = 0; data != nullptr && i < static_cast<int>(max_entries) && ::gelf_getdyn(data, i, &entry) != nullptr;
       ++i) {
    if (entry.d_tag == DT_NEEDED) {
      header.needed.push_back(text_at(elf, section_header.sh_link, entry.d_un.d_val));
    } else if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
      header.run_path = text_at(elf, section_header.sh_link, entry.d_un.d_val);
    }
  }
}

void read_versions(FileHeader& header, Elf* elf, Elf_Scn* section, const GElf_Shdr& section_header) {
  Elf_Data* data = ::elf_getdata(section, nullptr);
  int offset = 0;
  for (std::size_t i = 0; data != nullptr && i < max_entries; ++i) {
    GElf_Verdef definition;
    GElf_Verdaux name;
    if (::gelf_getverdef(data, offset, &definition) == nullptr ||
        ::gelf_getverdaux(data, offset + static_cast<int>(definition.vd_aux), &name) == nullptr) {
      return;
    }
    header.versions.push_back(text_at(elf, section_header.sh_link, name.vda_name));
    if (definition.vd_next == 0) {
      return;
    }
    offset += static_cast<int>(definition.vd_next);
  }
}

void read_elf(FileHeader& header, int fd, std::uint64_t size) {
  header.kind = FileHeader::Kind::elf;
  std::array<unsigned char, EI_NIDENT + 4> ident{};
  if (::pread(fd, ident.data(), ident.size(), 0) == static_cast<ssize_t>(ident.size())) {
    header.bits = ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    const bool little = ident[EI_DATA] != ELFDATA2MSB;
    header.machine = little ? ident[18] | unsigned{ident[19]} << 8 : ident[19] | unsigned{ident[18]} << 8;
  }
  const debuginfo::ElfHandle elf = debuginfo::open_elf(fd);
  GElf_Ehdr file;
  std::size_t programs = 0;
  if (elf == nullptr || ::gelf_getehdr(elf.get(), &file) == nullptr || ::elf_getphdrnum(elf.get(), &programs) != 0) {
    header.truncated = true;
    return;
  }
  if (file.e_phoff + programs * file.e_phentsize > size) {
    header.truncated = true;
    return;
  }
  for (std::size_t i = 0; i < std::min(programs, max_entries); ++i) {
    GElf_Phdr segment;
    if (::gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) {
      header.truncated = true;
      return;
    }
    if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > size) {
      header.truncated = true;
    }
    if (segment.p_type == PT_INTERP && segment.p_filesz > 0 && segment.p_filesz < 4096) {
      std::string name(segment.p_filesz, '\0');
      if (::pread(fd, name.data(), name.size(), static_cast<off_t>(segment.p_offset)) > 0) {
        header.interpreter = name.substr(0, name.find('\0'));
      }
    }
  }
  std::size_t sections = 0;
  for (Elf_Scn* section = nullptr; sections < max_entries && (section = ::elf_nextscn(elf.get(), section)) != nullptr;
       ++sections) {
    GElf_Shdr section_header;
    if (::gelf_getshdr(section, &section_header) == nullptr) {
      return;
    }
    if (section_header.sh_type == SHT_DYNAMIC) {
      read_dynamic(header, elf.get(), section, section_header);
    } else if (section_header.sh_type == SHT_GNU_verdef) {
      read_versions(header, elf.get(), section, section_header);
    }
  }
}

}  // namespace

FileHeader read_header(const std::string& path) {
  FileHeader header;
  const proc::TraceeFile file = proc::open_regular(path);
  if (!file.descriptor.valid()) {
    return header;
  }
  std::string start(512, '\0');
  start.resize(
      static_cast<std::size_t>(std::max<ssize_t>(::pread(file.descriptor.get(), start.data(), start.size(), 0), 0)));
  if (start.empty()) {
    header.kind = FileHeader::Kind::empty;
  } else if (start.compare(0, 2, "#!") == 0) {
    read_script(header, start);
  } else if (start.compare(0, SELFMAG, ELFMAG) == 0) {
    read_elf(header, file.descriptor.get(), static_cast<std::uint64_t>(file.status.st_size));
  } else {
    header.kind = FileHeader::Kind::other;
  }
  return header;
}

std::string machine_name(unsigned machine) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 11> names = {{{EM_386, "i386"},
                                                                            {EM_X86_64, "x86-64"},
                                                                            {EM_ARM, "32-bit ARM"},
                                                                            {EM_AARCH64, "AArch64 (64-bit ARM)"},
                                                                            {EM_RISCV, "RISC-V"},
                                                                            {EM_PPC64, "64-bit PowerPC"},
                                                                            {EM_PPC, "PowerPC"},
                                                                            {EM_S390, "S/390"},
                                                                            {EM_MIPS, "MIPS"},
                                                                            {EM_SPARCV9, "SPARC"},
                                                                            {EM_LOONGARCH, "LoongArch"}}};
  const auto* at = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return entry.first == machine; });
  return at == names.end() ? fmt::format("machine number {}", machine) : std::string(at->second);
}

unsigned native_machine() {
  return read_header("/proc/self/exe").machine;
}

}  // namespace tracer::explain
