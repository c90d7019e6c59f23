// Parts of text output other than calls: line prefixes, durations, exit lines, hex dumps.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/abi.h"
#include "base/text_buffer.h"
#include "render/text_choices.h"

namespace tracer::render {

/// The parts of the prefix. `…_digits` count the digits of the fraction of a second: 0, 3, 6 or 9.
struct PrefixOptions {
  Clock clock = Clock::none;             ///< -t, -tt, -ttt
  unsigned clock_digits = 0;             ///< truncated, not rounded
  std::optional<unsigned> since_digits;  ///< -r
  unsigned since_width = 6;              ///< columns of the seconds of -r
  bool syscall_number = false;           ///< -n
  bool instruction_pointer = false;      ///< -i
};

enum class PidForm : std::uint8_t {
  none,
  bracketed,  ///< `[pid  1234] ` on a terminal
  column,     ///< `1234  ` in a file
};

/// The values that a prefix may show.
struct PrefixFacts {
  pid_t tid = 0;
  PidForm pid = PidForm::none;
  std::string_view command;           ///< -Y: shown after the thread ID; escaped; empty: none
  std::string_view security_context;  ///< --secontext: shown after the command; escaped; empty: none
  std::chrono::nanoseconds realtime{};
  std::chrono::nanoseconds monotonic{};
  std::uint64_t number = 0;                          ///< number of the current call, or of the last one
  std::optional<std::uint64_t> instruction_pointer;  ///< nullopt shows as `[????????????????]`
  unsigned word_size = 8;                            ///< bytes in a word of the thread's ABI
};

/// Writes the prefixes of all lines of a run. -r counts from the previous line, whichever thread it belongs to.
class LinePrefix {
 public:
  explicit LinePrefix(PrefixOptions options) : options_(options) {}

  void write(TextBuffer& text, const PrefixFacts& facts);
  /// Writes only the times of the prefix.
  void write_times(TextBuffer& text, std::chrono::nanoseconds realtime, std::chrono::nanoseconds monotonic);

 private:
  void write_column(TextBuffer& text, std::int32_t tid, std::string_view command);
  void write_clock(TextBuffer& text, std::chrono::nanoseconds realtime);
  void write_since(TextBuffer& text, std::chrono::nanoseconds monotonic);

  PrefixOptions options_;
  TextBuffer column_;               ///< the last one, as most lines follow one of the same thread
  std::int32_t tid_in_column_ = 0;  ///< whose it is, without a command; 0: nobody's
  std::optional<std::chrono::nanoseconds> previous_;
  std::time_t second_ = -1;  ///< the second that `local_` holds
  std::tm local_{};
};

/// Appends `SECONDS.FRACTION`, truncated to `digits`, without the point if `digits` is 0. Blanks pad the seconds to
/// `width`.
void append_seconds(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits, unsigned width = 0);

/// Appends ` <0.000012>` for -T.
void append_duration(TextBuffer& text, std::chrono::nanoseconds time, unsigned digits);

/// Appends ` (INJECTED)`, ` (INJECTED: args)`, ` (INJECTED: args, retval)` and ` (DELAYED)` for -e inject.
void append_tampered(TextBuffer& text, bool arguments, bool result, bool delayed);

/// Returns strace's name of an ABI: "64 bit", "32 bit", "x32".
std::string_view mode_name(Abi abi);

/// Appends `SIGINT`, or the bare number if it has no name.
void append_signal(TextBuffer& text, int signal);

/// Appends `+++ exited with 3 +++` or `+++ killed by SIGSEGV (core dumped) +++` for a status of waitpid(2).
void append_exit(TextBuffer& text, int status);

/// Appends lines of ` | 00000  68 65 6c …  hel |` for -e read= and -e write=, each with its newline.
void append_dump(TextBuffer& text, std::string_view bytes, std::size_t offset = 0);

}  // namespace tracer::render
