#include "stack/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "proc/proc_text.h"
#include "proc/tracee_file.h"

namespace tracer::stack {

namespace {

/// Opens the mapped file itself, even if it is deleted. Requires CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
proc::TraceeFile open_mapped(pid_t tid, const Mapping& mapping) {
  return proc::open_regular(proc::proc_path(tid, "map_files/" + mapping.map_files_name()));
}

/// Opens the program, even if it is deleted. Permission to trace the process suffices.
proc::TraceeFile open_program(pid_t tid) {
  return proc::open_regular(proc::proc_path(tid, "exe"));
}

bool is_mapped_file(const proc::TraceeFile& found, const Mapping& mapping) {
  return found.descriptor.valid() && found.status.st_ino == mapping.inode && found.status.st_dev == mapping.device;
}

/// Whether only root can write the file.
bool only_root_can_write(const struct ::stat& status) {
  constexpr mode_t others = S_IWGRP | S_IWOTH;
  return status.st_uid == 0 && (status.st_mode & others) == 0;
}

/// Removes the objects that no process uses at present.
template <typename Map>
void drop_unused(Map& objects) {
  std::erase_if(objects, [](const auto& each) { return each.second.use_count() <= 1; });
}

}  // namespace

std::shared_ptr<ElfObject> ObjectCache::find(const Mapping& mapping, pid_t tid, const trace::Memory& memory) {
  // Of what is in memory only, the vDSO is an object. A tracee may run code in its heap or on its stack, too.
  if (mapping.path.empty() || (mapping.path.front() == '[' && mapping.path != "[vdso]")) {
    return nullptr;
  }
  if (mapping.path.front() == '/') {
    proc::TraceeFile found = proc::open_in_tracee(tid, mapping.path);
    if (!is_mapped_file(found, mapping)) {
      found = open_mapped(tid, mapping);
    }
    if (!found.descriptor.valid()) {
      found = open_program(tid);
      if (!is_mapped_file(found, mapping)) {
        found = proc::open_regular(mapping.path);  // the process is gone; it may have had the tracer's root
      }
      if (!is_mapped_file(found, mapping)) {
        found.descriptor.reset();
      }
    }
    if (found.descriptor.valid()) {
      const struct ::stat& status = found.status;
      const Identity identity{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                              status.st_mtim.tv_nsec};
      return from_file(std::move(found.descriptor), identity, only_root_can_write(status));
    }
  }
  return from_memory(mapping, tid, memory);
}

std::shared_ptr<ElfObject> ObjectCache::from_file(UniqueFd file, const Identity& identity, bool trusted) {
  if (const auto known = files_.find(identity); known != files_.end()) {
    return known->second;
  }
  // A program can change its files all the time.
  if (files_.size() >= max_files || bytes_read_ >= max_unused_bytes || changes_too_often(identity)) {
    drop_unused(files_);
    bytes_read_ = 0;
  }
  if (changes_too_often(identity)) {
    return nullptr;
  }
  bytes_read_ += static_cast<std::uint64_t>(identity.size);
  auto object = ElfObject::open(std::move(file), trusted);
  if (files_.size() < max_files) {
    files_.emplace(identity, object);
  }
  return object;
}

bool ObjectCache::changes_too_often(const Identity& identity) const {
  const auto first = files_.lower_bound({identity.device, identity.inode, -1, 0, 0});
  const auto end = std::find_if(first, files_.end(), [&](const auto& each) {
    return each.first.device != identity.device || each.first.inode != identity.inode;
  });
  return static_cast<std::size_t>(std::distance(first, end)) >= max_versions;
}

namespace {

/// Reads the present memory of a thread that has been resumed, where the event's memory does not contain the vDSO. The
/// vDSO does not change.
void read_present_memory(pid_t tid, std::uint64_t address, std::span<char> into) {
  const UniqueFd memory(::open(proc::proc_path(tid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  if (memory.valid()) {
    (void)::pread(memory.get(), into.data(), into.size(), static_cast<off_t>(address));
  }
}

}  // namespace

std::shared_ptr<ElfObject> ObjectCache::from_memory(const Mapping& mapping, pid_t tid, const trace::Memory& memory) {
  constexpr std::uint64_t max_size = 32 << 20;
  std::vector<char> image;
  for (const Mapping& part : read_mappings(tid, MappingKind::all)) {
    const std::uint64_t size = part.end - part.start;
    if (part.path != mapping.path || part.inode != mapping.inode || part.device != mapping.device ||
        part.end < part.start || size > max_size || part.file_offset > max_size - size) {
      continue;
    }
    const auto offset = static_cast<std::size_t>(part.file_offset);
    image.resize(std::max(image.size(), offset + static_cast<std::size_t>(size)));
    const auto target = std::span(image).subspan(offset, static_cast<std::size_t>(size));
    // Memory that cannot be read stays zero.
    if (memory.read(RemoteAddr(part.start), std::as_writable_bytes(target)) == 0) {
      read_present_memory(tid, part.start, target);
    }
  }
  if (const auto known = images_.find(image); known != images_.end()) {
    return known->second;
  }
  if (images_.size() >= max_images || image_bytes_ + image.size() > max_image_bytes) {
    drop_unused_images();
  }
  if (images_.size() >= max_images || image_bytes_ + image.size() > max_image_bytes) {
    return nullptr;
  }
  auto object = ElfObject::from_image(image);
  image_bytes_ += image.size();
  images_.emplace(std::move(image), object);
  return object;
}

void ObjectCache::drop_unused_images() {
  drop_unused(images_);
  image_bytes_ = 0;
  for (const auto& [image, object] : images_) {
    image_bytes_ += image.size();
  }
}

}  // namespace tracer::stack
