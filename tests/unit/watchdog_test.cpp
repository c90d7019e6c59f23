// The thread that ends a tracer which does not take its signals.
#include "process/watchdog.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "base/child.h"
#include "catch.h"
#include "skip.h"

namespace tracer::process {
namespace {

sigset_t only(int signal) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, signal);
  return set;
}

/// Runs `owner(signals, watchdog)` in a child, with a watchdog that has got SIGTERM, and returns how it ended.
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
    Watchdog watchdog(signals);
    ::kill(::getpid(), SIGTERM);
    owner(signals, watchdog);
    ::_exit(0);
  }
  return child.value().wait();
}

/// Emulators of programs keep some signals for themselves, and show the numbers of the machine's own calls.
bool can_wake_watchdog() {
  const sigset_t last = only(SIGRTMAX);
  sigset_t former;
  ::pthread_sigmask(SIG_BLOCK, &last, &former);
  const bool sent = ::pthread_kill(::pthread_self(), SIGRTMAX) == 0;
  if (sent) {
    int signal = 0;
    ::sigwait(&last, &signal);
  }
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return sent;
}

/// Ends because of the signal, and runs `last_work()` then.
template <typename Work>
int end_of_ending(const Work& last_work) {
  if (!can_wake_watchdog()) {
    SKIP("there is no SIGRTMAX here, and /proc/PID/syscall is of another machine");
  }
  return end_of([&](const sigset_t& signals, Watchdog& watchdog) {
    int signal = 0;
    ::sigwait(&signals, &signal);
    watchdog.owner_ends(signal);
    last_work();
  });
}

}  // namespace

TEST_CASE("a signal that its owner takes ends nothing") {
  const int status = end_of([](const sigset_t& signals, Watchdog&) {
    int signal = 0;
    ::sigwait(&signals, &signal);
  });
  CHECK(WIFEXITED(status));
}

TEST_CASE("an owner that ends because of a signal may wait for time and for others") {
  const int status = end_of_ending([] {
    const timespec longer_than_patience{2, 0};
    ::nanosleep(&longer_than_patience, nullptr);
  });
  CHECK(WIFEXITED(status));
}

TEST_CASE("an owner that ends because of a signal may make calls that sleep, one after the other") {
  const int status = end_of_ending([] {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    constexpr int calls = 40;
    constexpr timespec rest{0, 40'000'000};
    std::array<char, calls> bytes{};
    auto writer = Child::fork();
    REQUIRE(writer);
    for (char& byte : bytes) {
      if (writer.value().valid()) {
        REQUIRE(::read(ends[0], &byte, 1) == 1);
      } else {
        ::nanosleep(&rest, nullptr);
        REQUIRE(::write(ends[1], &byte, 1) == 1);
      }
    }
    if (!writer.value().valid()) {
      ::_exit(0);
    }
    writer.value().wait();
  });
  CHECK(WIFEXITED(status));
}

TEST_CASE("an owner that ends because of a signal may not write where nobody reads") {
  const int status = end_of_ending([] {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const std::array<char, 4096> bytes{};
    while (::write(pipe[1], bytes.data(), bytes.size()) > 0) {
    }
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("a signal ends an owner that computes without an end") {
  const int status = end_of([](const sigset_t&, Watchdog&) {
    while (::getppid() != 0) {
    }
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

}  // namespace tracer::process
