// Sinks carry the finished output away. A sink never returns an error: it reports the first failure once, on standard
// error, and drops all later output, so that the traced program continues undisturbed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tracer::pipeline::sink {

/// Reports one sentence, without prefix and newline, to the user.
using Complain = std::function<void(std::string_view)>;

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  virtual void write(std::string_view bytes) = 0;
  virtual void flush() = 0;
  /// The child of this process that reads the output; 0 if there is none.
  [[nodiscard]] virtual pid_t reader() const { return 0; }
};

/// Writes to a file descriptor through a large buffer. The destructor flushes it.
class FdSink : public Sink {
 public:
  static constexpr std::size_t buffer_size = std::size_t{64} * 1024;

  /// `name` stands for the file in error messages. Tracees must not inherit the descriptor (O_CLOEXEC).
  FdSink(UniqueFd fd, std::string name, Complain complain);
  ~FdSink() override;

  void write(std::string_view bytes) override;
  void flush() override;

 private:
  void write_out(std::string_view bytes);

  UniqueFd fd_;
  std::string name_;
  Complain complain_;
  std::unique_ptr<char[]> buffer_;
  std::size_t used_ = 0;  ///< of the buffer
  bool broken_ = false;
};

/// Opens a duplicate of standard error, which the tracee keeps as well.
Result<std::unique_ptr<Sink>> open_standard_error(Complain complain);

/// Opens `path`, created or truncated, or for appending.
Result<std::unique_ptr<Sink>> open_file(const std::string& path, bool append, Complain complain);

/// Like open_file, but reports a failure through `complain` and returns a sink that drops its output.
std::unique_ptr<Sink> open_file_or_drop(const std::string& path, bool append, const Complain& complain);

/// Starts a shell command that reads the output from a pipe. The destructor closes the pipe and waits for the command
/// to exit. `name` is the command as the user gave it, with its `|` or `!`. SIGPIPE is caught from then on (unless it
/// was ignored); execve resets the handler in tracees.
Result<std::unique_ptr<Sink>> open_command(const std::string& command, std::string name, Complain complain);

}  // namespace tracer::pipeline::sink
