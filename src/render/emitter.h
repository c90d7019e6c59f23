// An emitter receives a decoded call as a stream of typed values. Text and JSON are two emitters over the same decode.
//
// The decoder calls begin_call, then begin_argument … end_argument for each argument (in-out arguments arrive in two
// parts, at entry and at exit), end_arguments, begin_result … end_result. A value is one of the functions under
// "Values" or an aggregate; comment, annotation and changed() follow the value that they belong to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/remote_addr.h"
#include "format/constants.h"
#include "spec/spec.h"

namespace tracer::render {

/// The result of a call.
struct CallResult {
  enum class Kind : std::uint8_t {
    value,    ///< the decoder emits it as a scalar of the result's type
    error,    ///< an errno value or one of the kernel's restart codes
    unknown,  ///< `= ?`
    nothing,  ///< a function of type void
  };
  Kind kind = Kind::value;
  std::int64_t value = 0;
  int error = 0;
  bool raw = false;         ///< -e raw: a restart code shows like any other error
  bool is_address = false;  ///< the function returns a pointer: an error shows as NULL
};

/// How bytes show as a string.
/// One byte: as five, written one by one and passed as one word, it would be read before it is all in the cache.
struct StringForm {
  bool cut : 1 = false;       ///< the string is truncated: `"abc"...`
  bool hex : 1 = false;       ///< every byte shows as \xNN
  bool unquoted : 1 = false;  ///< without quotation marks
  bool utf8 : 1 = false;      ///< wide characters, encoded as UTF-8
  bool text : 1 = false;      ///< the bytes end in a NUL, which shows only under -x and -xx
};

/// The symbolic form of a number: `inet_addr("127.0.0.1")`, `KERNEL_VERSION(6, 1, 0)`.
struct SymbolicName {
  std::string_view before;
  std::string_view quoted = {};  ///< shown in quotation marks, escaped like other strings; empty: no string
  std::string_view after = {};   ///< follows `quoted`
};

/// Names of arguments. `all`: those without a name too, as `arg1`.
enum class Names : std::uint8_t { none, described, all };

class Emitter {
 public:
  Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  virtual ~Emitter() = default;

  /// Returns the number of bytes emitted so far, to measure single values. It may restart between calls.
  [[nodiscard]] virtual std::size_t written() const = 0;

  /// Which names of types, and of arguments beyond those of show_argument_name(), the emitter uses.
  [[nodiscard]] virtual Names names() const { return Names::described; }

  /// True if output is visible before the call has returned.
  [[nodiscard]] virtual bool shows_unfinished() const { return false; }

  // The call.
  virtual void begin_call(std::string_view name) = 0;
  virtual void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) = 0;
  /// Shows the name of the current argument even without -N: `child_stack=`.
  virtual void show_argument_name(std::string_view /*name*/) {}
  virtual void end_argument() = 0;
  /// Writes `)` and the padding to the column of the result.
  virtual void end_arguments() = 0;
  /// Precedes the result's value or, for errors and `?`, writes all of the result.
  virtual void begin_result(const CallResult& result) = 0;
  /// Writes ` (prefix` … `)` after the result, or nothing if nothing is emitted in between. `styled`: -X applies to it.
  virtual void begin_note(std::string_view prefix, bool styled) = 0;
  virtual void end_note() = 0;
  virtual void end_result() = 0;

  // Aggregates.
  virtual void begin_struct() = 0;
  virtual void begin_field(std::string_view name, std::string_view type) = 0;
  /// Begins a field that shows without its name.
  virtual void begin_bare_field(std::string_view name, std::string_view type) { begin_field(name, type); }
  virtual void end_struct() = 0;
  virtual void begin_array() = 0;
  virtual void begin_list() { begin_array(); }  ///< an array without commas: `[0 1 5]`; ends with end_array
  /// Begins an array that shows without brackets if `alone` says that it has only one element.
  virtual void begin_series(bool /*alone*/) { begin_array(); }
  virtual void end_series(bool /*alone*/) { end_array(); }
  /// `index`: the name of the element's index, which text shows before it, as in `[VINTR]=`.
  virtual void begin_element(std::string_view index = {}) = 0;
  virtual void end_array() = 0;
  virtual void more() = 0;  ///< `...`: the rest of a struct or an array is not shown
  /// Begins a note of several parts, each `name value`: `in [3], left {…}`. A part may have no name.
  virtual void begin_parts() { begin_struct(); }
  virtual void begin_part(std::string_view name) { begin_field(name, {}); }
  virtual void end_parts() { end_struct(); }
  /// Brackets the target of a pointer to a single value: `[` … `]`.
  virtual void begin_target() {}
  virtual void end_target() {}

  // Values. `bits` are sign- or zero-extended to 64 bits according to the type.
  virtual void scalar(std::uint64_t bits, const spec::Type& type) = 0;
  virtual void constant(std::uint64_t bits, const spec::Type& type, Abi abi) = 0;
  virtual void bytes(std::span<const std::byte> data, StringForm form) = 0;
  virtual void address(RemoteAddr address) = 0;    ///< NULL for zero
  virtual void symbol(std::string_view text) = 0;  ///< text that a decoder made: makedev(1, 2), [INT TERM]
  /// Emits a number with a name, formatted under -X like a constant. `number` is the format of the bare number.
  virtual void named(const SymbolicName& name, std::uint64_t bits, const spec::Type& number) = 0;
  /// Emits bytes in network order with a name: `"\x00\x50" /* htons(80) */`.
  virtual void named_bytes(const SymbolicName& name, std::span<const std::byte> data) = 0;
  /// Returns the form of -X that applies here, for decoders that format constants themselves.
  [[nodiscard]] virtual format::ConstantForm constant_form() const { return format::ConstantForm::abbreviate; }
  virtual void comment(std::string_view text) = 0;  ///< ` /* text */`
  /// Writes `<text>suffix` after a file descriptor or a process ID. The text is escaped already.
  virtual void annotation(std::string_view text, std::string_view suffix) = 0;
  /// Writes ` [text]` after a path, a file descriptor or a process ID. The text is escaped already.
  virtual void security_context(std::string_view /*text*/) {}
  virtual void changed() = 0;  ///< ` => `
};

}  // namespace tracer::render
