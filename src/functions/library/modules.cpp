#include "functions/library/modules.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/printable.h"
#include "base/unique_fd.h"
#include "proc/auxiliary_vector.h"
#include "proc/memory_map.h"
#include "proc/proc_text.h"
#include "proc/tracee_file.h"

namespace tracer::functions::library {
namespace {

constexpr std::size_t most_modules = 4096;         // of a process, which can map one file as often as it likes
constexpr std::uint64_t lowest_address = 0x10000;  // vm.mmap_min_addr

std::optional<std::uint64_t> bias_of(const ModuleFile& file, const proc::MappedRange& mapping) {
  constexpr std::uint64_t page = 4096;
  for (const Segment& segment : file.segments()) {
    const std::uint64_t slack = segment.offset % page;
    const std::uint64_t first = segment.offset - slack;
    if (segment.executable && mapping.file_offset >= first && mapping.file_offset - first < segment.file_size + slack) {
      return mapping.start - (segment.address - slack + (mapping.file_offset - first));
    }
  }
  return std::nullopt;
}

void mark_program(pid_t pid, std::vector<Module>& modules) {
  const auto program = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
    const auto entry = proc::auxiliary_value(pid, AT_ENTRY, word_size(module.file->abi()));
    return entry >= module.start && entry < module.end;
  });
  const auto with_interpreter =
      std::find_if(modules.begin(), modules.end(), [](const Module& m) { return m.file->has_interpreter(); });
  if (program != modules.end() && (program->file->soname().empty() || with_interpreter == modules.end())) {
    program->is_program = true;
  } else if (with_interpreter != modules.end()) {
    with_interpreter->is_program = true;  // the dynamic linker was started with the program as its argument
  }
}

}  // namespace

std::shared_ptr<const ModuleFile> ModuleCache::open(pid_t pid, const std::string& range, const std::string& path,
                                                    ino_t inode) {
  const proc::TraceeFile found = proc::open_mapped(pid, range, path, inode);
  if (!found.descriptor.valid()) {
    return nullptr;
  }
  const struct ::stat& info = found.status;
  const Key key(info.st_dev, info.st_ino, info.st_size,
                std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec);
  const auto known = files_.find(key);
  if (known != files_.end()) {
    return known->second;
  }
  // A program can change its files all the time.
  if (files_.size() >= max_files || bytes_read_ >= max_unused_bytes) {
    std::erase_if(files_, [](const auto& each) { return each.second.use_count() <= 1; });
    bytes_read_ = 0;
  }
  bytes_read_ += static_cast<std::uint64_t>(info.st_size);
  auto file = ModuleFile::read(found.descriptor.get());
  return files_[key] = file ? std::move(file).value() : nullptr;
}

std::vector<Module> modules_of(pid_t pid, ModuleCache& cache) {
  std::vector<Module> modules;
  proc::for_each_range(proc::read_memory_map(pid), [&](const proc::MappedRange& mapping) {
    if (!mapping.is_executable() || mapping.inode == 0 || modules.size() == most_modules) {
      return;
    }
    constexpr std::string_view deleted = " (deleted)";
    std::string path(mapping.path);
    if (path.ends_with(deleted)) {
      path.resize(path.size() - deleted.size());
    }
    auto file = cache.open(pid, mapping.map_files_name(), path, mapping.inode);
    const auto bias = file != nullptr ? bias_of(*file, mapping) : std::nullopt;
    if (!bias) {
      return;
    }
    if (!modules.empty() && modules.back().file == file && modules.back().bias == *bias) {
      modules.back().end = mapping.end;
      return;
    }
    Module module;
    module.name = file->soname().empty() ? printable(path.substr(path.rfind('/') + 1)) : std::string(file->soname());
    module.file = std::move(file);
    module.range = mapping.map_files_name();
    module.bias = *bias;
    module.start = mapping.start;
    module.end = mapping.end;
    module.path = std::move(path);
    module.inode = mapping.inode;
    modules.push_back(std::move(module));
  });
  mark_program(pid, modules);
  return modules;
}

std::uint64_t free_space_below(pid_t pid, std::uint64_t address, std::uint64_t size, std::uint64_t reach) {
  std::uint64_t best = 0;
  std::uint64_t previous_end = lowest_address;
  proc::for_each_range(proc::read_memory_map(pid), [&](const proc::MappedRange& mapping) {
    // The largest page size of any kernel stays free on both sides.
    constexpr std::uint64_t margin = 65536;
    const std::uint64_t hole = mapping.start > previous_end ? mapping.start - previous_end : 0;
    const std::uint64_t needed = size + 3 * margin;
    if (mapping.start <= address && hole >= needed) {
      const std::uint64_t distance = std::min((hole - needed) / 8, reach / 8);
      best = (mapping.start - margin - size - distance) / margin * margin;
    }
    previous_end = std::max(previous_end, mapping.end);
  });
  return best;
}

bool is_executable(pid_t pid, std::uint64_t address) {
  bool found = false;
  proc::for_each_range(proc::read_memory_map(pid), [&](const proc::MappedRange& mapping) {
    found = found || (mapping.is_executable() && address >= mapping.start && address < mapping.end);
  });
  return found;
}

std::pair<std::uint64_t, std::uint64_t> vdso_of(pid_t pid) {
  std::pair<std::uint64_t, std::uint64_t> found{};
  proc::for_each_range(proc::read_memory_map(pid), [&](const proc::MappedRange& mapping) {
    if (mapping.path == "[vdso]") {
      found = {mapping.start, mapping.end - mapping.start};
    }
  });
  return found;
}

std::uint64_t uprobe_trampoline_of(pid_t pid) {
  std::uint64_t found = 0;
  proc::for_each_range(proc::read_memory_map(pid), [&](const proc::MappedRange& mapping) {
    found = mapping.path == "[uprobes]" ? mapping.start : found;
  });
  return found;
}

}  // namespace tracer::functions::library
