#include "functions/breakpoints.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "proc/proc_files.h"

namespace tracer::functions {
namespace {

constexpr std::uint64_t page_bytes = 65536;
constexpr std::size_t most_pages = 64;

/// Whether this result of an mmap says so; in 32-bit programs the upper half may be missing.
bool is_taken(std::uint64_t result) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(result)) == -EEXIST;
}

/// Whether an instruction can be moved from one address to the other.
bool is_near(std::uint64_t one, std::uint64_t other) {
  return (one > other ? one - other : other - one) < arch::displaced_reach();
}

/// Reads what is there, but no trap of these. Returns how much could be read.
std::size_t read_code(const std::map<std::uint64_t, Breakpoint>& points, const trace::Memory& memory,
                      std::uint64_t address, std::span<std::byte> code) {
  const std::size_t size = memory.read(RemoteAddr(address), code);
  for (auto at = points.lower_bound(address); at != points.end() && at->first - address < size; ++at) {
    const Breakpoint& point = at->second;
    const auto offset = static_cast<std::size_t>(at->first - address);
    const auto there = code.begin() + static_cast<std::ptrdiff_t>(offset);
    if (point.inserted) {
      std::copy_n(point.code.begin(), std::min(arch::trap_instruction().size(), size - offset), there);
    } else if (point.counted) {
      std::copy_n(point.watched_code.begin(), std::min(point.watched_size, size - offset), there);
    }
  }
  return size;
}

}  // namespace

std::uint64_t RecordingState::find_trampoline(pid_t pid) {
  if (trampoline == 0) {
    trampoline = library::uprobe_trampoline_of(pid);
  }
  return trampoline;
}

std::span<const std::byte> watched_code(Breakpoints& space, const trace::Memory& memory, std::uint64_t address) {
  Breakpoint& point = space.note(address);
  if (point.watched_size == 0) {
    point.watched_size = read_code(space.records(), memory, address, point.watched_code);
  }
  return std::span(point.watched_code).first(point.watched_size);
}

Breakpoint* Breakpoints::find(std::uint64_t address) {
  const auto at = points_.find(address);
  return at == points_.end() ? nullptr : &at->second;
}

const library::Module* Breakpoints::module_at(std::uint64_t address) const {
  const auto after = modules.upper_bound(address);
  if (after == modules.begin()) {
    return nullptr;
  }
  const library::Module& module = std::prev(after)->second;
  return address < module.end ? &module : nullptr;
}

bool Breakpoints::is_code(pid_t pid, std::uint64_t address) const {
  const auto known = points_.find(address);
  return (known != points_.end() && known->second.inserted) || module_at(address) != nullptr ||
         library::is_executable(pid, address);
}

Breakpoint* Breakpoints::find_trap(std::uint64_t address) {
  Breakpoint* point = find(address);
  return point == nullptr || point->code_size == 0 ? nullptr : point;
}

Breakpoint* Breakpoints::insert(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address) {
  if (points_.size() >= most_breakpoints && !points_.contains(address)) {
    return nullptr;
  }
  const auto at = points_.try_emplace(address).first;
  Breakpoint& point = at->second;
  if (point.inserted) {
    return &point;
  }
  if (point.code_size == 0) {
    point.code_size = std::min(point.watched_size, point.code.size());
    std::copy_n(point.watched_code.begin(), point.code_size, point.code.begin());
  }
  if (point.code_size == 0) {
    point.code_size = read_code(points_, memory, address, point.code);
  }
  if (point.code_size < arch::trap_instruction().size() ||
      !thread.write(RemoteAddr(address), arch::trap_instruction()).ok()) {
    points_.erase(at);
    return nullptr;
  }
  point.inserted = true;
  return &point;
}

void Breakpoints::remove(const ptrace::Stopped& thread, std::uint64_t address) {
  if (Breakpoint* point = find_trap(address); point != nullptr) {
    static_cast<void>(thread.write(RemoteAddr(address), std::span(point->code).first(arch::trap_instruction().size())));
    point->inserted = false;
  }
}

void Breakpoints::put_again(const ptrace::Stopped& thread, std::uint64_t address) {
  if (Breakpoint* point = find(address); point != nullptr) {
    point->inserted = thread.write(RemoteAddr(address), arch::trap_instruction()).ok();
  }
}

void Breakpoints::raise_semaphore(const ptrace::Stopped& thread, const ptrace::LiveMemory& memory,
                                  std::uint64_t address) {
  std::uint16_t count = 0;
  const auto bytes = std::as_writable_bytes(std::span(&count, 1));
  if (memory.read(RemoteAddr(address), bytes) != bytes.size()) {
    return;
  }
  ++count;
  if (thread.write(RemoteAddr(address), bytes).ok()) {
    semaphores_.push_back(address);
    memory.forget();
  }
}

void Breakpoints::lower_semaphores(const ptrace::Stopped& thread) {
  for (const std::uint64_t address : std::exchange(semaphores_, {})) {
    const auto word = ptrace::peek_word(thread.tid(), RemoteAddr(address));
    auto count = static_cast<std::uint16_t>(word.value_or(0));
    if (count != 0) {
      --count;
      static_cast<void>(thread.write(RemoteAddr(address), std::as_bytes(std::span(&count, 1))));
    }
  }
}

void Breakpoints::remove_all(const ptrace::Stopped& thread) {
  lower_semaphores(thread);
  for (const auto& [address, point] : points_) {
    remove(thread, address);
  }
}

void Breakpoints::forget(std::uint64_t start, std::uint64_t end) {
  points_.erase(points_.lower_bound(start), points_.lower_bound(end));
  stubs.forget(start, end);
  std::erase_if(semaphores_, [&](std::uint64_t address) { return address >= start && address < end; });
  std::erase_if(displaced_, [&](const auto& entry) { return entry.second >= start && entry.second < end; });
  std::erase_if(pages_, [&](const Page& page) {
    const bool gone = page.address >= start && page.address < end;
    if (gone) {
      leave_page(page);
    }
    return gone;
  });
}

bool Breakpoints::pass(const ptrace::Stopped& thread, const trace::Memory& memory, pid_t pid, std::uint64_t address,
                       arch::Registers& registers) {
  Breakpoint* point = find(address);
  if (point == nullptr) {
    return false;
  }
  const Abi abi = registers.mode_abi();
  if (!point->prepared) {
    prepare(thread, pid, address, *point, abi);
  }
  if (point->strategy == arch::StepStrategy::emulated) {
    const auto write = arch::emulate(abi, std::span(point->code).first(point->code_size), address, registers, memory);
    if (!write) {
      return false;
    }
    return write->size == 0 ||
           thread.write(write->address, std::as_bytes(std::span(&write->value, 1)).first(write->size)).ok();
  }
  if (point->displaced_at == 0) {
    return false;
  }
  registers.set_instruction_pointer(point->displaced_at);
  return true;
}

void Breakpoints::prepare(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Breakpoint& point, Abi abi) {
  point.prepared = true;
  const auto code = std::span(point.code).first(point.code_size);
  point.strategy = arch::step_strategy(abi, code);
  if (point.strategy != arch::StepStrategy::displaced) {
    return;
  }
  const auto near = place_near(thread, pid, address, arch::max_displaced_size, abi);
  point.prepared = near.ok() || near.error().number != EAGAIN;
  const std::uint64_t place = near.ok() ? near.value() : 0;
  const auto moved = place != 0 ? arch::displace(abi, code, address, place) : std::nullopt;
  if (!moved || moved->code.size() > arch::max_displaced_size || !thread.write(RemoteAddr(place), moved->code).ok()) {
    return;
  }
  point.displaced_at = place;
  point.jump_back = moved->jump_back;
  displaced_[place] = address;
}

Result<std::uint64_t> Breakpoints::place_near(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address,
                                              std::size_t size, Abi abi) {
  for (unsigned tries = 0; tries < 2; ++tries) {
    for (Page& page : pages_) {
      if (!page.lost && is_near(page.address, address) && page.used + size <= page.size) {
        return page.address + std::exchange(page.used, page.used + size);
      }
    }
    const Status mapped = map_near(thread, pid, address, abi);
    if (!mapped && (mapped.error().number == EAGAIN || !borrow_near(thread, address))) {
      return mapped.error();
    }
  }
  return std::uint64_t{0};
}

Status Breakpoints::map_near(const ptrace::Stopped& thread, pid_t pid, std::uint64_t address, Abi abi) {
  const Error nowhere{ENOMEM, {}};
  if (cannot_map_ || pages_.size() >= most_pages) {
    return nowhere;
  }
  // Other threads run, and may have taken the place meanwhile.
  constexpr unsigned most_tries = 16;
  constexpr std::uint64_t no_file = ~std::uint64_t{0};
  std::uint64_t wanted = 0;
  Result<std::uint64_t> got = std::uint64_t{0};
  for (unsigned tries = 0; tries == 0 || (got.ok() && is_taken(got.value()) && tries < most_tries); ++tries) {
    wanted = library::free_space_below(pid, address, page_bytes, arch::displaced_reach());
    if (wanted == 0 || !is_near(wanted, address)) {
      return nowhere;
    }
    got = inject_call(
        thread, filtered, arch::mmap_number(abi),
        {wanted, page_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, no_file, 0});
  }
  if (!got) {
    cannot_map_ = got.error().number != EAGAIN;
    return got.error();
  }
  if (got.value() != wanted) {
    cannot_map_ = !is_taken(got.value());
    return nowhere;
  }
  pages_.push_back({wanted, page_bytes, 0});
  return Done{};
}

bool Breakpoints::borrow_near(const ptrace::Stopped& thread, std::uint64_t address) {
  constexpr std::uint64_t smallest_page = 4096;
  for (const auto& [start, module] : modules) {
    for (const library::Segment& segment : module.file->segments()) {
      const std::uint64_t code_end = module.bias + segment.address + segment.file_size;
      const std::uint64_t place = (code_end + arch::max_displaced_size - 1) & ~(arch::max_displaced_size - 1);
      const std::uint64_t end = (code_end + smallest_page - 1) & ~(smallest_page - 1);
      const bool is_known =
          std::any_of(pages_.begin(), pages_.end(), [&](const Page& p) { return p.address == place; });
      // Where more code follows in the mapping, the place may be that code's.
      if (!segment.executable || is_known || end != module.end || place >= end || !is_near(place, address)) {
        continue;
      }
      Page page{place, end - place, 0};
      page.before.resize(page.size);
      const ptrace::LiveMemory memory(thread.tid());
      if (memory.read(RemoteAddr(place), page.before) == page.size) {
        pages_.push_back(std::move(page));
        return true;
      }
    }
  }
  return false;
}

bool Breakpoints::mend_copy(const ptrace::Stopped& thread, const trace::Memory& memory, std::uint64_t address) {
  constexpr std::size_t enough = 8;  // a few instructions, unlikely to be the same elsewhere
  const std::size_t trap_size = arch::trap_instruction().size();
  std::array<std::byte, arch::max_instruction_size> copy{};
  const std::size_t size = memory.read(RemoteAddr(address), copy);
  // Says how much of the copy is the code at `start`, which may have traps in it.
  const auto length_of_match = [&](std::uint64_t start, const Breakpoint& point) {
    auto code = copy;
    for (auto at = points_.find(start); at != points_.end() && at->first - start + trap_size <= size; ++at) {
      const auto there = code.begin() + static_cast<std::ptrdiff_t>(at->first - start);
      if (at->second.code_size != 0 && std::ranges::equal(std::span(there, trap_size), arch::trap_instruction())) {
        std::copy_n(at->second.code.begin(), trap_size, there);
      }
    }
    const auto end = code.begin() + static_cast<std::ptrdiff_t>(std::min(size, point.code_size));
    return static_cast<std::size_t>(std::mismatch(code.begin(), end, point.code.begin()).first - code.begin());
  };
  std::size_t longest = enough - 1;
  std::optional<std::span<const std::byte>> original;
  for (const auto& [start, point] : points_) {
    const std::size_t length = length_of_match(start, point);
    const auto code = std::span(point.code).first(trap_size);
    if (length > longest) {
      longest = length;
      original = code;
    } else if (length == longest && original && !std::ranges::equal(*original, code)) {
      original.reset();
    }
  }
  return original && thread.write(RemoteAddr(address), *original).ok();
}

std::optional<std::uint64_t> Breakpoints::undisplaced(std::uint64_t address) const {
  auto at = displaced_.upper_bound(address);
  if (at == displaced_.begin()) {
    return std::nullopt;
  }
  --at;
  const std::uint64_t offset = address - at->first;
  const auto point = points_.find(at->second);
  if (offset >= arch::max_displaced_size || point == points_.end()) {
    return std::nullopt;
  }
  // The jump back stands where the instruction ends, here as there.
  return offset < point->second.jump_back ? at->second : at->second + point->second.jump_back;
}

bool Breakpoints::lose_page(std::uint64_t address) {
  const auto page = std::find_if(pages_.begin(), pages_.end(), [&](const Page& one) {
    return address >= one.address && address - one.address < one.size;
  });
  if (page == pages_.end()) {
    return false;
  }
  leave_page(*page);
  page->lost = true;
  cannot_map_ = true;
  return true;
}

void Breakpoints::leave_page(const Page& page) {
  // The records of the instructions there stay, as threads may be there.
  for (auto at = displaced_.lower_bound(page.address); at != displaced_.end() && at->first - page.address < page.size;
       ++at) {
    if (Breakpoint* point = find(at->second); point != nullptr) {
      point->displaced_at = 0;
    }
  }
}

bool Breakpoints::unmap(const ptrace::Stopped& thread) {
  if (!stubs.unmap(thread, filtered)) {
    return false;
  }
  const auto registers = thread.registers();
  for (; !pages_.empty(); pages_.pop_back()) {
    const Page& page = pages_.back();
    if (!page.before.empty()) {
      static_cast<void>(thread.write(RemoteAddr(page.address), page.before));
    } else if (registers && !page.lost) {
      const auto done = inject_call(thread, filtered, arch::munmap_number(registers.value().mode_abi()),
                                    {page.address, page.size, 0, 0, 0, 0});
      if (!done && done.error().number == EAGAIN) {
        return false;
      }
    }
  }
  displaced_.clear();
  for (auto& [address, point] : points_) {
    point.prepared = false;
    point.displaced_at = 0;
  }
  return true;
}

}  // namespace tracer::functions
