// Stack traces: what an engine contributes, the frames that come out, and who makes the one into the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/memory.h"

#include "proc/memory_map.h"

namespace tracer::trace {

struct Event;

/// What an engine knows of the stack of the thread that an event is about. To be asked during EventHandler::handle().
class StackSource {
 public:
  StackSource() = default;
  StackSource(const StackSource&) = delete;
  StackSource& operator=(const StackSource&) = delete;
  virtual ~StackSource() = default;

  /// The general registers as the kernel hands them out (NT_PRSTATUS). How many bytes they are; 0 if there are none.
  [[nodiscard]] virtual std::size_t registers(std::span<std::byte> into) const = 0;
  /// Instruction pointers that the engine has captured itself, innermost first; empty: unwind from the registers.
  [[nodiscard]] virtual std::span<const std::uint64_t> addresses() const { return {}; }
  /// Where code was mapped, by address, if the engine has captured that: nobody needs to look at the process.
  [[nodiscard]] virtual std::span<const proc::MappedRange> mappings() const { return {}; }
  /// Whether the thread has gone on since, so that its process may be gone before it can be looked at.
  [[nodiscard]] virtual bool is_past() const { return false; }
};

/// One function that a thread is in. All text is the tracee's and not escaped.
struct StackFrame {
  enum class Kind : std::uint8_t {
    code,     ///< somewhere in `file`
    unknown,  ///< `address` is in no file: the last frame
    limit,    ///< no address: more frames than asked for
    cycle,    ///< no address: the stack leads back into itself
  };
  Kind kind = Kind::code;
  std::string_view file;            ///< as /proc/PID/maps names it; "[vdso]"
  std::string_view symbol;          ///< function, demangled; empty: unknown
  std::uint64_t symbol_offset = 0;  ///< from its start to `address`
  std::uint64_t file_offset = 0;    ///< place in `file` that `address` is mapped from
  std::uint64_t address = 0;        ///< instruction pointer: of the frame itself, or where a call will return to
  bool inlined = false;             ///< has no frame of its own: part of the next one
  std::string_view source;          ///< file name as the compiler saw it; empty: unknown
  unsigned line = 0;                ///< 0: unknown
};

/// Follows the events to know whose memory looks like what, and walks stacks when asked to.
class StackTracer {
 public:
  StackTracer() = default;
  StackTracer(const StackTracer&) = delete;
  StackTracer& operator=(const StackTracer&) = delete;
  virtual ~StackTracer() = default;

  /// Every event, in order, before it is asked for.
  virtual void observe(const Event& event, const Memory& memory) = 0;
  /// The frames of the event's thread, innermost first, where a function is called from its caller on; empty if nothing
  /// is known. Valid until the next call of this.
  virtual std::span<const StackFrame> frames(const Event& event, const Memory& memory) = 0;
};

}  // namespace tracer::trace
