// The owner of a child process.
#include "base/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <type_traits>

#include "base/unique_fd.h"
#include "catch.h"
#include "process/forwarded_signals.h"

namespace tracer {
namespace {

static_assert(!std::is_copy_constructible_v<Child> && std::is_nothrow_move_constructible_v<Child>);

/// A child that ends with `status` when its end of a pipe is closed.
struct Waiting {
  UniqueFd until;
  Child child;
};

Waiting start(int status) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  auto child = Child::fork();
  REQUIRE(child);
  if (!child.value().valid()) {
    write_end.reset();
    char none = 0;
    ::_exit(::read(read_end.get(), &none, 1) == 0 ? status : 1);
  }
  return {std::move(write_end), std::move(child).value()};
}

bool is_collected(pid_t pid) {
  return ::waitpid(pid, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

TEST_CASE("a child is waited for, and its status is that of waitpid") {
  Waiting one = start(3);
  CHECK_FALSE(one.child.ended());
  one.until.reset();
  const int status = one.child.wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
  CHECK_FALSE(one.child.valid());
}

TEST_CASE("a child is collected with its owner") {
  Waiting one = start(0);
  const pid_t pid = one.child.pid();
  {
    const Child owner = std::move(one.child);
    CHECK(one.child.pid() == -1);  // NOLINT(bugprone-use-after-move)
    one.until.reset();
  }
  CHECK(is_collected(pid));
}

TEST_CASE("another child takes its owner once the first has ended") {
  Waiting one = start(1);
  const pid_t first = one.child.pid();
  one.until.reset();  // before the next child, which would hold it open
  Waiting two = start(2);
  one.child = std::move(two.child);
  CHECK(is_collected(first));
  two.until.reset();
  CHECK(WEXITSTATUS(one.child.wait()) == 2);
}

TEST_CASE("a child whose status the kernel does not keep has ended all the same") {
  struct sigaction ignored {};
  struct sigaction former {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignored, &former);
  Waiting one = start(3);
  one.until.reset();
  CHECK(one.child.wait() == 0);
  ::sigaction(SIGCHLD, &former, nullptr);
}

TEST_CASE(
    "a process that waits for a child keeps its status where SIGCHLD is ignored, and leaves its signals as they were") {
  struct sigaction ignored {};
  struct sigaction former {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignored, &former);
  sigset_t before;
  sigset_t after;
  ::sigprocmask(SIG_SETMASK, nullptr, &before);
  {
    const process::ForwardedSignals signals;
    Waiting one = start(3);
    one.until.reset();
    CHECK(WEXITSTATUS(signals.wait_for(std::move(one.child))) == 3);
  }
  ::sigprocmask(SIG_SETMASK, nullptr, &after);
  CHECK(::sigismember(&before, SIGTERM) == ::sigismember(&after, SIGTERM));
  struct sigaction now {};
  ::sigaction(SIGCHLD, &former, &now);
  CHECK(now.sa_handler == SIG_IGN);
}

TEST_CASE("a process that waits for a child forwards to it the signal that would end both") {
  Waiting one = start(0);
  const process::ForwardedSignals signals;
  // The child has the mask of before the signals were held.
  ::raise(SIGTERM);
  const int status = signals.wait_for(std::move(one.child));
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("of all children, one that has ended is collected") {
  Waiting one = start(4);
  CHECK_FALSE(collect_ended_child());
  one.until.reset();
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(one.child.pid()), &info, WEXITED | WNOWAIT) == 0);
  const auto ended = collect_ended_child();
  REQUIRE(ended);
  CHECK(ended->pid == one.child.pid());
  CHECK(WEXITSTATUS(ended->status) == 4);
}

}  // namespace
}  // namespace tracer
