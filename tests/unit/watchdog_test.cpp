// The thread that ends a tracer which does not take its signals.
#include "process/watchdog.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "catch.h"

namespace tracer::process {
namespace {

sigset_t only(int signal) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  return set;
}

/// Runs `owner(signals)` in a child, with a watchdog that has got SIGTERM, and returns how it ended.
template <typename Owner>
int end_of(const Owner& owner) {
  auto child = Child::fork();
  REQUIRE(child);
  if (!child.value().valid()) {
    constexpr unsigned patience = 30;  // seconds
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(patience);
    const sigset_t signals = only(SIGTERM);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    const Watchdog watchdog(signals);
    ::kill(::getpid(), SIGTERM);
    owner(signals);
    ::_exit(0);
  }
  return child.value().wait();
}

}  // namespace

TEST_CASE("a signal that its owner takes ends nothing") {
  const int status = end_of([](const sigset_t& signals) {
    int signal = 0;
    ::sigwait(&signals, &signal);
  });
  CHECK(WIFEXITED(status));
}

TEST_CASE("a signal ends an owner that computes without an end") {
  const int status = end_of([](const sigset_t&) {
    while (::getppid() != 0) {
    }
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

}  // namespace tracer::process
