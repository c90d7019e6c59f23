#include "functions/library/module_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "debuginfo/elf_handle.h"
#include "functions/library/module_reader.h"

namespace tracer::functions::library {

bool is_cold_part(std::string_view name) {
  constexpr std::string_view suffix = ".cold";
  const auto at = name.find(suffix);
  return at != std::string_view::npos && (at + suffix.size() == name.size() || name[at + suffix.size()] == '.');
}

const Symbol* ModuleFile::find_exported(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &exported_[found->second];
}

const Symbol* ModuleFile::find_anywhere(std::string_view name) const {
  if (const Symbol* exported = find_exported(name); exported != nullptr) {
    return exported;
  }
  const auto matches = [&](const Symbol& symbol) { return symbol.name == name; };
  const auto found = std::find_if(all_functions_.begin(), all_functions_.end(), matches);
  return found == all_functions_.end() ? nullptr : &*found;
}

const Symbol* ModuleFile::find_function(std::string_view name) const {
  return exported_.empty() ? find_anywhere(name) : find_exported(name);
}

/// Reads a file as a whole. Empty if it is too large, or grows shorter.
static std::vector<char> read_image(int descriptor, std::uint64_t size) {
  constexpr std::uint64_t max_size = std::uint64_t{64} << 20;
  std::vector<char> image(size <= max_size ? static_cast<std::size_t>(size) : 0);
  for (std::size_t at = 0; at < image.size();) {
    const ssize_t read = ::pread(descriptor, image.data() + at, image.size() - at, static_cast<off_t>(at));
    if (read <= 0) {
      return {};
    }
    at += static_cast<std::size_t>(read);
  }
  return image;
}

Result<std::shared_ptr<const ModuleFile>> ModuleFile::read(int descriptor) {
  struct ::stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return Error{errno, {}};
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::vector<char> image;
  debuginfo::ElfHandle elf = debuginfo::open_elf(descriptor);
  if (!elf) {
    // The loader, which has mapped it, reads no section headers.
    image = read_image(descriptor, size);
    elf = debuginfo::open_elf_without_sections(image);
  }
  const std::shared_ptr<ModuleFile> file(new ModuleFile);
  if (!elf || !ModuleReader(elf.get(), size, *file).read()) {
    return Error{ENOEXEC, {}};
  }
  return std::shared_ptr<const ModuleFile>(file);
}

}  // namespace tracer::functions::library
