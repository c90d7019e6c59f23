// The interface of unwinders, which compute the frames of a stack from the registers and memory of a thread.
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

/// The thread whose stack is walked, and the information that the unwinder may use.
struct Walk {
  pid_t tid;
  const trace::Memory& memory;
  AddressSpace& space;
  ObjectCache& objects;
};

struct FrameAddress {
  std::uint64_t address = 0;
  bool exact = false;  ///< true for the address of an instruction, false for a return address
};

enum class WalkEnd : std::uint8_t {
  outermost,  ///< the last frame has no caller, or its caller cannot be found
  limit,
  cycle,
};

/// The frame at which a walk starts.
struct InnermostFrame {
  arch::FrameRegisters registers;
  bool exact = true;  ///< see FrameAddress
};

class Unwinder {
 public:
  Unwinder() = default;
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;
  virtual ~Unwinder() = default;

  /// Appends at most `limit` frames to `frames`, innermost first. A frame outside of executable mappings is the last.
  virtual WalkEnd walk(const Walk& walk, const InnermostFrame& start, std::size_t limit,
                       std::vector<FrameAddress>& frames) = 0;
};

/// Unwinds by call frame information, which libdw reads and which is cached per file, and by the frame pointer where
/// there is none.
std::unique_ptr<Unwinder> make_libdw_unwinder();

/// Unwinds with libunwind, which guesses the caller where there is no call frame information, like the strace of
/// Debian. Threads of another word size are unwound with libdw. The error says why libunwind is not available.
Result<std::unique_ptr<Unwinder>> make_libunwind_unwinder();

}  // namespace tracer::stack
