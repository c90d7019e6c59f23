#include "process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace tracer::process {
namespace {

/// Where the tracer was started without the stream, a file of its own may have that number; all of those close on exec.
bool is_inherited(int stream) {
  const int flags = ::fcntl(stream, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

}  // namespace

void leave_standard_streams_to_program() {
  int ends[2];
  // Without a pipe the streams stay as they are: tracing is worth more than an early end of a pipe.
  if ((!is_inherited(STDIN_FILENO) && !is_inherited(STDOUT_FILENO)) || ::pipe2(ends, O_CLOEXEC) < 0) {
    return;
  }
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  if (is_inherited(STDIN_FILENO)) {
    ::dup2(read_end.get(), STDIN_FILENO);
  }
  if (is_inherited(STDOUT_FILENO)) {
    ::dup2(write_end.get(), STDOUT_FILENO);
  }
}

}  // namespace tracer::process
