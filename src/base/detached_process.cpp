#include "base/detached_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "base/child.h"

namespace tracer {
inline namespace base {
namespace {

[[noreturn]] void start_grandchild(UniqueFd socket, void (*run)(int socket)) {
  constexpr int own = 3;
  ::setsid();
  if (::dup2(socket.get(), own) != own || ::syscall(SYS_close_range, own + 1, ~0U, 0) != 0) {
    ::_exit(1);
  }
  ::syscall(SYS_close_range, 0, own - 1, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGSEGV, SIGBUS}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  run(own);
  ::_exit(0);
}

}  // namespace

std::optional<DetachedProcess> start_detached(int type, void (*run)(int socket)) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return std::nullopt;
  }
  DetachedProcess process;
  process.socket.reset(pair[0]);
  UniqueFd other(pair[1]);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const UniqueFd from_child(pipe[0]);
  UniqueFd to_tracer(pipe[1]);
  auto child = Child::fork();
  if (child && !child.value().valid()) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      start_grandchild(std::move(other), run);
    }
    const bool reported = ::write(to_tracer.get(), &grandchild, sizeof grandchild) == sizeof grandchild;
    ::_exit(reported ? 0 : 1);
  }
  other.reset();
  to_tracer.reset();
  if (child) {
    child.value().wait();
  }
  if (!child || ::read(from_child.get(), &process.pid, sizeof process.pid) != sizeof process.pid || process.pid <= 0) {
    return std::nullopt;
  }
  return process;
}

}  // namespace base
}  // namespace tracer
