// Where the finished bytes go. A sink never fails towards its callers: trouble is told once, on standard error, and
// what follows is dropped, so that the traced program goes on unharmed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tracer::sink {

/// Says one sentence, without prefix and line end, to the person at the terminal.
using Complain = std::function<void(std::string_view)>;

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void write(std::string_view bytes) = 0;
  virtual void flush() = 0;
};

/// Writes to a descriptor through a large buffer. The destructor flushes.
class FdSink : public Sink {
 public:
  static constexpr std::size_t buffer_size = std::size_t{64} * 1024;

  /// `name` is what complaints call it. The descriptor must not be inherited by tracees (O_CLOEXEC).
  FdSink(UniqueFd fd, std::string name, Complain complain);
  ~FdSink() override;

  void write(std::string_view bytes) override;
  void flush() override;

 private:
  void write_out(std::string_view bytes);

  UniqueFd fd_;
  std::string name_;
  Complain complain_;
  std::string buffer_;
  bool broken_ = false;
};

/// A copy of standard error, which stays the tracee's as well.
Result<std::unique_ptr<Sink>> open_standard_error(Complain complain);

/// Creates or truncates `path`, or appends to it.
Result<std::unique_ptr<Sink>> open_file(const std::string& path, bool append, Complain complain);

/// As open_file; if that fails it complains, and what is written is dropped.
std::unique_ptr<Sink> open_file_or_drop(const std::string& path, bool append, const Complain& complain);

/// A shell command that reads what is written. The destructor closes the pipe and waits for the command to end.
/// `name` is the command as it was given, with its `|` or `!`. SIGPIPE is caught for the rest of the program's life
/// (unless it was ignored); execve resets that in tracees.
Result<std::unique_ptr<Sink>> open_command(const std::string& command, std::string name, Complain complain);

}  // namespace tracer::sink
