// Attaching to processes that run, letting them go, and what happens when the tracer is killed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "skip.h"

#include "process.h"

namespace tracer::live {
namespace {

/// A process of busy threads that can be asked whether it is alive.
class Busy : public Process {
 public:
  explicit Busy(int threads) : Process({TRACEE, "threads", std::to_string(threads)}) { REQUIRE(line() == "ready"); }

  bool alive() {
    say("?");
    return line() == "alive";
  }
};

std::vector<std::string> attach_to(pid_t pid, const std::string& option) {
  Process tracer({EVENT_LOG, option, "-p", std::to_string(pid)}, true);
  auto lines = tracer.rest();
  tracer.wait();
  return lines;
}

TEST_CASE("64 busy threads survive being attached to and detached from repeatedly") {
  Busy busy(64);
  for (int round = 0; round < rounds(20); ++round) {
    Process tracer({EVENT_LOG, "-f", "-L", std::to_string(50 + round * 37), "-p", std::to_string(busy.pid())});
    const auto lines = tracer.rest();
    REQUIRE(tracer.wait() == 0);
    CHECK(count_lines(lines, "attached by-request 64 " TRACEE) == 1);
    CHECK(count_lines(lines, "attached by-request 0") == 63);
    CHECK(count_lines(lines, "detached") == 64);
    REQUIRE(runs_untraced(busy.pid()));
    REQUIRE(busy.alive());
  }
}

TEST_CASE("an interrupted tracer detaches") {
  Busy busy(8);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Process tracer({EVENT_LOG, "-f", "-p", std::to_string(busy.pid())});
    REQUIRE(tracer.line());
    tracer.signal(signal);
    const auto lines = tracer.rest();
    CHECK(tracer.wait() == 0);
    CHECK(lines.back() == "# interrupted by " + std::to_string(signal));
    CHECK(count_lines(lines, "detached") == 8);
    CHECK(runs_untraced(busy.pid()));
    CHECK(busy.alive());
  }
}

TEST_CASE("an interrupted tracer does not wait for a thread that cannot stop") {
  Process parent({TRACEE, "vfork_sleep"});
  REQUIRE(parent.line() == "asleep");
  Process tracer({EVENT_LOG, "-p", std::to_string(parent.pid())});
  REQUIRE(tracer.line());
  tracer.signal(SIGINT);
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  CHECK(count_lines(lines, "detached") == 1);
  CHECK(lines.back() == "# interrupted by " + std::to_string(SIGINT));
}

TEST_CASE("a tracer killed at any moment leaves no tracee stopped") {
  Busy busy(16);
  for (int round = 0; round < rounds(20); ++round) {
    Process tracer({EVENT_LOG, "-q", "-f", "-p", std::to_string(busy.pid())});
    pause_briefly(std::chrono::microseconds(500 + round * 700));
    tracer.signal(SIGKILL);
    REQUIRE(tracer.wait());
    REQUIRE(becomes_true([&] { return runs_untraced(busy.pid()); }));
    REQUIRE(busy.alive());
  }
}

TEST_CASE("a launched program outlives a tracer that is killed") {
  Process tracer({EVENT_LOG, TRACEE, "getppid_slowly", "20"});
  const auto first = tracer.line();
  REQUIRE(first);
  pause_briefly(std::chrono::milliseconds(200));
  tracer.signal(SIGKILL);
  REQUIRE(tracer.wait());
  CHECK(tracer.reaches("worked"));
}

TEST_CASE("with kill on exit it does not") {
  Process tracer({EVENT_LOG, "-k", TRACEE, "sleeper"});
  const auto first = tracer.line();
  REQUIRE(first);
  const pid_t tracee = std::atoi(first->c_str());
  tracer.signal(SIGKILL);
  REQUIRE(tracer.wait());
  CHECK(becomes_true([&] { return ::kill(tracee, 0) != 0 || status_field(tracee, "State").rfind('Z', 0) == 0; }));
}

TEST_CASE("a stopped process stays stopped when the tracer detaches from it") {
  Process sleeper({TRACEE, "sleeper"});
  REQUIRE(sleeper.line() == "ready");
  sleeper.signal(SIGSTOP);
  REQUIRE(sleeper.stops());
  {
    Process tracer({EVENT_LOG, "-p", std::to_string(sleeper.pid())});
    REQUIRE(find_line(tracer.up_to("group-stop 19"), "group-stop 19"));
    tracer.signal(SIGINT);
    const auto lines = tracer.rest();
    CHECK(tracer.wait() == 0);
    CHECK(find_line(lines, "detached"));
  }
  CHECK(status_field(sleeper.pid(), "TracerPid") == "0");
  // The kernel wakes it for a moment, to stop it again without a tracer.
  CHECK(becomes_true([&] { return status_field(sleeper.pid(), "State") == "T (stopped)"; }));
  sleeper.signal(SIGCONT);
  CHECK(becomes_true([&] { return status_field(sleeper.pid(), "State") == "S (sleeping)"; }));
}

TEST_CASE("attaching to nothing says so") {
  const auto lines = attach_to(4194303, "-q");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "event_log: attach: ptrace(PTRACE_SEIZE, 4194303): No such process");
}

TEST_CASE("attaching to a process that has a tracer names it") {
  Busy busy(2);
  Process first({EVENT_LOG, "-q", "-p", std::to_string(busy.pid())});
  REQUIRE(becomes_true([&] { return status_field(busy.pid(), "TracerPid") == std::to_string(first.pid()); }));
  const std::string words =
      "event_log: attach: ptrace(PTRACE_SEIZE, " + std::to_string(busy.pid()) + "): Operation not permitted";
  const auto plain = attach_to(busy.pid(), "-s");
  REQUIRE(plain.size() == 2);
  CHECK(plain[0] == words);
  CHECK(plain[1] == "event_log: Process " + std::to_string(busy.pid()) + " is already being traced by pid " +
                        std::to_string(first.pid()));
  const auto helpful = attach_to(busy.pid(), "-q");
  REQUIRE(helpful.size() == 1);
  CHECK(helpful[0].rfind(words + ": process " + std::to_string(first.pid()) + " (event_log) is tracing it", 0) == 0);
  CHECK(busy.alive());
}

TEST_CASE("attaching to a zombie names its parent") {
  Process keeper({TRACEE, "keep_zombie"});
  const auto child = keeper.line();
  REQUIRE(child);
  const auto lines = attach_to(std::atoi(child->c_str()), "-q");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("has ended already and waits for its parent, process " + std::to_string(keeper.pid())) !=
        std::string::npos);
}

TEST_CASE("attaching without the right to names the remedy") {
  if (::geteuid() != 0) {
    SKIP("only root can become another user");
  }
  Busy busy(1);
  Process tracer({"/bin/sh", "-c",
                  "cp \"$0\" /tmp/event_log.$$ && chmod 755 /tmp/event_log.$$ && "
                  "setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/event_log.$$ -q -p \"$1\"; "
                  "rm -f /tmp/event_log.$$",
                  EVENT_LOG, std::to_string(busy.pid())},
                 true);
  const auto lines = tracer.rest();
  tracer.wait();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("Operation not permitted: ") != std::string::npos);
  CHECK(lines[0].find("CAP_SYS_PTRACE") != std::string::npos);
  CHECK(busy.alive());
}

TEST_CASE("daemonized, the tracer is no parent and the program has the place that was started") {
  Process program({EVENT_LOG, "-q", "-D", "1", TRACEE, "threads", "1"});
  REQUIRE(program.reaches("ready"));
  const std::string tracer = status_field(program.pid(), "TracerPid");
  CHECK(std::atoi(tracer.c_str()) > 0);
  CHECK(tracer != std::to_string(::getpid()));
  CHECK(status_field(program.pid(), "Name") == "tracee");
  ::kill(program.pid(), SIGKILL);
  CHECK(program.reaches("# status 0x9"));
}

}  // namespace
}  // namespace tracer::live
