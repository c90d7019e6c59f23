#include "functions/library/module_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

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

Result<std::shared_ptr<const ModuleFile>> ModuleFile::read(int descriptor) {
  const debuginfo::ElfHandle elf = debuginfo::open_elf(descriptor);
  if (!elf) {
    return Error{ENOEXEC, {}};
  }
  const std::shared_ptr<ModuleFile> file(new ModuleFile);
  struct ::stat status {};
  if (::fstat(descriptor, &status) != 0 ||
      !ModuleReader(elf.get(), static_cast<std::uint64_t>(status.st_size), *file).read()) {
    return Error{ENOEXEC, {}};
  }
  return std::shared_ptr<const ModuleFile>(file);
}

}  // namespace tracer::functions::library
