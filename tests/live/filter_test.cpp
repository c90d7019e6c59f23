// The seccomp filter: unwanted calls do not stop, and nothing else is different.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "catch.h"
#include "process.h"

namespace tracer::live {
namespace {

const std::string getppid_number = std::to_string(SYS_getppid);
const std::string execve_number = std::to_string(SYS_execve);

TEST_CASE("only wanted calls are reported") {
  Process tracer({EVENT_LOG, "-n", execve_number, "-n", getppid_number, TRACEE, "getppid_slowly", "3"});
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  CHECK(find_line(lines, "worked"));
  CHECK(count_lines(lines, "enter") == 4);
  CHECK(count_lines(lines, getppid_number) == 3);
  CHECK(find_line(lines, "exited 0"));
  CHECK(lines.back() == "# status 0");
}

TEST_CASE("a filter of the program's own hides no call") {
  Process tracer({EVENT_LOG, "-n", getppid_number, TRACEE, "own_filter"});
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  CHECK(find_line(lines, "getppid denied"));
  CHECK(count_lines(lines, getppid_number) == 1);
}

TEST_CASE("children that are not followed have the filter and are not reported") {
  Process tracer({EVENT_LOG, "-n", getppid_number, TRACEE, "fork_storm", "20"});
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  CHECK(find_line(lines, "done"));
  CHECK_FALSE(find_line(lines, "fork"));
  CHECK_FALSE(find_line(lines, getppid_number));
}

TEST_CASE("children that must not be traced work all the same, and are not reported") {
  const std::vector<std::vector<std::string>> ways = {
      {EVENT_LOG, "-n", getppid_number, TRACEE, "untraced"},
      {EVENT_LOG, "-f", "-n", getppid_number, TRACEE, "untraced"},
      {EVENT_LOG, "-n", getppid_number, "/bin/sh", "-c",
       std::string(TRACEE) + " untraced; true"},  // made by one that is not reported
  };
  for (const auto& way : ways) {
    CAPTURE(way[1], way.back());
    Process tracer(way);
    const auto lines = tracer.rest();
    CHECK(tracer.wait() == 0);
    CHECK(find_line(lines, "clone: well"));
    CHECK(find_line(lines, "clone3: well"));
    CHECK(find_line(lines, "failed: well"));
    CHECK_FALSE(find_line(lines, "fork"));
    const bool by_shell = way[3] == "/bin/sh";  // which asks for its parent itself, once
    CHECK(count_lines(lines, getppid_number) == (by_shell ? 1 : 0));
  }
}

TEST_CASE("the tracer ends with the program and what the program left behind goes on") {
  Process tracer({EVENT_LOG, "-n", getppid_number, TRACEE, "leave_behind", "10"});
  REQUIRE(tracer.reaches("# status 0x500"));
  CHECK(tracer.wait() == 0);
  CHECK(tracer.reaches("worked"));
}

TEST_CASE("killing or interrupting the tracer leaves the filtered program able to work") {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    CAPTURE(signal);
    Process tracer({EVENT_LOG, "-n", getppid_number, TRACEE, "getppid_slowly", "20"});
    REQUIRE(tracer.reaches("ready"));
    pause_briefly(std::chrono::milliseconds(150));
    tracer.signal(signal);
    REQUIRE(tracer.wait());
    CHECK(tracer.reaches("worked"));
  }
}

TEST_CASE("signals and stops pass through to children that are not reported") {
  Process tracer({EVENT_LOG, "-n", execve_number, "/bin/sh", "-c", std::string(TRACEE) + " signals 30; true"});
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  CHECK(find_line(lines, "caught 30"));
}

}  // namespace
}  // namespace tracer::live
