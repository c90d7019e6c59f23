#include "base/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tracer {
inline namespace base {

Result<Child> Child::fork() {
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error{errno, std::string("fork: ") + std::strerror(errno)};
  }
  return Child(pid == 0 ? -1 : pid);
}

int Child::wait() {
  return collect(0).value_or(0);
}

std::optional<int> Child::ended() {
  return collect(WNOHANG);
}

std::optional<int> Child::collect(int options) {
  if (!valid()) {
    return 0;
  }
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(pid_, &status, options);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) {
    return std::nullopt;
  }
  pid_ = -1;
  return ended < 0 ? 0 : status;
}

std::optional<EndedChild> collect_ended_child(pid_t pid) {
  EndedChild child{};
  child.pid = ::waitpid(pid, &child.status, WNOHANG);
  return child.pid > 0 ? std::optional(child) : std::nullopt;
}

}  // namespace base
}  // namespace tracer
