// Calls of functions: what an engine tells about them. Plain values and what can be asked for while the thread stands
// still.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tracer::trace {

/// A file that is mapped in a process.
struct MappedFile {
  std::string path;         ///< as the process has it
  std::uint64_t inode = 0;  ///< 0: no file
  std::string range;        ///< of code in it: its name in /proc/PID/map_files
};

/// A function as one module calls it. Lives as long as the engine's run.
struct LibraryFunction {
  std::string name;
  std::string library;       ///< where it is defined (soname or file name); empty if unknown
  std::string caller;        ///< the module that calls it; empty: any, as the function's own entry was asked for
  std::string label;         ///< the two together: `puts@libc.so.6`
  std::uint32_t number = 0;  ///< from 0 on, each once
  bool in_program = false;   ///< `library` is the program itself
  bool of_program = false;   ///< `caller` is the program itself
  // For its debugging information, as it was found first.
  MappedFile defined_in;
  MappedFile called_from;
  std::uint64_t address = 0;  ///< of its code, as the file counts that it is defined in; 0: unknown
};

/// What else a thread at a call's beginning or end can tell, read when asked for.
class CallContext {
 public:
  CallContext() = default;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;
  virtual ~CallContext() = default;

  using Value = std::array<std::byte, 16>;
  /// xmm0 to xmm7, v0 to v7; empty if it cannot be read.
  [[nodiscard]] virtual std::optional<Value> vector(unsigned index) const = 0;
  /// st(0) or st(1), in 10 bytes; empty on processors without such a thing.
  [[nodiscard]] virtual std::optional<Value> x87(unsigned index) const = 0;
  /// The thread's errno; empty if it is not known where that is.
  [[nodiscard]] virtual std::optional<int> error_number() const = 0;
};

/// No more open calls of a thread are followed: it can pretend to be in any number of them.
inline constexpr std::size_t most_open_calls = 65536;

/// If there is no room for one more of `calls`, whose innermost is last, gives up all but the inner ones. Whether it
/// has.
template <typename Calls>
bool keep_innermost(Calls& calls) {
  const bool crowded = calls.size() >= most_open_calls;
  if (crowded) {
    calls.erase(calls.begin(), calls.end() - most_open_calls / 2);
  }
  return crowded;
}

/// The beginning of a call. Valid only while the event is handled, as is all that it points to.
struct LibraryEnter {
  const LibraryFunction* function = nullptr;
  std::uint64_t call = 0;  ///< tells this call from all others of the run
  std::array<std::uint64_t, 8>
      integers{};                     ///< the registers for integer arguments; of i386, the first words on the stack
  std::uint64_t stack_arguments = 0;  ///< address of the first argument in memory
  std::uint64_t result_address = 0;   ///< where a big result goes, if a register of its own says so (aarch64)
  std::uint64_t stack_pointer = 0;
  std::uint64_t return_address = 0;
  const CallContext* context = nullptr;
};

/// Calls that were counted without being told of one by one.
struct LibraryCalls {
  const LibraryFunction* function = nullptr;
  std::uint64_t count = 0;
};

/// The end of a call, or, of a function that returns twice, its second return.
struct LibraryExit {
  enum class How : std::uint8_t {
    returned,
    again,    ///< a second time: setjmp, or fork in the child. The call may be one that this thread did not begin
    unwound,  ///< longjmp or an exception left it
    lost,     ///< the thread ended, or became another program
  };
  const LibraryFunction* function = nullptr;
  std::uint64_t call = 0;
  How how = How::returned;
  std::array<std::uint64_t, 2> integers{};  ///< the registers for an integer result
  const CallContext* context = nullptr;     ///< of a call that returned
};

}  // namespace tracer::trace
