// A value or an error. Expected failures (the tracee is gone, its memory cannot be read) are returned as values;
// exceptions occur at start-up only, and main catches them.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/require.h"

namespace tracer {
inline namespace base {

/// Why an operation failed: an errno value and, if it is shown to the user, a message.
struct Error {
  int number = 0;       ///< errno; 0 if no system call failed
  std::string message;  ///< cause and remedy in one line; may be empty if the caller handles the error
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

/// The result of an operation that returns no value.
struct Done {};
using Status = Result<Done>;

}  // namespace base
}  // namespace tracer
