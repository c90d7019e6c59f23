// What a decoded call consists of, as a stream of typed values. Text and JSON are two emitters over the same decode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/remote_addr.h"
#include "spec/spec.h"

namespace tracer::render {

/// How a call ended.
struct CallResult {
  enum class Kind : std::uint8_t {
    value,    ///< the type of the result says how it prints; the decoder has emitted it as a scalar
    error,    ///< number = errno, also the kernel's restart codes
    unknown,  ///< `= ?`
  };
  Kind kind = Kind::value;
  std::int64_t value = 0;
  int error = 0;
};

/// Bytes shown as a string.
struct StringForm {
  bool cut = false;  ///< more follows than is shown: `"abc"...`
  bool hex = false;  ///< every byte as \xNN
  bool unquoted = false;
};

class Emitter {
 public:
  Emitter() = default;
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  virtual ~Emitter() = default;

  // The call.
  virtual void begin_call(std::string_view name) = 0;
  virtual void begin_argument(std::string_view name, std::string_view type, std::uint64_t raw) = 0;
  virtual void end_argument() = 0;
  /// Closes the arguments: `)` and the padding to the column of the result.
  virtual void end_arguments() = 0;
  /// Brackets the emission of the result's value or, for errors and `?`, stands for all of it.
  virtual void begin_result(const CallResult& result) = 0;
  virtual void begin_note() = 0;  ///< ` (` … `)` after the result
  virtual void end_note() = 0;
  virtual void end_result() = 0;

  // Aggregates.
  virtual void begin_struct() = 0;
  virtual void begin_field(std::string_view name, std::string_view type) = 0;
  virtual void end_struct() = 0;
  virtual void begin_array() = 0;
  virtual void begin_element() = 0;
  virtual void end_array() = 0;
  virtual void more() = 0;  ///< `...`: the rest of a struct or an array is not shown

  // Values.
  virtual void scalar(std::uint64_t bits, const spec::Type& type) = 0;
  virtual void constant(std::uint64_t bits, const spec::Type& type, Abi abi) = 0;
  virtual void bytes(std::span<const std::byte> data, StringForm form) = 0;
  virtual void address(RemoteAddr address) = 0;        ///< NULL for zero
  virtual void symbol(std::string_view text) = 0;      ///< a computed spelling: AT_FDCWD, SIG_DFL, makedev(1, 2)
  virtual void comment(std::string_view text) = 0;     ///< ` /* text */`
  virtual void annotation(std::string_view text) = 0;  ///< `<text>` after a descriptor or a process id
  virtual void changed() = 0;                          ///< ` => `
};

}  // namespace tracer::render
