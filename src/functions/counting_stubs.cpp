#include "functions/counting_stubs.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "ptrace/shared_file.h"

namespace tracer::functions {
namespace {

constexpr std::size_t counter_size = sizeof(std::uint64_t);

/// inject_call(), with the errors of the call among its own.
Result<std::uint64_t> call(const ptrace::Stopped& thread, Filtered filtered, std::uint64_t number,
                           const std::array<std::uint64_t, 6>& arguments) {
  constexpr std::int64_t lowest_error = -4095;
  auto result = inject_call(thread, filtered, number, arguments);
  const auto value = static_cast<std::int64_t>(result.ok() ? result.value() : 0);
  return value < 0 && value >= lowest_error ? Error{static_cast<int>(-value), {}} : result;
}

/// Whether the process has a limit of address space, of which ours would be missing.
bool has_limited_memory(pid_t process) {
  rlimit limit{};
  return ::prlimit(process, RLIMIT_AS, nullptr, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Every processor has been in the kernel when this returns, and has fetched no instruction before that which is yet to
/// be carried out.
void synchronize_processors() {
  static_cast<void>(::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
}

}  // namespace

// ---------------------------------------------------------------------------------------------- counters

Result<std::shared_ptr<FunctionCounters>> FunctionCounters::create(const ptrace::Stopped& thread, Filtered filtered,
                                                                   std::uint64_t name) {
  if (has_limited_memory(thread.tid())) {
    return Error{ENOMEM, {}};
  }
  const auto file = call(thread, filtered, SYS_memfd_create, {name, ptrace::shared_file_flags(), 0, 0, 0, 0});
  if (!file) {
    return file.error();
  }
  auto counters = std::make_shared<FunctionCounters>();
  auto ours = ptrace::map_shared_file(thread.tid(), file.value(), size, 0);
  auto mapped = ours ? call(thread, filtered, SYS_mmap, {0, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.value(), 0})
                     : Result<std::uint64_t>(ours.error());
  static_cast<void>(call(thread, filtered, SYS_close, {file.value(), 0, 0, 0, 0, 0}));
  if (!mapped) {
    return mapped.error();
  }
  counters->ours_ = std::move(ours).value();
  counters->address_ = mapped.value();
  return counters;
}

bool FunctionCounters::unmap(const ptrace::Stopped& thread, Filtered filtered) const {
  const auto done = call(thread, filtered, SYS_munmap, {address_, size, 0, 0, 0, 0});
  return done || done.error().number != EAGAIN;
}

std::optional<std::uint64_t> FunctionCounters::counter_of(trace::LibraryFunction& function) {
  if (functions_.size() == arch::counter_shard_size / counter_size && !numbers_.contains(&function)) {
    return std::nullopt;
  }
  const auto [number, is_new] = numbers_.try_emplace(&function, functions_.size());
  if (is_new) {
    functions_.push_back(&function);
  }
  return address_ + number->second * counter_size;
}

std::vector<FunctionCounters::Count> FunctionCounters::take() {
  std::vector<Count> counts;
  for (std::size_t number = 0; number < functions_.size(); ++number) {
    Count count{functions_[number], 0};
    for (std::size_t shard = 0; shard < arch::counter_shards; ++shard) {
      auto* counter = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(ours_.get()) +
                                                       shard * arch::counter_shard_size + number * counter_size);
      if (__atomic_load_n(counter, __ATOMIC_RELAXED) != 0) {
        count.calls += __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED);
      }
    }
    if (count.calls != 0) {
      counts.push_back(count);
    }
  }
  return counts;
}

// ---------------------------------------------------------------------------------------------- stubs

void CountingStubs::write(const ptrace::Stopped& thread, const std::vector<ByJump::value_type*>& stubs, Others others) {
  const auto code_of = [](const Stub& stub) { return std::span(stub.active ? stub.jump : stub.before); };
  const auto put = [&](std::uint64_t address, std::span<const std::byte> bytes) {
    static_cast<void>(thread.write(RemoteAddr(address), bytes));
  };
  const std::span<const std::byte> trap = arch::trap_instruction();
  if (others != Others::none) {
    // A thread must not see the start of one instruction with the rest of another: who comes now runs into a trap.
    for (const auto* stub : stubs) {
      put(stub->first, trap);
    }
    if (others == Others::anywhere) {
      synchronize_processors();
    }
    for (const auto* stub : stubs) {
      put(stub->first + trap.size(), code_of(stub->second).subspan(trap.size()));
    }
    if (others == Others::anywhere) {
      synchronize_processors();
    }
  }
  for (const auto* stub : stubs) {
    const auto code = code_of(stub->second);
    put(stub->first, others == Others::none ? code : code.first(trap.size()));
  }
}

bool CountingStubs::has_counters(const ptrace::Stopped& thread, Filtered filtered, std::uint64_t near,
                                 const FindRoom& find_room) {
  if (counters_ != nullptr || cannot_count_) {
    return counters_ != nullptr;
  }
  constexpr std::string_view name("tracer", sizeof "tracer");
  const std::uint64_t room = find_room(near, name.size());
  if (room == 0 || !thread.write(RemoteAddr(room), std::as_bytes(std::span(name))).ok()) {
    return false;
  }
  auto created = FunctionCounters::create(thread, filtered, room);
  if (created) {
    counters_ = std::move(created).value();
  } else {
    cannot_count_ = created.error().number != EAGAIN;
  }
  return counters_ != nullptr;
}

std::uint64_t CountingStubs::take_room(std::uint64_t address, const FindRoom& find_room) {
  const auto near = std::find_if(free_.begin(), free_.end(), [&](std::uint64_t room) {
    return (room > address ? room - address : address - room) < arch::displaced_reach();
  });
  if (near == free_.end()) {
    return find_room(address, arch::max_counting_stub_size);
  }
  const std::uint64_t room = *near;
  free_.erase(near);
  return room;
}

std::optional<CountingStubs::Stub> CountingStubs::make_recording_stub(const ptrace::Stopped& thread, const Place& place,
                                                                      const arch::SlotJump& jump,
                                                                      const FindRoom& find_room) {
  const std::size_t size = arch::recording_stub_info + place.info.size();
  const std::uint64_t room = find_room(jump.address, size);
  const auto made = room != 0 ? arch::make_recording_stub(jump, place.recorder, place.info, room) : std::nullopt;
  if (!made || !thread.write(RemoteAddr(room), made->code).ok()) {
    return std::nullopt;
  }
  records_ = true;
  return Stub{place.address, room, size, true, 0, jump.slot, {}, made->jump, place.function, true};
}

std::optional<CountingStubs::Stub> CountingStubs::make_counting_stub(const ptrace::Stopped& thread, const Place& place,
                                                                     const arch::SlotJump& jump,
                                                                     const FindRoom& find_room) {
  const auto counter = counters_->counter_of(*place.function);
  const std::uint64_t room = counter ? take_room(jump.address, find_room) : 0;
  const auto made = room != 0 ? arch::make_counting_stub(jump, *counter, room) : std::nullopt;
  if (!made || !thread.write(RemoteAddr(room), made->code).ok()) {
    return std::nullopt;
  }
  return Stub{place.address, room, made->code.size(), false,          made->counted,
              jump.slot,     {},   made->jump,        place.function, true};
}

std::set<std::uint64_t> CountingStubs::add(const ptrace::Stopped& thread, std::span<const Place> places,
                                           const FindRoom& find_room, Others others, Filtered filtered) {
  std::set<std::uint64_t> counted;
  std::vector<ByJump::value_type*> changed;
  for (const Place& place : places) {
    const auto jump = arch::find_slot_jump(arch::native_abi(), place.code, place.address);
    if (!jump || stubs_.contains(jump->address) ||
        (place.recorder == 0 && !has_counters(thread, filtered, jump->address, find_room))) {
      continue;
    }
    auto stub = place.recorder != 0 ? make_recording_stub(thread, place, *jump, find_room)
                                    : make_counting_stub(thread, place, *jump, find_room);
    if (!stub) {
      continue;
    }
    std::copy_n(place.code.begin() + static_cast<std::ptrdiff_t>(jump->offset), stub->before.size(),
                stub->before.begin());
    by_code_[stub->code] = jump->address;
    changed.push_back(&*stubs_.emplace(jump->address, *stub).first);
    counted.insert(place.address);
  }
  write(thread, changed, others);
  return counted;
}

std::vector<std::uint64_t> CountingStubs::remove(const ptrace::Stopped& thread, const Chooses& is_chosen,
                                                 Others others) {
  std::vector<std::uint64_t> removed;
  std::vector<ByJump::value_type*> changed;
  for (auto& entry : stubs_) {
    if (entry.second.active && is_chosen(*entry.second.function)) {
      entry.second.active = false;
      changed.push_back(&entry);
      removed.push_back(entry.second.place);
    }
  }
  if (!changed.empty()) {
    write(thread, changed, others);
  }
  return removed;
}

void CountingStubs::remove_at(const ptrace::Stopped& thread, std::uint64_t place, Others others) {
  for (auto& entry : stubs_) {
    if (entry.second.place == place) {
      entry.second.active = false;
      write(thread, {&entry}, others);
    }
  }
}

void CountingStubs::forget(std::uint64_t start, std::uint64_t end) {
  for (auto stub = stubs_.lower_bound(start); stub != stubs_.end() && stub->first < end; stub = stubs_.erase(stub)) {
    by_code_.erase(stub->second.code);
    if (!stub->second.records) {
      free_.push_back(stub->second.code);
    }
  }
}

bool CountingStubs::unmap(const ptrace::Stopped& thread, Filtered filtered) {
  if (counters_ != nullptr && !counters_->unmap(thread, filtered)) {
    return false;
  }
  counters_ = nullptr;
  cannot_count_ = true;
  return true;
}

std::vector<FunctionCounters::Count> CountingStubs::take() {
  return counters_ != nullptr ? counters_->take() : std::vector<FunctionCounters::Count>();
}

void CountingStubs::mend(const ptrace::Stopped& thread, std::uint64_t address, Others others) {
  const auto stub = stubs_.find(address);
  const auto word = thread.peek(RemoteAddr(address));
  const auto trap = arch::trap_instruction();
  if (stub != stubs_.end() && word &&
      std::equal(trap.begin(), trap.end(), std::as_bytes(std::span(&*word, 1)).begin())) {
    write(thread, {&*stub}, others);
  }
}

const CountingStubs::ByJump::value_type* CountingStubs::find_by_code(std::uint64_t address) const {
  auto at = by_code_.upper_bound(address);
  if (at == by_code_.begin()) {
    return nullptr;
  }
  const auto& stub = *stubs_.find((--at)->second);
  return address - stub.second.code < stub.second.size ? &stub : nullptr;
}

bool CountingStubs::lead_out(arch::Registers& registers, const trace::Memory& memory) const {
  const std::uint64_t address = registers.instruction_pointer();
  const auto* stub = find_by_code(address);
  if (stub == nullptr) {
    return false;
  }
  if (stub->second.records) {
    arch::leave_recording_stub(registers, address - stub->second.code, memory);
    registers.set_instruction_pointer(stub->first);
    return true;
  }
  arch::give_back(registers, address - stub->second.code, memory);
  std::uint64_t target = 0;
  const auto into = std::as_writable_bytes(std::span(&target, 1));
  const bool is_counted = address - stub->second.code >= stub->second.counted;
  const bool goes_on = is_counted && memory.read(RemoteAddr(stub->second.slot), into) == into.size();
  registers.set_instruction_pointer(goes_on ? target : stub->first);
  return true;
}

std::optional<CountingStubs::Untaken> CountingStubs::find_untaken(std::uint64_t address) const {
  const auto* stub = find_by_code(address);
  if (stub == nullptr || !stub->second.records || address - stub->second.code != arch::recording_stub_trap) {
    return std::nullopt;
  }
  return Untaken{stub->second.place, stub->first, stub->second.slot};
}

std::optional<CountingStubs::Lost> CountingStubs::find_lost(std::uint64_t address, std::uint64_t fault) const {
  const auto* stub = find_by_code(address);
  if (stub == nullptr || (fault != address && (counters_ == nullptr || !counters_->contains(fault)))) {
    return std::nullopt;
  }
  return Lost{stub->second.place, stub->first};
}

}  // namespace tracer::functions
