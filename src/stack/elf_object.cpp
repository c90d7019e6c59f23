#include "stack/elf_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "debuginfo/mini_debug.h"
#include "debuginfo/separate_files.h"
#include "proc/tracee_file.h"

namespace tracer::stack {

ElfObject::ElfObject(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf)
    : file_(std::move(file)), image_(std::move(image)), elf_(std::move(elf)) {}

std::shared_ptr<ElfObject> ElfObject::open(UniqueFd file, bool trusted) {
  auto elf = debuginfo::open_elf(file.get());
  return make(std::move(file), {}, std::move(elf), trusted);
}

std::shared_ptr<ElfObject> ElfObject::from_image(std::vector<char> image) {
  auto elf = debuginfo::open_elf(image);
  return make(UniqueFd(), std::move(image), std::move(elf), false);
}

std::shared_ptr<ElfObject> ElfObject::make(UniqueFd file, std::vector<char> image, debuginfo::ElfHandle elf,
                                           bool trusted) {
  if (!elf) {
    return nullptr;
  }
  std::shared_ptr<ElfObject> object(new ElfObject(std::move(file), std::move(image), std::move(elf)));
  std::size_t count = 0;
  ::elf_getphdrnum(object->elf_.get(), &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (::gelf_getphdr(object->elf_.get(), static_cast<int>(i), &header) == nullptr) {
      continue;
    }
    if (header.p_type == PT_LOAD) {
      object->segments_.push_back({header.p_offset, header.p_filesz, header.p_vaddr, (header.p_flags & PF_X) != 0});
    } else if (header.p_type == PT_GNU_EH_FRAME) {
      object->frame_header_ = header.p_vaddr;
    }
  }
  const bool usable = trusted || debuginfo::has_bounded_call_frames(object->elf_.get());
  object->frames_ = std::make_unique<CallFrames>(usable ? object->elf_.get() : nullptr);
  return object;
}

std::optional<std::uint64_t> ElfObject::address_of(std::uint64_t file_offset) const {
  const Segment* found = nullptr;
  for (const Segment& segment : segments_) {
    if (file_offset >= segment.file_offset && file_offset - segment.file_offset < segment.size &&
        (found == nullptr || segment.executable)) {
      found = &segment;
    }
  }
  return found == nullptr ? std::nullopt : std::optional(file_offset - found->file_offset + found->address);
}

UniqueFd ElfObject::duplicate() const {
  UniqueFd file(file_.valid() ? ::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0) : ::memfd_create("image", MFD_CLOEXEC));
  if (!file_.valid() && ::write(file.get(), image_.data(), image_.size()) != static_cast<ssize_t>(image_.size())) {
    file.reset();
  }
  return file;
}

void ElfObject::load_symbols(const std::string& name, pid_t tid, debuginfo::Reader& reader) {
  symbols_.emplace();
  // The full table goes first: of names with one address its first one shows.
  debug_ = debuginfo::separate_symbols(elf_.get(), name, proc::Root::of(tid));
  debug_elf_ = debug_.valid() ? debuginfo::open_elf(debug_.get()) : debuginfo::ElfHandle();
  if (debug_elf_) {
    symbols_->add(debug_elf_.get());
  }
  symbols_->add(elf_.get());
  mini_debug_ = debuginfo::read_mini_debug_file(elf_.get(), duplicate(), name, reader);
  mini_elf_ = debuginfo::open_elf(mini_debug_);
  if (mini_elf_) {
    symbols_->add(mini_elf_.get());
  }
}

const FunctionName* ElfObject::function(std::uint64_t address, const std::string& path, pid_t tid,
                                        debuginfo::Reader& reader) {
  if (const auto known = names_.find(address); known != names_.end()) {
    return known->second ? &*known->second : nullptr;
  }
  if (!symbols_) {
    load_symbols(path, tid, reader);
  }
  auto& name = names_[address];
  if (const auto symbol = symbols_->around(address)) {
    name = FunctionName{demangle(symbol->name), address - symbol->start};
    name_bytes_ += name->name.size();
  }
  return name ? &*name : nullptr;
}

Sources* ElfObject::sources(const std::string& name, pid_t tid, debuginfo::Reader& reader) {
  if (!sources_) {
    sources_ =
        std::make_unique<Sources>(debuginfo::with_separate_files(duplicate(), name, proc::Root::of(tid)), reader);
  }
  return sources_.get();
}

void ElfObject::trim_caches() {
  if (sources_) {
    sources_->trim_cache();
  }
  if (names_.size() > max_names || name_bytes_ > max_name_bytes) {
    names_.clear();
    name_bytes_ = 0;
  }
}

}  // namespace tracer::stack
