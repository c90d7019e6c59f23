// What a decoded call, or anything else that happened, is to the explainer: small values that outlive the event. They
// come from a live run (record_emitter.h) or from a recorded trace (json_trace.h), and are the same from both.
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
    none,    ///< NULL, or what could not be read
    number,  ///< number
    words,   ///< text: names of constants, addresses and whatever else has a spelling of its own
    text,    ///< text: bytes of the tracee, such as a path
    object,  ///< members with names
    list,    ///< members without
  };
  Kind kind = Kind::none;
  bool cut = false;  ///< more was there than is shown
  std::int64_t number = 0;
  std::string text;
  std::string name;  ///< what a descriptor or process id stands for, where the trace says it
  std::vector<Member> members;

  [[nodiscard]] bool is_number() const { return kind == Kind::number; }
  /// The member of an object (an empty value if there is none).
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

enum class CallEnd : std::uint8_t { returned, failed, unfinished };

struct Call {
  std::string name;
  std::vector<Argument> args;
  CallEnd end = CallEnd::unfinished;
  std::int64_t result = 0;
  Value result_value;
  std::string error;  ///< "ENOENT" of a failed call
  std::string note;   ///< explanation of the result: "Timeout"

  /// The argument of that name (an empty one if there is none).
  [[nodiscard]] const Argument& argument(std::string_view name) const;
  [[nodiscard]] std::int64_t descriptor(std::string_view argument_name = "fd") const;
  [[nodiscard]] bool failed_with(std::string_view name) const { return end == CallEnd::failed && error == name; }
};

/// `openat(AT_FDCWD, "/etc/x", O_RDONLY) = -1 ENOENT`. Buffers show only with `with_buffers`.
std::string spell(const Call& call, bool with_buffers);
std::string spell(const Value& value);

/// Bytes of a tracee on one line, without quotation marks, safe to print.
std::string printable(std::string_view bytes);

using Time = std::chrono::nanoseconds;  ///< since the epoch of CLOCK_REALTIME

}  // namespace tracer::explain
