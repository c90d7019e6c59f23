#include "inprocess/patcher.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/breakpoint.h"
#include "inprocess/functions.h"
#include "inprocess/inject.h"
#include "proc/memory_map.h"

namespace tracer::inprocess {
namespace {

constexpr std::uint64_t largest_function = 65536;
/// The recorder's entry, at the start of each page of stubs.
constexpr std::uint64_t literal_size = 16;

/// Reads what is there now; false if nothing is.
bool peek(const ptrace::Stopped& thread, std::uint64_t address, std::span<std::byte> into) {
  for (std::size_t done = 0; done < into.size();) {
    const std::uint64_t offset = (address + done) % sizeof(long);
    const auto word = thread.peek(RemoteAddr(address + done - offset));
    if (!word) {
      return false;
    }
    const std::size_t part = std::min<std::size_t>(sizeof(long) - offset, into.size() - done);
    std::memcpy(into.data() + done, reinterpret_cast<const std::byte*>(&*word) + offset, part);
    done += part;
  }
  return true;
}

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

/// A page that is free and within reach, but not where the kernel is going to place the program's next mappings; 0:
/// there is none.
std::uint64_t free_page_near(std::string_view map, std::uint64_t address) {
  constexpr std::uint64_t lowest = 0x10000;
  // Where the stack or the heap may yet grow is no place for others.
  constexpr std::uint64_t distance_kept = 16 << 20;
  const std::uint64_t reach = arch::site_reach();
  const std::uint64_t ideal = (address - (address > reach ? reach / 2 : page_size)) / page_size * page_size;
  std::uint64_t best = 0;
  std::uint64_t end = lowest;
  bool grows = false;
  proc::for_each_range(map, [&](const proc::MappedRange& range) {
    const bool is_stack = range.path == "[stack]";
    const std::uint64_t low = end + (grows ? distance_kept : 0);
    const std::uint64_t high = range.start - (is_stack ? std::min(range.start, distance_kept) : 0);
    if (range.start > end && high > low && high - low >= page_size) {
      const std::uint64_t page = std::clamp(ideal, low, high - page_size);
      if (distance(page, address) < reach && (best == 0 || distance(page, ideal) < distance(best, ideal))) {
        best = page;
      }
    }
    end = std::max(end, range.end);
    grows = range.path == "[heap]";
  });
  return best;
}

}  // namespace

std::string_view describe(LeftBecause reason) {
  switch (reason) {
    case LeftBecause::none:
      return "patched";
    case LeftBecause::unknown_function:
      return "where the function begins is unknown";
    case LeftBecause::immovable:
      return "the instructions before the call cannot be moved";
    case LeftBecause::no_room:
      return "no room near the call";
    case LeftBecause::refused:
      return "the kernel refuses it";
  }
  return "";
}

Patcher::Page* Patcher::page_near(const ptrace::Stopped& thread, std::string_view map, std::uint64_t address,
                                  const Symbols& symbols) {
  for (Page& page : pages_) {
    if (distance(page.address, address) < arch::site_reach() && page.used + arch::largest_site_stub <= page_size) {
      return &page;
    }
  }
  const std::uint64_t place = free_page_near(map, address);
  if (place == 0) {
    return nullptr;
  }
  {
    Injector injector(thread);
    const auto mapped = injector.call(call_gadget, SYS_mmap,
                                      {place, page_size, PROT_READ | PROT_EXEC,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0});
    if (!mapped || mapped.value() != place) {
      return nullptr;
    }
  }
  if (!thread.write(RemoteAddr(place), std::as_bytes(std::span(&symbols.entry, 1))).ok()) {
    return nullptr;
  }
  pages_.push_back({place, literal_size});
  return &pages_.back();
}

LeftBecause Patcher::patch(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t call,
                           const Symbols& symbols) {
  const std::string map = proc::read_memory_map(thread.tid());
  const auto function = find_function(map, memory, call);
  if (!function || function->size > largest_function) {
    return LeftBecause::unknown_function;
  }
  std::vector<std::byte> code(function->size);
  code.resize(memory.read(RemoteAddr(function->start), code));
  for (const auto& [address, stub] : stubs_) {
    const std::uint64_t offset = stub.site.patch - function->start;
    if (stub.site.patch >= function->start && offset + stub.replaced.size() <= code.size() &&
        leads_to(stub, address, std::span(code).subspan(offset, stub.replaced.size()))) {
      std::copy(stub.replaced.begin(), stub.replaced.end(), code.begin() + static_cast<std::ptrdiff_t>(offset));
    }
  }
  const auto site = arch::find_call_site(code, function->start, call);
  if (!site) {
    return LeftBecause::immovable;
  }
  Page* page = page_near(thread, map, call, symbols);
  if (page == nullptr) {
    return LeftBecause::no_room;
  }
  const std::uint64_t at = page->address + page->used;
  const auto moved = std::span<const std::byte>(code).subspan(site->patch - function->start);
  auto stub = arch::make_site_stub(*site, moved, at, page->address);
  const auto jump = arch::site_jump(site->patch, at);
  if (!stub || !jump) {
    return LeftBecause::immovable;
  }
  Stub made{*site, {}, std::move(stub->moved), stub->code.size()};
  std::copy_n(moved.begin(), made.replaced.size(), made.replaced.begin());
  if (!thread.write(RemoteAddr(at), stub->code).ok() || !thread.write(RemoteAddr(site->patch), *jump).ok()) {
    static_cast<void>(thread.write(RemoteAddr(site->patch), made.replaced));
    return LeftBecause::refused;
  }
  page->used += (stub->code.size() + 15) / 16 * 16;
  stubs_.emplace(at, std::move(made));
  return LeftBecause::none;
}

std::optional<arch::MovedInstruction> Patcher::find(std::uint64_t address) const {
  auto above = stubs_.upper_bound(address);
  if (above == stubs_.begin()) {
    return std::nullopt;
  }
  const auto& [start, stub] = *--above;
  const std::uint64_t offset = address - start;
  if (offset >= stub.size) {
    return std::nullopt;
  }
  // Those behind the first one are still where they were.
  arch::MovedInstruction found{stub.site.call, 0, true, false};
  for (const arch::MovedInstruction& moved : stub.moved) {
    if (moved.offset <= offset) {
      found = moved;
    }
  }
  return found;
}

bool Patcher::leads_to(const Stub& stub, std::uint64_t address, std::span<const std::byte> code) {
  const auto jump = arch::site_jump(stub.site.patch, address);
  return jump && std::equal(code.begin(), code.end(), jump->begin(), jump->end());
}

void Patcher::put_back(const ptrace::Stopped& thread, std::uint64_t address, const Stub& stub) {
  arch::SiteJump now{};
  if (peek(thread, stub.site.patch, now) && leads_to(stub, address, now)) {
    static_cast<void>(thread.write(RemoteAddr(stub.site.patch), stub.replaced));
  }
}

bool Patcher::undo_all(const ptrace::Stopped& thread, const Symbols& symbols, bool unmaps) const {
  for (const auto& [address, stub] : stubs_) {
    put_back(thread, address, stub);
  }
  if (!unmaps) {
    return true;
  }
  Injector injector(thread);
  bool done = true;
  for (const Page& page : pages_) {
    std::array<std::byte, sizeof symbols.entry> literal{};
    const auto entry = std::as_bytes(std::span(&symbols.entry, 1));
    if (peek(thread, page.address, literal) && std::equal(entry.begin(), entry.end(), literal.begin())) {
      done = injector.call(call_gadget, SYS_munmap, {page.address, page_size, 0, 0, 0, 0}).ok() && done;
    }
  }
  return done;
}

std::optional<std::uint64_t> Patcher::undo(const ptrace::Stopped& thread, std::uint64_t address) {
  const auto found = stubs_.find(address);
  if (found == stubs_.end()) {
    return std::nullopt;
  }
  put_back(thread, address, found->second);
  return found->second.site.patch;
}

}  // namespace tracer::inprocess
