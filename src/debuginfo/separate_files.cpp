#include "debuginfo/separate_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/shared_library.h"

namespace tracer::debuginfo {

namespace {

constexpr std::string_view debug_directory = "/usr/lib/debug";
constexpr off_t max_size = off_t{4} << 30;           // of a separate file, in bytes
constexpr off_t max_summed_size = off_t{512} << 20;  // of one that is known by its checksum only
constexpr std::size_t max_note_size = 64 << 10;      // bytes
constexpr std::size_t max_link_size = 4096;          // bytes

/// Returns the contents of a section of notes or links, which are short.
std::span<const char> contents(Elf_Scn* section, const GElf_Shdr& header, std::size_t max) {
  const Elf_Data* data =
      header.sh_size > max || header.sh_type == SHT_NOBITS ? nullptr : ::elf_rawdata(section, nullptr);
  return data == nullptr || data->d_buf == nullptr
             ? std::span<const char>()
             : std::span<const char>(static_cast<const char*>(data->d_buf), data->d_size);
}

/// What the section headers say of debugging information.
struct Links {
  bool has_own = false;  ///< the object has .debug_info
  std::vector<std::uint8_t> build_id;
  std::string link;            ///< .gnu_debuglink
  std::uint32_t checksum = 0;  ///< of the file `link`
  std::string alternate;       ///< .gnu_debugaltlink
  std::vector<std::uint8_t> alternate_id;
};

void read_build_id(std::span<const char> notes, std::vector<std::uint8_t>& into) {
  GElf_Nhdr header;
  while (notes.size() >= sizeof header) {
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t name = (std::size_t{header.n_namesz} + 3) & ~std::size_t{3};
    const std::size_t content = (std::size_t{header.n_descsz} + 3) & ~std::size_t{3};
    if (notes.size() - sizeof header < name + header.n_descsz) {
      return;
    }
    const char* const text = notes.data() + sizeof header;
    if (header.n_type == NT_GNU_BUILD_ID && std::string_view(text, name).substr(0, 3) == "GNU") {
      into.assign(text + name, text + name + header.n_descsz);
      return;
    }
    notes = notes.subspan(std::min(notes.size(), sizeof header + name + content));
  }
}

void read_link(std::span<const char> bytes, Links& links) {
  const auto end = std::find(bytes.begin(), bytes.end(), '\0');
  links.link.assign(bytes.begin(), end);
  const std::size_t at = (links.link.size() + 4) & ~std::size_t{3};
  if (end == bytes.end() || bytes.size() < at + sizeof links.checksum) {
    links.link.clear();
    return;
  }
  std::memcpy(&links.checksum, bytes.data() + at, sizeof links.checksum);
}

void read_alternate(std::span<const char> bytes, Links& links) {
  const auto end = std::find(bytes.begin(), bytes.end(), '\0');
  if (end != bytes.end()) {
    links.alternate.assign(bytes.begin(), end);
    links.alternate_id.assign(end + 1, bytes.end());
  }
}

Links links_of(Elf* elf) {
  Links links;
  std::size_t names = 0;
  Elf_Scn* section = ::elf_getshdrstrndx(elf, &names) == 0 ? ::elf_nextscn(elf, nullptr) : nullptr;
  for (; section != nullptr; section = ::elf_nextscn(elf, section)) {
    GElf_Shdr header;
    const char* const text =
        ::gelf_getshdr(section, &header) != nullptr ? ::elf_strptr(elf, names, header.sh_name) : nullptr;
    const std::string_view name = text == nullptr ? "" : text;
    if (name == ".debug_info" || name == ".zdebug_info") {
      links.has_own = links.has_own || header.sh_type != SHT_NOBITS;
    } else if (name == ".gnu_debuglink") {
      read_link(contents(section, header, max_link_size), links);
    } else if (name == ".gnu_debugaltlink") {
      read_alternate(contents(section, header, max_link_size), links);
    } else if (header.sh_type == SHT_NOTE && links.build_id.empty()) {
      read_build_id(contents(section, header, max_note_size), links.build_id);
    }
  }
  return links;
}

Links links_of(const UniqueFd& file) {
  const ElfHandle elf = open_elf(file.get());
  return elf ? links_of(elf.get()) : Links{};
}

/// The checksum of .gnu_debuglink is the CRC-32 of zip and Ethernet.
class Checksum {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t step = 8;
    while (bytes.size() >= step) {
      std::uint32_t next = 0;
      for (std::size_t i = 0; i < step; ++i) {
        const auto early = static_cast<std::uint8_t>(i < sizeof value_ ? value_ >> (8 * i) : 0);
        next ^= tables_[step - 1 - i][bytes[i] ^ early];
      }
      value_ = next;
      bytes = bytes.subspan(step);
    }
    for (const std::uint8_t byte : bytes) {
      value_ = value_ >> 8 ^ tables_[0][(value_ ^ byte) & 0xff];
    }
  }
  [[nodiscard]] std::uint32_t value() const { return ~value_; }

 private:
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;  ///< [k][byte]: the byte followed by k zeros

  static Tables make_tables() {
    constexpr std::uint32_t polynomial = 0xedb88320;
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      std::uint32_t value = byte;
      for (int bit = 0; bit < 8; ++bit) {
        value = value >> 1 ^ ((value & 1) != 0 ? polynomial : 0);
      }
      tables[0][byte] = value;
    }
    for (std::size_t k = 1; k < tables.size(); ++k) {
      for (std::size_t byte = 0; byte < 256; ++byte) {
        tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
      }
    }
    return tables;
  }

  const Tables tables_ = make_tables();
  std::uint32_t value_ = ~std::uint32_t{0};
};

bool has_checksum(const proc::TraceeFile& file, std::uint32_t wanted) {
  if (file.status.st_size > max_summed_size) {
    return false;
  }
  Checksum sum;
  std::vector<std::uint8_t> piece(1 << 20);
  for (off_t at = 0; at < max_summed_size;) {
    const ssize_t count = ::pread(file.descriptor.get(), piece.data(), piece.size(), at);
    if (count <= 0) {
      return count == 0 && sum.value() == wanted;
    }
    sum.add(std::span(piece).first(static_cast<std::size_t>(count)));
    at += count;
  }
  return false;
}

bool has_build_id(const proc::TraceeFile& file, std::span<const std::uint8_t> wanted) {
  const auto found = file.descriptor.valid() && file.status.st_size <= max_size ? links_of(file.descriptor).build_id
                                                                                : std::vector<std::uint8_t>();
  return !found.empty() && std::equal(found.begin(), found.end(), wanted.begin(), wanted.end());
}

std::string build_id_path(std::span<const std::uint8_t> id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string path(debug_directory);
  path += "/.build-id/";
  for (std::size_t i = 0; i < id.size(); ++i) {
    path += digits[id[i] >> 4];
    path += digits[id[i] & 0xf];
    path += i == 0 ? "/" : "";
  }
  return path + ".debug";
}

UniqueFd by_build_id(std::span<const std::uint8_t> id, const proc::Root& root) {
  constexpr std::size_t shortest = 3;
  constexpr std::size_t longest = 64;
  if (id.size() < shortest || id.size() > longest) {
    return {};
  }
  // A container often lacks the files that the tracer's own system has.
  const std::string path = build_id_path(id);
  for (const bool own : {false, true}) {
    proc::TraceeFile file = own ? proc::Root::own().open(path) : root.open(path);
    if (has_build_id(file, id)) {
      return std::move(file.descriptor);
    }
  }
  return {};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

UniqueFd by_link(const Links& links, const std::string& name, const proc::Root& root) {
  if (!is_plain_name(links.link) || !name.starts_with('/')) {
    return {};
  }
  const std::string directory = name.substr(0, name.rfind('/') + 1);
  for (const std::string& place : {directory, directory + ".debug/", std::string(debug_directory) + directory}) {
    proc::TraceeFile file = root.open(place + links.link);
    if (file.descriptor.valid() && (has_build_id(file, links.build_id) || has_checksum(file, links.checksum))) {
      return std::move(file.descriptor);
    }
  }
  return {};
}

/// Asks servers (debuginfod_find_debuginfo(3)), which the user has named. Nothing is loaded otherwise.
UniqueFd by_server(std::span<const std::uint8_t> id) {
  const char* const servers = std::getenv("DEBUGINFOD_URLS");
  if (id.empty() || servers == nullptr || *servers == '\0') {
    return {};
  }
  SharedLibrary library("libdebuginfod.so.1", "libdebuginfod1");
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  int (*find)(void*, const unsigned char*, int, char**) = nullptr;
  library.find(begin, "debuginfod_begin");
  library.find(end, "debuginfod_end");
  library.find(find, "debuginfod_find_debuginfo");
  void* const client = library.status() ? begin() : nullptr;
  if (client == nullptr) {
    return {};
  }
  UniqueFd file(find(client, id.data(), static_cast<int>(id.size()), nullptr));
  end(client);
  return file;
}

/// Returns the file that several debugging files share. Its path may be relative to that of the debugging file.
UniqueFd alternate_of(const Links& links, const proc::Root& root) {
  if (links.alternate.empty()) {
    return {};
  }
  if (UniqueFd found = by_build_id(links.alternate_id, root); found.valid()) {
    return found;
  }
  const std::filesystem::path path = std::filesystem::path(links.alternate).lexically_normal();
  if (!path.string().starts_with(std::string(debug_directory) + '/')) {
    return {};
  }
  proc::TraceeFile file = root.open(path.string());
  return has_build_id(file, links.alternate_id) ? std::move(file.descriptor) : UniqueFd();
}

}  // namespace

UniqueFd separate_symbols(Elf* elf, const std::string& name, const proc::Root& root) {
  const Links links = links_of(elf);
  if (links.has_own) {
    return {};
  }
  UniqueFd found = by_build_id(links.build_id, root);
  return found.valid() ? std::move(found) : by_link(links, name, root);
}

ObjectFiles with_separate_files(UniqueFd object, std::string name, const proc::Root& root) {
  ObjectFiles files{std::move(name), std::move(object), {}, {}};
  Links links = links_of(files.object);
  if (!links.has_own) {
    files.debug = by_build_id(links.build_id, root);
    if (!files.debug.valid()) {
      files.debug = by_link(links, files.name, root);
    }
    if (!files.debug.valid()) {
      files.debug = by_server(links.build_id);
    }
    links = files.debug.valid() ? links_of(files.debug) : Links{};
  }
  files.alternate = alternate_of(links, root);
  return files;
}

}  // namespace tracer::debuginfo
