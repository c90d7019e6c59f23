#include "inprocess/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "inprocess/embedded.h"
#include "ptrace/shared_file.h"

namespace tracer::inprocess {
namespace {

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

/// A descriptor of the thread's, which is closed in the end.
class TheirFile {
 public:
  TheirFile(Injector& injector, std::uint64_t number) : injector_(&injector), number_(number) {}
  TheirFile(TheirFile&& other) noexcept : injector_(std::exchange(other.injector_, nullptr)), number_(other.number_) {}
  TheirFile& operator=(TheirFile&&) = delete;
  ~TheirFile() {
    if (injector_ != nullptr) {
      static_cast<void>(injector_->call(call_gadget, SYS_close, {number_, 0, 0, 0, 0, 0}));
    }
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  Injector* injector_;
  std::uint64_t number_;
};

/// A file in memory that is the thread's and ours, of this size for good.
struct SharedFile {
  TheirFile theirs;
  Mapping ours;
};

/// `more_seals`: from when we have mapped it.
Result<SharedFile> share_file(Injector& injector, pid_t tid, std::size_t size, int more_seals) {
  const auto made = injector.call(call_gadget, SYS_memfd_create,
                                  {recorder_address + name_offset, ptrace::shared_file_flags(), 0, 0, 0, 0});
  if (!made) {
    return made.error();
  }
  TheirFile theirs(injector, made.value());
  auto ours = ptrace::map_shared_file(tid, made.value(), size, more_seals);
  if (!ours) {
    return ours.error();
  }
  return SharedFile{std::move(theirs), std::move(ours).value()};
}

Status map_shared(Injector& injector, const SharedFile& file, std::uint64_t address, std::size_t size, int protection,
                  int fixed) {
  const auto mapped = injector.call(call_gadget, SYS_mmap,
                                    {address, size, static_cast<std::uint64_t>(protection),
                                     static_cast<std::uint64_t>(MAP_SHARED | fixed), file.theirs.number(), 0});
  return mapped ? Status(Done{}) : Status(mapped.error());
}

/// `fixed`: MAP_FIXED where the room is reserved, else MAP_FIXED_NOREPLACE.
Result<Mapping> share_areas(Injector& injector, pid_t tid, int fixed) {
  auto file = share_file(injector, tid, areas_size, 0);
  if (!file) {
    return file.error();
  }
  if (const Status mapped =
          map_shared(injector, file.value(), areas_address, areas_size, PROT_READ | PROT_WRITE, fixed);
      !mapped) {
    return mapped.error();
  }
  // A child may have other rights: it must not write what threads of its parent return to.
  const auto kept = injector.call(call_gadget, SYS_madvise, {areas_address, areas_size, MADV_DONTFORK, 0, 0, 0});
  if (!kept) {
    static_cast<void>(injector.call(call_gadget, SYS_munmap, {areas_address, areas_size, 0, 0, 0, 0}));
    return kept.error();
  }
  return std::move(file.value().ours);
}

/// Maps what the recorder needs over the room that is reserved, where its first page is there already.
Result<Mapping> fill(Injector& injector, pid_t tid, std::span<const std::byte> all) {
  // The owners' table is the process's own, and a child that fork makes finds it empty.
  const auto owners = injector.call(call_gadget, SYS_mmap,
                                    {owners_address, sizeof(Owners), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~std::uint64_t{0}, 0});
  if (!owners) {
    return owners.error();
  }
  if (const auto wiped =
          injector.call(call_gadget, SYS_madvise, {owners_address, sizeof(Owners), MADV_WIPEONFORK, 0, 0, 0});
      !wiped) {
    return wiped.error();
  }
  auto areas = share_areas(injector, tid, MAP_FIXED);
  if (!areas) {
    return areas.error();
  }
  // A child returns as its parent does.
  const auto returns = injector.call(call_gadget, SYS_mmap,
                                     {returns_address, sizeof(Returns), PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, ~std::uint64_t{0}, 0});
  if (!returns) {
    return returns.error();
  }
  // Children have the code in common with their parents, so nobody but us may write it.
  auto file = share_file(injector, tid, all.size(), F_SEAL_FUTURE_WRITE);
  if (!file) {
    return file.error();
  }
  // What is nothing but zeros needs no page.
  for (std::size_t at = 0; at < all.size(); at += page_size) {
    const auto part = all.subspan(at, std::min(page_size, all.size() - at));
    if (std::any_of(part.begin(), part.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
      std::memcpy(static_cast<std::byte*>(file.value().ours.get()) + at, part.data(), part.size());
    }
  }
  if (const Status mapped =
          map_shared(injector, file.value(), recorder_address, all.size(), PROT_READ | PROT_EXEC, MAP_FIXED);
      !mapped) {
    return mapped.error();
  }
  return areas;
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
  tables.times = what.times ? 1 : 0;
  for (std::size_t number = 0; number < numbers_per_abi; ++number) {
    tables.recorded[number / 64] |= std::uint64_t{what.calls[number]} << (number % 64);
    tables.unrecorded[number / 64] |= std::uint64_t{what.unrecorded[number]} << (number % 64);
    tables.counted[number / 64] |= std::uint64_t{what.counted[number]} << (number % 64);
    tables.by_number[number] = plans.by_slot[first + number];
  }
  for (std::size_t i = 0; i < what.conditions.size(); ++i) {
    const StopCondition& condition = tables.conditions[i] = what.conditions[i];
    tables.conditional[condition.number / 64] |= std::uint64_t{condition.bits != 0} << (condition.number % 64);
  }
  bytes_.assign(code.begin(), code.end());
  std::memcpy(&symbols_, bytes_.data() + symbols_offset, sizeof symbols_);
  bytes_.resize(tables_address - recorder_address);
  for (const auto part : {std::as_bytes(std::span(&tables, 1)), bytes_of(plans.operations), bytes_of(plans.forms)}) {
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }
  bytes_.resize(in_pages(bytes_.size()));
}

bool ImageContents::unmaps(std::uint64_t number, std::span<const std::uint64_t> arguments) const {
  return (number < what_.unmapping.size() && what_.unmapping[number]) ||
         std::any_of(what_.conditions.begin(), what_.conditions.end(),
                     [&](const StopCondition& condition) { return condition.is_met(number, arguments); });
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
  auto areas = fill(injector, thread.tid(), contents.bytes());
  if (!areas) {
    static_cast<void>(injector.call(call_gadget, SYS_munmap,
                                    {recorder_address + free_page_size, whole_size - free_page_size, 0, 0, 0, 0}));
    return areas.error();
  }
  Image image;
  image.areas_ = std::move(areas).value();
  return image;
}

Status Image::add_areas(const ptrace::Stopped& thread) {
  Injector injector(thread);
  auto areas = share_areas(injector, thread.tid(), MAP_FIXED_NOREPLACE);
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

Status Image::remove(const ptrace::Stopped& thread, std::uint64_t instruction) {
  Injector injector(thread);
  const auto call = arch::call_instruction(arch::native_abi());
  const auto word = thread.peek(RemoteAddr(instruction));
  const bool has_own = word && std::memcmp(&*word, call.data(), call.size()) == 0;
  const std::uint64_t kept = has_own ? 0 : free_page_size;
  const auto unmapped = injector.call(has_own ? instruction : call_gadget, SYS_munmap,
                                      {recorder_address + kept, whole_size - kept, 0, 0, 0, 0});
  return unmapped ? Status(Done{}) : Status(unmapped.error());
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
