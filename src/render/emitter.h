// What a decoded call consists of, as a stream of typed values. Text and JSON are two emitters over the same decode.
//
// The decoder brackets: begin_call, then for each argument begin_argument … end_argument (what is in between may come
// in two parts, before and after the call), end_arguments, begin_result … end_result. A value is one of the calls
// under "Values" or an aggregate; comment, annotation and changed() follow the value that they belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/remote_addr.h"
#include "format/constants.h"
#include "spec/spec.h"

namespace tracer::render {

/// How a call ended.
struct CallResult {
  enum class Kind : std::uint8_t {
    value,    ///< the type of the result says how it prints; the decoder has emitted it as a scalar
    error,    ///< number = errno, also the kernel's restart codes
    unknown,  ///< `= ?`
    nothing,  ///< a function of type void
  };
  Kind kind = Kind::value;
  std::int64_t value = 0;
  int error = 0;
  bool raw = false;         ///< -e raw: a restart code is an error like others
  bool is_address = false;  ///< the error shows as a null pointer
};

/// Bytes shown as a string.
struct StringForm {
  bool cut = false;       ///< more follows than is shown: `"abc"...`
  bool hex = false;       ///< every byte as \xNN
  bool unquoted = false;  ///< the characters alone
  bool text = false;      ///< a NUL at its end is none of its characters, and shows only where bytes show as numbers
};

/// How a value is written that is more than a number: `inet_addr("127.0.0.1")`, `KERNEL_VERSION(6, 1, 0)`.
struct Spelling {
  std::string_view before;
  std::string_view quoted = {};  ///< in quotation marks, as other strings are shown; empty: no string
  std::string_view after = {};   ///< what follows it
};

class Emitter {
 public:
  Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  virtual ~Emitter() = default;

  /// Bytes of text so far. Tells how much a value made of itself; between calls it may start anew.
  [[nodiscard]] virtual std::size_t written() const = 0;

  /// Whether names of types come to anything, and those of arguments that show_argument_name() does not ask for.
  [[nodiscard]] virtual bool tells_names() const { return true; }

  /// Whether anybody sees what stands of a call before it is over.
  [[nodiscard]] virtual bool shows_unfinished() const { return false; }

  // The call.
  virtual void begin_call(std::string_view name) = 0;
  virtual void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) = 0;
  /// The argument that has just begun is one that every reader knows by its name: `child_stack=`.
  virtual void show_argument_name(std::string_view /*name*/) {}
  virtual void end_argument() = 0;
  /// Closes the arguments: `)` and the padding to the column of the result.
  virtual void end_arguments() = 0;
  /// Brackets the emission of the result's value or, for errors and `?`, stands for all of it.
  virtual void begin_result(const CallResult& result) = 0;
  /// ` (prefix` … `)` after the result; nothing at all if nothing is emitted in between. `styled`: -X holds for it.
  virtual void begin_note(std::string_view prefix, bool styled) = 0;
  virtual void end_note() = 0;
  virtual void end_result() = 0;

  // Aggregates.
  virtual void begin_struct() = 0;
  virtual void begin_field(std::string_view name, std::string_view type) = 0;
  /// A field without a name.
  virtual void begin_bare_field(std::string_view name, std::string_view type) { begin_field(name, type); }
  virtual void end_struct() = 0;
  virtual void begin_array() = 0;
  virtual void begin_list() { begin_array(); }  ///< an array without commas: `[0 1 5]`; ends with end_array
  /// An array whose only element stands without brackets.
  virtual void begin_series(bool /*alone*/) { begin_array(); }
  virtual void end_series(bool /*alone*/) { end_array(); }
  virtual void begin_element() = 0;
  virtual void end_array() = 0;
  virtual void more() = 0;  ///< `...`: the rest of a struct or an array is not shown
  /// A note of several parts, each `name value`: `in [3], left {…}`. A part may have no name.
  virtual void begin_parts() { begin_struct(); }
  virtual void begin_part(std::string_view name) { begin_field(name, {}); }
  virtual void end_parts() { end_struct(); }
  /// What a pointer to a single value points to: `[` … `]`.
  virtual void begin_target() {}
  virtual void end_target() {}

  // Values. `bits` are extended to 64 bits as the type says.
  virtual void scalar(std::uint64_t bits, const spec::Type& type) = 0;
  virtual void constant(std::uint64_t bits, const spec::Type& type, Abi abi) = 0;
  virtual void bytes(std::span<const std::byte> data, StringForm form) = 0;
  virtual void address(RemoteAddr address) = 0;    ///< NULL for zero
  virtual void symbol(std::string_view text) = 0;  ///< a computed spelling: makedev(1, 2), [INT TERM]
  /// A number with a name, by -X as a constant of a set. `number` says how the number shows without it.
  virtual void named(const Spelling& name, std::uint64_t bits, const spec::Type& number) = 0;
  /// Bytes in network order with a name, likewise: `"\x00\x50" /* htons(80) */`.
  virtual void named_bytes(const Spelling& name, std::span<const std::byte> data) = 0;
  /// -X as it holds here, for those who put constants into a spelling of their own.
  [[nodiscard]] virtual format::ConstantForm constant_form() const { return format::ConstantForm::abbreviate; }
  virtual void comment(std::string_view text) = 0;  ///< ` /* text */`
  /// `<text>suffix` after a descriptor or a process id. The text is escaped already.
  virtual void annotation(std::string_view text, std::string_view suffix) = 0;
  /// ` [text]` after a path, a descriptor or a process id. The text is escaped already.
  virtual void security_context(std::string_view /*text*/) {}
  virtual void changed() = 0;  ///< ` => `
};

}  // namespace tracer::render
