// From the registers of a stopped thread to the instruction pointers of its frames.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arch/frame_registers.h"
#include "base/result.h"
#include "stack/address_space.h"
#include "stack/object_cache.h"
#include "trace/memory.h"

namespace tracer::stack {

/// The thread whose stack is walked, and what may be asked on the way.
struct Walk {
  pid_t tid;
  const trace::Memory& memory;
  AddressSpace& space;
  ObjectCache& objects;
};

struct Place {
  std::uint64_t address = 0;
  bool exact = false;  ///< the thread is or was just there, as against returning there
};

enum class WalkEnd : std::uint8_t {
  outermost,  ///< or nothing says how to go on
  limit,
  cycle,
};

/// Where a walk begins.
struct InnermostFrame {
  arch::FrameRegisters registers;
  bool exact = true;  ///< of its instruction pointer, as of a place
};

class Unwinder {
 public:
  Unwinder() = default;
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;
  virtual ~Unwinder() = default;

  /// Fills `places`, innermost first, with at most `limit`. One that is no code is the last.
  virtual WalkEnd walk(const Walk& walk, const InnermostFrame& start, std::size_t limit,
                       std::vector<Place>& places) = 0;
};

/// By the call frame information as libdw reads it, each row made once for all processes that run a file; by the frame
/// pointer where there is none.
std::unique_ptr<Unwinder> make_libdw_unwinder();

/// By libunwind, which guesses where nothing is known as the strace of Debian does, and by libdw for threads of another
/// word size. The error says why there is no libunwind.
Result<std::unique_ptr<Unwinder>> make_libunwind_unwinder();

}  // namespace tracer::stack
