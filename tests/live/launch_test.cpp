// Programs started under the engine: order and completeness of events.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <map>

#include "catch.h"
#include "process.h"

namespace tracer::live {
namespace {

std::vector<std::string> traced(std::vector<std::string> options, std::vector<std::string> program) {
  std::vector<std::string> args{EVENT_LOG};
  args.insert(args.end(), options.begin(), options.end());
  args.push_back("--");
  args.insert(args.end(), program.begin(), program.end());
  Process process(args, true);
  std::vector<std::string> lines = process.rest();
  const auto status = process.wait();
  CHECK(status == 0);
  return lines;
}

/// Every thread's entries and ends of calls alternate, nothing comes after the end of a thread, and a child is heard of
/// only after its Fork.
void check_order(const std::vector<std::string>& lines) {
  std::map<std::string, bool> in_call;
  std::map<std::string, bool> ended;
  for (const std::string& line : lines) {
    const std::size_t space = line.find(' ');
    const std::string tid = line.substr(0, space);
    if (tid.empty() || tid.find_first_not_of("0123456789") != std::string::npos || space == std::string::npos) {
      continue;
    }
    const std::string what = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
    INFO(line);
    if (what == "exec") {
      const std::string former = line.substr(line.rfind(' ') + 1);
      if (former != tid) {
        in_call[tid] = in_call[former];
        ended[former] = true;
      }
    }
    CHECK_FALSE(ended[tid]);
    if (what == "enter") {
      CHECK_FALSE(in_call[tid]);
      in_call[tid] = true;
    } else if (what == "exit" || what == "lost") {
      CHECK(in_call[tid]);
      in_call[tid] = false;
    } else if (what == "exited") {
      CHECK_FALSE(in_call[tid]);
      ended[tid] = true;
    } else if (what == "fork" || what == "thread") {
      const std::string child = line.substr(line.rfind(' ') + 1);
      CHECK(in_call.count(child) == 0);
    }
  }
}

TEST_CASE("the first event is the program's execve and the last its end") {
  const auto lines = traced({}, {TRACEE, "hello"});
  check_order(lines);
  REQUIRE(lines.size() > 4);
  std::vector<std::string> events;
  for (const auto& line : lines) {
    if (line != "hello") {
      events.push_back(line);
    }
  }
  CHECK(events[0].find(" enter ") != std::string::npos);
  CHECK(events[0].find(" " + std::to_string(SYS_execve) + " ") != std::string::npos);
  CHECK(events[1].find(" exec ") != std::string::npos);
  CHECK(find_line(lines, "hello"));
  CHECK(find_line(lines, "exited 0"));
  CHECK(lines.back() == "# status 0");
}

TEST_CASE("a program that cannot be executed shows its execve, says why, and ends") {
  const auto lines = traced({}, {"/dev/null"});
  CHECK(find_line(lines, "event_log: exec: Permission denied: it is not marked as executable;"));
  CHECK(find_line(lines, "error"));
  CHECK(find_line(lines, "# exec error 13"));
  CHECK(lines.back() == "# status 0x7e00");
  CHECK(traced({"-s"}, {"/dev/null"}).back() == "# status 0x100");
}

TEST_CASE("children follow their fork") {
  const auto lines = traced({"-f"}, {TRACEE, "fork_storm", "60"});
  check_order(lines);
  CHECK(find_line(lines, "done"));
  CHECK(count_lines(lines, "fork") == 60);
  CHECK(count_lines(lines, "thread") <= 60);
  CHECK(lines.back() == "# status 0");
}

TEST_CASE("a vforked child is followed") {
  const auto lines = traced({"-f"}, {TRACEE, "vfork_exec"});
  check_order(lines);
  CHECK(find_line(lines, "hello"));
  CHECK(count_lines(lines, "fork") == 1);
  CHECK(count_lines(lines, "exited 0") == 2);
}

TEST_CASE("execve by a thread that is not the leader takes over the leader's id") {
  const auto lines = traced({"-f"}, {TRACEE, "exec_thread"});
  check_order(lines);
  CHECK(find_line(lines, "hello"));
  const std::string leader = lines[0].substr(0, lines[0].find(' '));
  std::string former;
  for (const auto& line : lines) {
    if (line.rfind(leader + " exec ", 0) == 0) {
      former = line.substr(line.rfind(' ') + 1);
    }
  }
  CHECK(former != leader);
  CHECK(find_line(lines, leader + " exited 0"));
  CHECK_FALSE(find_line(lines, former + " exited 0"));
}

TEST_CASE("a leader that ends first is reported when the process ends") {
  const auto lines = traced({"-f"}, {TRACEE, "zombie_leader"});
  check_order(lines);
  CHECK(find_line(lines, "late"));
  CHECK(lines.back() == "# status 0x700");
}

TEST_CASE("each signal arrives once and as it was sent") {
  const auto lines = traced({}, {TRACEE, "signals", "50"});
  check_order(lines);
  CHECK(find_line(lines, "caught 50"));
  CHECK(count_lines(lines, "signal 10 code -1") == 50);  // SI_QUEUE
}

TEST_CASE("calls are read from the registers where the kernel does not report them") {
  Process tracer({TRACEE, "poorly", EVENT_LOG, "-m", "-f", TRACEE, "vfork_exec"});
  const auto lines = tracer.rest();
  CHECK(tracer.wait() == 0);
  check_order(lines);
  CHECK(find_line(lines, "hello"));
  CHECK(count_lines(lines, "exited 0") == 2);
  CHECK(count_lines(lines, std::string("text ") + TRACEE) == 1);  // the first execve's path, read word by word
  CHECK(count_lines(lines, "error") > 0);                         // access("/etc/ld.so.preload")
}

#if defined(__x86_64__)
TEST_CASE("a 32-bit call from 64-bit code is reported as such") {
  const auto lines = traced({}, {TRACEE, "int80"});
  CHECK(find_line(lines, "same"));
  CHECK(count_lines(lines, "enter i386 64") == 1);
  CHECK(count_lines(lines, "exit i386") == 1);
}
#endif

TEST_CASE("job control works as without a tracer") {
  Process tracer({EVENT_LOG, TRACEE, "stop_self"});
  const auto first = tracer.line();
  REQUIRE(first);
  const pid_t tracee = std::atoi(first->c_str());
  REQUIRE(tracee > 0);
  const auto before = tracer.up_to("group-stop 19");
  REQUIRE(find_line(before, "group-stop 19"));
  // It stays so until somebody lets it go on.
  pause_briefly(std::chrono::milliseconds(100));
  CHECK(status_field(tracee, "State").substr(0, 1) != "R");
  ::kill(tracee, SIGCONT);
  const auto lines = tracer.rest();
  CHECK(find_line(lines, "continued"));
  CHECK(count_lines(lines, "group-stop 19") == 0);
  CHECK(count_lines(before, "signal 19 code -6") == 1);  // SI_TKILL
  CHECK(count_lines(lines, "signal 18 code 0") == 1);
  CHECK(lines.back() == "# status 0");
}

TEST_CASE("a tracee killed at any moment leaves the tracer no riddle") {
  for (int round = 0; round < rounds(20); ++round) {
    Process tracer({EVENT_LOG, "-f", TRACEE, "threads", "8"});
    const auto first = tracer.line();
    REQUIRE(first);
    const pid_t tracee = std::atoi(first->c_str());
    REQUIRE(tracee > 0);
    pause_briefly(std::chrono::microseconds(round * 400));
    ::kill(tracee, SIGKILL);
    auto lines = tracer.rest();
    CHECK(tracer.wait() == 0);
    REQUIRE_FALSE(lines.empty());
    CHECK(lines.back() == "# status 0x9");
    lines.insert(lines.begin(), *first);
    check_order(lines);
  }
}

}  // namespace
}  // namespace tracer::live
