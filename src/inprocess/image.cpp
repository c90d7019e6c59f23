#include "inprocess/image.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "base/unique_fd.h"
#include "inprocess/embedded.h"
#include "proc/proc_text.h"

namespace tracer::inprocess {
namespace {

constexpr std::size_t page_size = 4096;
constexpr std::uint64_t gadget = recorder_address + call_gadget_offset;

std::size_t in_pages(std::size_t size) {
  return (size + page_size - 1) / page_size * page_size;
}

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

std::uint64_t random_page() {
  std::uint64_t value = 0;
  static_cast<void>(::getrandom(&value, sizeof value, 0));
  constexpr std::uint64_t most = 0x7fff'ffff'ffff'f000;
  return value & most;
}

/// A file in memory that is the thread's and ours, of this size for good.
struct SharedFile {
  std::uint64_t theirs = 0;  ///< its descriptor in the tracee
  UniqueFd ours;
};

Result<SharedFile> share_file(Injector& injector, pid_t tid, std::size_t size) {
  const auto made = injector.call(gadget, SYS_memfd_create,
                                  {recorder_address + name_offset, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0});
  if (!made) {
    return made.error();
  }
  SharedFile file;
  file.theirs = made.value();
  file.ours = UniqueFd(
      ::open(proc::proc_path(tid, fmt::format("fd/{}", made.value())).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  // Only a file in memory can be sealed; from then on nobody can take from us what we have mapped.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  struct stat status {};
  if (!file.ours.valid() || ::fstat(file.ours.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      ::ftruncate(file.ours.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(file.ours.get(), F_ADD_SEALS, seals) != 0) {
    const Error failed{errno, {}};
    static_cast<void>(injector.call(gadget, SYS_close, {file.theirs, 0, 0, 0, 0, 0}));
    return failed;
  }
  return file;
}

Status map_shared(Injector& injector, const SharedFile& file, std::uint64_t address, std::size_t size, int protection) {
  const auto mapped =
      injector.call(gadget, SYS_mmap,
                    {address, size, static_cast<std::uint64_t>(protection), MAP_SHARED | MAP_FIXED, file.theirs, 0});
  static_cast<void>(injector.call(gadget, SYS_close, {file.theirs, 0, 0, 0, 0, 0}));
  return mapped ? Status(Done{}) : Status(mapped.error());
}

Result<Mapping> share_areas(Injector& injector, pid_t tid) {
  auto file = share_file(injector, tid, areas_size);
  if (!file) {
    return file.error();
  }
  Mapping ours = map_file(file.value().ours.get(), areas_size, PROT_READ | PROT_WRITE, MAP_SHARED);
  if (ours == nullptr) {
    return Error{errno, {}};
  }
  if (const Status mapped = map_shared(injector, file.value(), areas_address, areas_size, PROT_READ | PROT_WRITE);
      !mapped) {
    return mapped.error();
  }
  return ours;
}

}  // namespace

ImageContents::ImageContents(const capture::CapturePlans& plans, const WhatIsRecorded& what)
    : what_(what), secret_(random_page()) {
  const auto code = recorder_code();
  const std::size_t first = index_of(arch::native_abi()) * numbers_per_abi;
  Tables tables{};
  tables.first_slot = static_cast<std::uint32_t>(first);
  tables.form_mask = static_cast<std::uint32_t>(plans.forms.size() - 1);
  tables.operation_count = static_cast<std::uint32_t>(plans.operations.size());
  tables.names = what.names;
  tables.stopped = what.stopped;
  tables.stack_bytes = what.stack_bytes;
  for (std::size_t number = 0; number < numbers_per_abi; ++number) {
    tables.recorded[number / 64] |= std::uint64_t{what.calls[number]} << (number % 64);
    tables.unrecorded[number / 64] |= std::uint64_t{what.unrecorded[number]} << (number % 64);
    tables.by_number[number] = plans.by_slot[first + number];
  }
  bytes_.assign(code.begin(), code.end());
  std::memcpy(&symbols_, bytes_.data() + symbols_offset, sizeof symbols_);
  bytes_.resize(tables_address - recorder_address);
  for (const auto part : {std::as_bytes(std::span(&tables, 1)), bytes_of(plans.operations), bytes_of(plans.forms)}) {
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }
  bytes_.resize(in_pages(bytes_.size()));
}

Result<Image> Image::create(const ImageContents& contents, const ptrace::Stopped& thread, std::uint64_t instruction) {
  Injector injector(thread);
  // The room comes by the program's own call instruction, with the secret that the filter lets pass.
  const auto page = injector.call(
      instruction, SYS_mmap,
      {recorder_address, whole_size, PROT_READ | PROT_EXEC,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, contents.secret()});
  if (!page) {
    return page.error();
  }
  if (page.value() != recorder_address) {
    return Error{EEXIST, {}};
  }
  const auto front = contents.bytes().first(symbols_offset);
  if (const Status written = thread.write(RemoteAddr(recorder_address), front); !written) {
    return written.error();
  }
  // The owners' table is the process's own, and a child that fork makes finds it empty.
  const auto owners = injector.call(gadget, SYS_mmap,
                                    {owners_address, sizeof(Owners), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~std::uint64_t{0}, 0});
  if (!owners) {
    return owners.error();
  }
  if (const auto wiped = injector.call(gadget, SYS_madvise, {owners_address, sizeof(Owners), MADV_WIPEONFORK, 0, 0, 0});
      !wiped) {
    return wiped.error();
  }
  auto areas = share_areas(injector, thread.tid());
  if (!areas) {
    return areas.error();
  }
  auto file = share_file(injector, thread.tid(), contents.bytes().size());
  if (!file) {
    return file.error();
  }
  const Mapping code = map_file(file.value().ours.get(), contents.bytes().size(), PROT_READ | PROT_WRITE, MAP_SHARED);
  if (code == nullptr) {
    return Error{errno, {}};
  }
  // What is nothing but zeros needs no page.
  const auto all = contents.bytes();
  for (std::size_t at = 0; at < all.size(); at += page_size) {
    const auto part = all.subspan(at, std::min(page_size, all.size() - at));
    if (std::any_of(part.begin(), part.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
      std::memcpy(static_cast<std::byte*>(code.get()) + at, part.data(), part.size());
    }
  }
  if (const Status mapped = map_shared(injector, file.value(), recorder_address, all.size(), PROT_READ | PROT_EXEC);
      !mapped) {
    return mapped.error();
  }
  Image image;
  image.areas_ = std::move(areas).value();
  return image;
}

Status Image::add_areas(const ptrace::Stopped& thread) {
  Injector injector(thread);
  auto areas = share_areas(injector, thread.tid());
  if (!areas) {
    return areas.error();
  }
  areas_ = std::move(areas).value();
  return Done{};
}

bool Image::is_in(const ptrace::Stopped& thread, const Symbols& symbols) {
  const auto first = thread.peek(RemoteAddr(recorder_address + symbols_offset));
  return first && static_cast<std::uint64_t>(*first) == symbols.entry;
}

void Image::remove(const ptrace::Stopped& thread, std::uint64_t instruction) {
  Injector injector(thread);
  static_cast<void>(
      injector.call(gadget, SYS_munmap, {recorder_address + free_page_size, whole_size - free_page_size, 0, 0, 0, 0}));
  const auto call = arch::call_instruction(arch::native_abi());
  const auto word = thread.peek(RemoteAddr(instruction));
  if (word && std::memcmp(&*word, call.data(), call.size()) == 0) {
    static_cast<void>(injector.call(instruction, SYS_munmap, {recorder_address, free_page_size, 0, 0, 0, 0}));
  }
}

bool write_owner(const ptrace::Stopped& thread, std::uint64_t thread_pointer, std::uint64_t area, std::size_t place) {
  const std::uint64_t at = owners_address + (bucket_of(thread_pointer) * owners_per_bucket + place) * sizeof(Owner);
  // Others look into the same bucket meanwhile: the one word that they look for is written last, or goes first.
  const std::array<std::uint64_t, 1> owner{area == 0 ? 0 : thread_pointer};
  const std::array<std::uint64_t, 1> of{area};
  const RemoteAddr first(at + offsetof(Owner, area));
  const RemoteAddr last(at + offsetof(Owner, thread_pointer));
  if (area == 0) {
    return thread.write(last, std::as_bytes(std::span(owner))).ok();
  }
  return thread.write(first, std::as_bytes(std::span(of))).ok() &&
         thread.write(last, std::as_bytes(std::span(owner))).ok();
}

}  // namespace tracer::inprocess
