// Counting of function calls inside the kernel, where no thread stops for them. The engine that knows where functions
// are says which places count.
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

  /// The first instruction of a function or of a stub that leads to one.
  struct Place {
    std::uint64_t address = 0;  ///< in the process
    std::uint64_t offset = 0;   ///< in the file, of the instruction to be watched: the first or one soon behind it
    bool by_caller = false;     ///< who called is to be known as well
    /// Who comes from here does not count again at the place by_caller with the same `symbol`, where it goes to.
    bool is_stub = false;
    std::uint32_t symbol = 0;
    bool is_narrow = false;  ///< return addresses have 4 bytes
    bool counts = false;     ///< filled in by watch()
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
  /// What has been counted in `process` since this was last asked for.
  virtual std::vector<Count> take(pid_t process) = 0;

  /// The memory from `start` to `end` holds another file now, or none: places there do not count any more, nor do
  /// calls that share() let count as another's. What was counted there and not taken is lost.
  virtual void forget(pid_t process, std::uint64_t start, std::uint64_t end) = 0;
};

}  // namespace tracer::trace
