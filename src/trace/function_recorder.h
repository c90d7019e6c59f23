// Records calls of functions and static probes in the kernel, without stopping threads. The engine that knows the
// addresses passes the places to watch, and gets what threads did there afterwards.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/event.h"
#include "trace/memory.h"

namespace tracer::trace {

/// A number that is read where a thread comes to a place: a sum of registers, or what memory holds there.
struct RecordedNumber {
  static constexpr std::uint8_t no_register = 255;

  std::uint8_t base = no_register;  ///< words of the thread's registers (NT_PRSTATUS)
  std::uint8_t index = no_register;
  std::uint8_t scale = 1;
  std::uint8_t size = 0;  ///< bytes in memory; 0: the sum itself
  std::int64_t displacement = 0;
};

/// Where errno of a thread is: so far from its thread pointer.
struct ErrnoPlace {
  std::int64_t offset = 0;
  std::uint64_t word = 0;  ///< address of a word that is added; 0: none
};

class FunctionRecorder {
 public:
  FunctionRecorder() = default;
  FunctionRecorder(const FunctionRecorder&) = delete;
  FunctionRecorder& operator=(const FunctionRecorder&) = delete;
  virtual ~FunctionRecorder() = default;

  struct Place {
    std::uint64_t address = 0;                  ///< in the process
    std::uint64_t offset = 0;                   ///< in the file, of the instruction to be watched
    std::uint64_t probed = 0;                   ///< the same instruction's address in the process
    const LibraryFunction* function = nullptr;  ///< null: static probes are there, and nothing returns
    /// The words that can hold arguments, in order: registers, then the stack; or the operands of static probes.
    std::vector<RecordedNumber> numbers;
    std::optional<ErrnoPlace> errno_place;
    bool recorded = false;  ///< set by watch()
  };

  /// False: only static probes.
  [[nodiscard]] virtual bool records_calls() const = 0;

  /// Records from now on when a thread of `process`, whose programs are of this ABI, comes to one of these places of
  /// `file`, a path for the kernel to find it by. Where `recorded` stays false, a breakpoint has to do it.
  virtual void watch(pid_t process, Abi abi, const std::string& file, std::span<Place> places) = 0;

  /// What a thread did at a place. It is valid only while it is handled.
  struct Hit {
    pid_t tid = 0;
    EventTime time;
    std::uint64_t address = 0;        ///< of the place
    bool is_return = false;           ///< from the function there
    std::uint64_t stack_pointer = 0;  ///< at the entry
    std::span<const std::byte> registers;
    /// The return from this call will not be recorded, so that a breakpoint has to do it: the kernel stops the thread
    /// before it goes on, by a SIGSTOP, unless a SIGCONT takes that away.
    bool return_unseen = false;
    std::optional<int> error;  ///< errno, of a return
    const Memory* memory = nullptr;
  };
  /// Hands out what was recorded since the last call, in the order of time of each thread.
  virtual void take(const std::function<void(const Hit&)>& handle) = 0;

  /// The memory from `start` to `end` holds another file now, or none: nothing is recorded there any more.
  virtual void forget(pid_t process, std::uint64_t start, std::uint64_t end) = 0;

  /// From now on it records no returns from the calls that start in this process: Hit::return_unseen.
  virtual void leave_returns(pid_t process) = 0;

  /// How many records found no room; their calls are missing.
  [[nodiscard]] virtual std::uint64_t lost() const = 0;
};

}  // namespace tracer::trace
