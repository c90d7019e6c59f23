// What writer and reader of a block remember of the records before, so that a record says only what is new. Each block
// starts with an empty memory, and so can be read alone.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/abi.h"

namespace tracer::replay {

/// The records of a block. Numbers of the file format: never change one, append new ones. A reader passes over records
/// that it does not know.
enum class Tag : std::uint8_t {
  // Events, in the order of trace::Event::what.
  syscall_enter = 1,
  syscall_exit = 2,
  syscall_lost = 3,
  signal_stop = 4,
  group_stop = 5,
  exec = 6,
  fork = 7,
  attached = 8,
  detached = 9,
  exited = 10,
  library_enter = 11,
  library_exit = 12,
  library_calls = 13,
  probe_hit = 14,
  /// The engine lost events here.
  lost = 15,
  // Facts. Those that is_apart() names follow all events of the block, in a text for each event, in their order. The
  // others, and names of calls, stand among the events, behind the one that they belong to.
  memory = 32,
  file = 33,
  netlink_protocol = 34,
  process = 35,
  name = 36,
  value = 37,
  command = 38,
  frame = 39,  ///< of stacks from here on
  stack = 40,
  drivers = 41,
  /// The name of a system call, before its first event in the block.
  call_name = 64,
};

[[nodiscard]] constexpr bool is_event(Tag tag) {
  return tag >= Tag::syscall_enter && tag <= Tag::probe_hit;
}

/// Whether it is an event, of any version: each has a head, and a text of facts.
[[nodiscard]] constexpr bool has_head(Tag tag) {
  return tag < Tag::memory && tag != Tag::lost;
}
/// Whether it is of use only where calls are decoded.
[[nodiscard]] constexpr bool is_apart(Tag tag) {
  return tag >= Tag::memory && tag < Tag::call_name && tag != Tag::process && tag != Tag::name && tag != Tag::command;
}

/// Bits of the flags of each event.
inline constexpr unsigned same_thread = 1U << 0U;  ///< as the event before
inline constexpr unsigned same_abi = 1U << 1U;     ///< as the event of that thread before
inline constexpr unsigned same_offset = 1U << 2U;  ///< between the clocks
inline constexpr unsigned tampered = 1U << 3U;
inline constexpr unsigned failed = 1U << 4U;         ///< of a SyscallExit
inline constexpr unsigned same_pointer = 1U << 5U;   ///< of a SyscallExit: the instruction pointer of its entry
inline constexpr unsigned never_off_cpu = 1U << 6U;  ///< of a SyscallExit: its CPU time is the time since its entry
/// What is hardly ever there follows: the interrupted call of a SyscallEnter, the CPU time of a SyscallExit.
inline constexpr unsigned has_more = 1U << 7U;

/// The last call of a number, or of a function.
struct CallMemory {
  std::array<std::uint64_t, 8> registers{};  ///< the arguments; of a system call six, and the pointers
  std::uint64_t return_address = 0;          ///< of a function
  std::uint64_t stack_pointer = 0;           ///< of a function
  std::uint64_t value = 0;
  bool named = false;  ///< the block has its name
};

struct ThreadMemory {
  pid_t tid = 0;
  pid_t tgid = 0;
  Abi abi = Abi::x86_64;
  CallMemory* call = nullptr;          ///< the system call that was entered last in this block
  std::chrono::nanoseconds entered{};  ///< CLOCK_MONOTONIC
  std::uint64_t instruction_pointer = 0;
  std::array<std::uint64_t, 6> args{};
};

/// What there is of each call, by key_of() or key_of_function(). A value stays where it is.
template <typename Value>
class CallTable {
 public:
  CallTable() = default;
  CallTable(const CallTable&) = delete;
  CallTable& operator=(const CallTable&) = delete;
  CallTable(CallTable&&) noexcept = default;
  CallTable& operator=(CallTable&&) noexcept = default;
  ~CallTable() = default;

  [[nodiscard]] Value* find(std::uint64_t key) {
    if (key < low_.size()) {
      return low_[static_cast<std::size_t>(key)];
    }
    const auto found = key < most_low ? all_.end() : all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
  }
  Value& operator[](std::uint64_t key) {
    Value* const found = find(key);
    return found != nullptr ? *found : add(key);
  }

 private:
  /// More than system calls have, and few enough for a table.
  static constexpr std::uint64_t most_low = 4096;

  Value& add(std::uint64_t key) {
    Value& value = all_[key];
    if (key < most_low) {
      low_.resize(std::max(low_.size(), static_cast<std::size_t>(key) + 1));
      low_[static_cast<std::size_t>(key)] = &value;
    }
    return value;
  }

  std::unordered_map<std::uint64_t, Value> all_;
  std::vector<Value*> low_;  ///< of the keys below `most_low`
};

struct BlockState {
  std::chrono::nanoseconds monotonic{};
  std::chrono::nanoseconds offset{};  ///< of CLOCK_REALTIME from CLOCK_MONOTONIC
  pid_t tid = 0;                      ///< of the last event
  std::uint64_t address = 0;          ///< behind the last memory
  std::unordered_map<pid_t, ThreadMemory> threads;
  CallTable<CallMemory> calls;

  /// Returns the system call that a thread ends.
  CallMemory& entered_by(const ThreadMemory& thread) { return thread.call != nullptr ? *thread.call : calls[0]; }

  static std::uint64_t key_of(Abi abi, std::uint64_t number) { return number * 8 + index_of(abi); }
  static std::uint64_t key_of_function(std::uint32_t number) { return ~std::uint64_t{number}; }
};

}  // namespace tracer::replay
