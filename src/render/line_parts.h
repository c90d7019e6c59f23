// What stands around a call in the text: the prefix of a line and the lines that are not calls.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/abi.h"
#include "base/text_buffer.h"

namespace tracer::render {

enum class Clock : std::uint8_t { none, time_of_day, unix_time };

/// How much of the prefix is wanted. Digits are those of the fraction of a second: 0, 3, 6 or 9.
struct PrefixOptions {
  Clock clock = Clock::none;             ///< -t, -tt, -ttt
  unsigned clock_digits = 0;             ///< cut off, not rounded
  std::optional<unsigned> since_digits;  ///< -r
  unsigned since_width = 6;              ///< of the seconds of -r, in columns
  bool syscall_number = false;           ///< -n
  bool instruction_pointer = false;      ///< -i
};

enum class PidForm : std::uint8_t {
  none,
  bracketed,  ///< `[pid  1234] `, on a terminal
  column,     ///< `1234  `, in a file
};

/// The facts that a prefix may show.
struct PrefixFacts {
  pid_t tid = 0;
  PidForm pid = PidForm::none;
  std::string_view command;           ///< -Y: after the id; escaped, empty for none
  std::string_view security_context;  ///< --secontext: after all that names the thread; escaped, empty for none
  std::chrono::nanoseconds realtime{};
  std::chrono::nanoseconds monotonic{};
  std::uint64_t number = 0;                          ///< of the current call, or of the last one
  std::optional<std::uint64_t> instruction_pointer;  ///< empty: `[????????????????]`
  unsigned word_size = 8;                            ///< of the thread's ABI, in bytes
};

/// Writes what stands before a line. One for all lines of a run: -r counts from the line before, whoever's it was.
class LinePrefix {
 public:
  explicit LinePrefix(PrefixOptions options) : options_(options) {}

  void write(TextBuffer& text, const PrefixFacts& facts);
  /// The times of it alone.
  void write_times(TextBuffer& text, std::chrono::nanoseconds realtime, std::chrono::nanoseconds monotonic);

 private:
  void write_clock(TextBuffer& text, std::chrono::nanoseconds realtime);
  void write_since(TextBuffer& text, std::chrono::nanoseconds monotonic);

  PrefixOptions options_;
  std::optional<std::chrono::nanoseconds> previous_;
  std::time_t second_ = -1;  ///< that `local_` was made for
  std::tm local_{};
};

/// `SECONDS.FRACTION`, cut off after `digits`; no point without digits. Seconds are filled with blanks to `width`.
void append_seconds(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits, unsigned width = 0);

/// ` <0.000012>`, for -T.
void append_duration(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits);

/// ` (INJECTED)`, ` (INJECTED: args)`, ` (INJECTED: args, retval)` and ` (DELAYED)`, for -e inject.
void append_tampered(TextBuffer& text, bool arguments, bool result, bool delayed);

/// What notes call an ABI: "64 bit", "32 bit", "x32".
std::string_view mode_name(Abi abi);

/// `SIGINT`, or the bare number if it has no name.
void append_signal(TextBuffer& text, int signal);

/// `+++ exited with 3 +++`, `+++ killed by SIGSEGV (core dumped) +++` for a status of waitpid(2).
void append_exit(TextBuffer& text, int status);

/// Lines of ` | 00000  68 65 6c …  hel |` for -e read= and -e write=, each ended.
void append_dump(TextBuffer& text, std::string_view bytes, std::size_t offset = 0);

}  // namespace tracer::render
