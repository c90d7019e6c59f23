// A value or the reason why there is none. Failures that belong to everyday work (a tracee that
// vanished, memory that cannot be read) travel as values; exceptions end at start-up, in main.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/require.h"

namespace tracer {
inline namespace base {

/// Why an operation failed: an errno value and, where a person will read it, the whole sentence.
struct Error {
  int number = 0;       ///< errno; 0 where no system call failed
  std::string message;  ///< cause and remedy in one line; may be empty for errors that code handles
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] T& value() & {
    require(ok(), "Result::value() of an error");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] const T& value() const& {
    require(ok(), "Result::value() of an error");
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    require(ok(), "Result::value() of an error");
    return std::move(*std::get_if<0>(&state_));
  }
  [[nodiscard]] const Error& error() const {
    require(!ok(), "Result::error() of a value");
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// The result of an operation that yields nothing but success.
struct Done {};
using Status = Result<Done>;

}  // namespace base
}  // namespace tracer
