// Stack traces: what an engine knows of a stack, the frames, and the interface of the unwinder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "trace/memory.h"

#include "proc/memory_map.h"

namespace tracer::trace {

struct Event;

/// What an engine knows of the stack of the thread of an event. Valid during EventHandler::handle().
class StackSource {
 public:
  StackSource() = default;
  StackSource(const StackSource&) = delete;
  StackSource& operator=(const StackSource&) = delete;
  virtual ~StackSource() = default;

  /// Copies the general registers (NT_PRSTATUS). Returns their size in bytes; 0 if they are unknown.
  [[nodiscard]] virtual std::size_t registers(std::span<std::byte> into) const = 0;
  /// Returns instruction pointers that the engine has captured, innermost first; empty: unwind from the registers.
  [[nodiscard]] virtual std::span<const std::uint64_t> addresses() const { return {}; }
  /// Returns the mappings of code, sorted by address, if the engine has captured them; then /proc is not needed.
  [[nodiscard]] virtual std::span<const proc::MappedRange> mappings() const { return {}; }
  /// Returns whether the thread has run on since the event, so that its process may have ended.
  [[nodiscard]] virtual bool is_past() const { return false; }
};

/// A stack frame. All text comes from the tracee; it is printable, but for the name of the file.
struct StackFrame {
  enum class Kind : std::uint8_t {
    code,     ///< somewhere in `file`
    unknown,  ///< `address` is not in a file; this is the last frame
    limit,    ///< no address: there are more frames
    cycle,    ///< no address: the stack is a cycle
  };
  Kind kind = Kind::code;
  std::string_view file;            ///< its name in /proc/PID/maps; "[vdso]"
  std::string_view symbol;          ///< function, demangled; empty: unknown
  std::uint64_t symbol_offset = 0;  ///< from its start to `address`
  std::uint64_t file_offset = 0;    ///< the offset in `file` that is mapped at `address`
  std::uint64_t address = 0;        ///< the instruction pointer, or in an outer frame the return address
  bool inlined = false;             ///< inlined into the function of the next frame
  std::string_view source;          ///< the file name in the debugging information; empty: unknown
  unsigned line = 0;                ///< 0: unknown
};

/// Follows the events to know the mappings of each process, and unwinds stacks.
class StackTracer {
 public:
  StackTracer() = default;
  StackTracer(const StackTracer&) = delete;
  StackTracer& operator=(const StackTracer&) = delete;
  virtual ~StackTracer() = default;

  /// Has to be called for each event, in order, before frames().
  virtual void observe(const Event& event, const Memory& memory) = 0;
  /// Returns the frames of the thread of the event, innermost first; at the entry of a function, those of its callers.
  /// Empty if they are unknown. Valid until the next call.
  virtual std::span<const StackFrame> frames(const Event& event, const Memory& memory) = 0;
};

}  // namespace tracer::trace
