#include "base/unique_fd.h"

#include <unistd.h>

namespace tracer {
inline namespace base {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) {
    // close(2): Linux releases the descriptor whatever the result is, also after EINTR.
    ::close(fd_);
  }
  fd_ = fd;
}

}  // namespace base
}  // namespace tracer
