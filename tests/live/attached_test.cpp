// What a user sees of processes that were running before.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <filesystem>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// Whether the first thread is blocked in the call of this number.
bool is_in_call(pid_t pid, long number) {
  return contents("/proc/" + std::to_string(pid) + "/syscall").rfind(std::to_string(number) + " ", 0) == 0;
}

/// A thread that is not the first.
std::string other_thread(pid_t pid) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    if (task.path().filename() != std::to_string(pid)) {
      return task.path().filename();
    }
  }
  return {};
}

}  // namespace

TEST_CASE("a call that attaching interrupts is shown as it is resumed") {
  const Folder folder;
  const std::string out = folder.file("out");
  const std::string resumed = "restart_syscall(<... resuming interrupted clock_nanosleep ...>";
  Process sleeper({"/bin/sleep", "60"});
  REQUIRE(becomes_true([&] { return is_in_call(sleeper.pid(), SYS_clock_nanosleep); }));
  Process tracer_process({TRACER, "-o", out, "-p", std::to_string(sleeper.pid())}, true);
  CHECK(becomes_true([&] { return contents(out) == resumed; }));
  tracer_process.signal(SIGINT);
  CHECK(tracer_process.wait());
  CHECK(contents(out) == resumed + " <detached ...>\n");
}

TEST_CASE("a tracer whose caller blocks SIGALRM writes and ends as any other") {
  const Folder folder;
  const std::string out = folder.file("out");
  Process sleeper({"/bin/sleep", "60"});
  REQUIRE(becomes_true([&] { return is_in_call(sleeper.pid(), SYS_clock_nanosleep); }));
  Process tracer_process(
      {"/usr/bin/env", "--block-signal=ALRM", TRACER, "-o", out, "-p", std::to_string(sleeper.pid())}, true);
  CHECK(becomes_true([&] { return contents(out).rfind("restart_syscall(", 0) == 0; }));
  tracer_process.signal(SIGINT);
  CHECK(tracer_process.wait());
  CHECK(runs_untraced(sleeper.pid()));
}

TEST_CASE("with -f a thread stands for its process, without for itself") {
  Process busy({TRACEE, "threads", "3"});
  REQUIRE(busy.line() == "ready");
  const std::string thread = other_thread(busy.pid());
  for (const std::string option : {"-f", "-x"}) {
    Process tracer_process({TRACER, option, "-o", "/dev/null", "-p", thread}, true);
    const std::string said = TRACER ": Process " + thread + " attached";
    CHECK(tracer_process.line() == (option == "-f" ? said + " with 3 threads" : said));
    tracer_process.signal(SIGINT);
    CHECK(tracer_process.wait());
    CHECK(runs_untraced(busy.pid()));
  }
}

TEST_CASE("a tracer that shall attach to itself attaches to nobody") {
  Process sleeper({TRACEE, "sleeper"});
  REQUIRE(sleeper.line() == "ready");
  const Ran ran = run("exec $T -p " + std::to_string(sleeper.pid()) + ",$$");
  CHECK(WEXITSTATUS(ran.status) == 1);
  REQUIRE(ran.lines.size() == 1);
  CHECK(ran.mentions(" is this tracer, which cannot trace itself"));
}

TEST_CASE("with -I1 a signal ends a tracer that is stuck in writing, and the process goes on") {
  Process busy({TRACEE, "threads", "2"});
  REQUIRE(busy.line() == "ready");
  Process tracer_process({TRACER, "-I1", "-f", "-p", std::to_string(busy.pid())}, true);
  // Nobody reads what it writes.
  REQUIRE(becomes_true([&] {
    return is_in_call(tracer_process.pid(), SYS_write) &&
           status_field(tracer_process.pid(), "State").rfind("S", 0) == 0;
  }));
  tracer_process.signal(SIGTERM);
  const auto status = tracer_process.wait();
  REQUIRE(status);
  CHECK(WIFSIGNALED(*status));
  CHECK(WTERMSIG(*status) == SIGTERM);
  CHECK(becomes_true([&] { return runs_untraced(busy.pid()); }));
  busy.say("?");
  CHECK(busy.line() == "alive");
}

}  // namespace tracer::live
