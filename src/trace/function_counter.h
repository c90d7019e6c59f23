// Counts function calls in the kernel, without stopping threads. The engine that knows the addresses of functions
// passes the places to count at.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tracer::trace {

class FunctionCounter {
 public:
  FunctionCounter() = default;
  FunctionCounter(const FunctionCounter&) = delete;
  FunctionCounter& operator=(const FunctionCounter&) = delete;
  virtual ~FunctionCounter() = default;

  /// The start of a function, or of a PLT stub of one.
  struct Place {
    std::uint64_t address = 0;  ///< in the process
    std::uint64_t offset = 0;   ///< in the file, of the instruction to be watched: the first or one soon behind it
    bool by_caller = false;     ///< calls are counted by return address
    /// Who comes from here does not count again at the place by_caller with the same `symbol`, where it goes to.
    bool is_stub = false;
    std::uint32_t symbol = 0;
    bool is_narrow = false;  ///< return addresses have 4 bytes
    bool counts = false;     ///< set by watch()
  };

  /// Counts from now on when a thread of `process` comes to one of these places of `file`, a path for the kernel to
  /// find it by. Where `counts` stays false, a breakpoint has to count; so it is then in all processes, for the kernel
  /// takes the breakpoint of one for its own where it watches the same place in another.
  virtual void watch(pid_t process, const std::string& file, std::span<Place> places) = 0;

  /// `child` has its memory in common with `parent`. Whether its calls count as the parent's from now on; else its
  /// places are to be watched like any other's.
  virtual bool share(pid_t child, pid_t parent) = 0;

  struct Count {
    std::uint64_t address = 0;
    std::uint64_t return_address = 0;  ///< only of places by_caller
    std::uint64_t calls = 0;           ///< never 0
  };
  /// Returns the counts of `process` since the last call.
  virtual std::vector<Count> take(pid_t process) = 0;

  /// The memory from `start` to `end` holds another file now, or none: places there do not count any more, nor do
  /// calls that share() let count as another's. What was counted there and not taken is lost.
  virtual void forget(pid_t process, std::uint64_t start, std::uint64_t end) = 0;
};

}  // namespace tracer::trace
