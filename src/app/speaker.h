// What the tracer itself writes: sentences to standard error, information to standard output.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tracer::app {

/// Writes to standard error, as it is.
void say(std::string_view text);

/// Writes `strace: SENTENCE`, made printable, with one write(2), so that output of tracees does not split it.
class Speaker {
 public:
  explicit Speaker(std::string name) : name_(std::move(name)) {}
  void operator()(std::string_view sentence) const;
  /// Reports the errors in the files of --define, of which each has a line.
  void errors(std::string_view lines) const;

 private:
  std::string name_;
};

/// Prints information such as --help. Returns the exit status.
int print(std::string_view text, const Speaker& speak);

}  // namespace tracer::app
