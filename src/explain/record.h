// Decoded calls and values as the explainer keeps them after the event. RecordEmitter makes them of a live run,
// read_json_trace() of a recorded one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::explain {

struct Member;

/// A decoded value.
struct Value {
  enum class Kind : std::uint8_t {
    none,    ///< NULL or unreadable
    number,  ///< `number` holds it
    words,   ///< `text` holds names of constants, an address or another formatted value
    text,    ///< `text` holds bytes of the tracee, such as a path
    object,  ///< `members` have names
    list,    ///< `members` have no names
  };
  Kind kind = Kind::none;
  bool cut = false;  ///< the value is truncated
  std::int64_t number = 0;
  std::string text;
  std::string name;  ///< what a file descriptor or process ID refers to, if the trace has it
  std::vector<Member> members;

  [[nodiscard]] bool is_number() const { return kind == Kind::number; }
  /// Returns a member of an object; an empty value if it has no such member.
  [[nodiscard]] const Value& operator[](std::string_view member) const;
};

struct Member {
  std::string name;
  Value value;
};

struct Argument {
  std::string name;
  std::string type;
  std::uint64_t raw = 0;
  Value value;
};

enum class CallOutcome : std::uint8_t { returned, failed, unfinished };

struct Call {
  std::string name;
  std::vector<Argument> args;
  CallOutcome outcome = CallOutcome::unfinished;
  std::int64_t result = 0;
  Value result_value;
  std::string error;  ///< name of a failed call's error: "ENOENT"
  std::string note;   ///< explanation of the result: "Timeout"
  /// The call succeeded and reports the error of another one: getsockopt(SO_ERROR).
  bool is_report = false;

  /// Returns the argument of that name; an empty one if there is none.
  [[nodiscard]] const Argument& argument(std::string_view name) const;
  [[nodiscard]] std::int64_t descriptor(std::string_view argument_name = "fd") const;
  [[nodiscard]] bool failed_with(std::string_view name) const {
    return outcome == CallOutcome::failed && error == name;
  }
};

/// Returns `openat(AT_FDCWD, "/etc/x", O_RDONLY) = -1 ENOENT`. `with_buffers`: show contents of files and messages.
std::string to_text(const Call& call, bool with_buffers);
std::string to_text(const Value& value);

/// Escapes bytes of a tracee so that they are safe to print on one line. Adds no quotation marks.
std::string printable(std::string_view bytes);

using Time = std::chrono::nanoseconds;  ///< since the epoch of CLOCK_REALTIME

}  // namespace tracer::explain
