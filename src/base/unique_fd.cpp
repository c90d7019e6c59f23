#include "base/unique_fd.h"

#include <unistd.h>

namespace tracer {
inline namespace base {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) {
    // close(2): the descriptor is gone whatever the result, also after EINTR.
    ::close(fd_);
  }
  fd_ = fd;
}

}  // namespace base
}  // namespace tracer
