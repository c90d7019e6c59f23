// Events of function calls. They are plain values, and a context that reads registers and memory of the stopped thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tracer::trace {

/// A file that is mapped in a process.
struct MappedFile {
  std::string path;         ///< as the process sees it
  std::uint64_t inode = 0;  ///< 0: no file
  std::string range;        ///< a mapping of its code, as named in /proc/PID/map_files
};

/// A function, as one module calls it. Valid during the engine's run. All names are printable.
struct LibraryFunction {
  std::string name;
  std::string library;       ///< where it is defined (soname or file name); empty if unknown
  std::string caller;        ///< the module that calls it; empty: any module, as the entry of the function is traced
  std::string label;         ///< the two together: `puts@libc.so.6`
  std::uint32_t number = 0;  ///< a unique number, starting with 0
  bool is_resolver = false;  ///< it chooses the code of a function (IFUNC)
  bool in_program = false;   ///< `library` is the program itself
  bool of_program = false;   ///< `caller` is the program itself
  // These locate its debugging information, in the process in which it was found first.
  MappedFile defined_in;
  MappedFile called_from;
  std::uint64_t address = 0;  ///< of its code, as in the ELF file that defines it; 0: unknown
};

/// Reads further registers of a thread at the entry or exit of a call.
class CallContext {
 public:
  CallContext() = default;
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;
  virtual ~CallContext() = default;

  using Value = std::array<std::byte, 16>;
  /// Returns xmm0 to xmm7, or v0 to v7; empty if they cannot be read.
  [[nodiscard]] virtual std::optional<Value> vector(unsigned index) const = 0;
  /// Returns st(0) or st(1), in 10 bytes; empty on processors without an x87 FPU.
  [[nodiscard]] virtual std::optional<Value> x87(unsigned index) const = 0;
  /// Returns the thread's errno; empty if its address is unknown.
  [[nodiscard]] virtual std::optional<int> error_number() const = 0;
};

/// The most open calls of a thread that are followed: a tracee can fake any number of them.
inline constexpr std::size_t most_open_calls = 65536;

/// Drops the outer ones of `calls`, whose innermost is last, if there is no room for one more. Returns whether it did.
template <typename Calls>
bool keep_innermost(Calls& calls) {
  const bool crowded = calls.size() >= most_open_calls;
  if (crowded) {
    calls.erase(calls.begin(), calls.end() - most_open_calls / 2);
  }
  return crowded;
}

/// The entry of a call. It is valid only while the event is handled, as is all that it points to.
struct LibraryEnter {
  const LibraryFunction* function = nullptr;
  std::uint64_t call = 0;  ///< identifies the call in the run
  std::array<std::uint64_t, 8>
      integers{};                     ///< the registers for integer arguments; on i386, the first words of the stack
  std::uint64_t stack_arguments = 0;  ///< address of the first argument in memory
  std::uint64_t result_address = 0;   ///< the address of a large result, if a register has it (aarch64: x8)
  std::uint64_t stack_pointer = 0;
  std::uint64_t return_address = 0;
  const CallContext* context = nullptr;
};

/// Calls that were counted and not reported one by one.
struct LibraryCalls {
  const LibraryFunction* function = nullptr;
  std::uint64_t count = 0;
};

/// The exit of a call, or the second return of a function that returns twice.
struct LibraryExit {
  enum class How : std::uint8_t {
    returned,
    again,    ///< a second return: setjmp, or fork in the child. This thread may not have entered the call
    unwound,  ///< longjmp or an exception left it
    lost,     ///< the thread ended, or executed another program
  };
  const LibraryFunction* function = nullptr;
  std::uint64_t call = 0;
  How how = How::returned;
  std::array<std::uint64_t, 2> integers{};  ///< the registers for an integer result
  const CallContext* context = nullptr;     ///< null if the call did not return
};

}  // namespace tracer::trace
