// Programs that make it hard to trace them come to the same end as untraced.
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

int status_of(const std::string& options, const std::string& what) {
  const Ran ran = run("exec $T -o /dev/null " + options + " " HARD_TO_TRACE " " + what);
  CAPTURE(options, what, ran.lines);
  CHECK(WIFEXITED(ran.status));
  return WEXITSTATUS(ran.status);
}

}  // namespace

#if defined(__x86_64__)
TEST_CASE("after a call of another ABI, the next one shows the ABI again though the filter lets it pass") {
  const Ran ran = run("$T -f -e trace=getppid@32 " TRACEE " int80");
  CHECK(ran.mentions("runs in 32 bit mode. ]"));
  CHECK(ran.mentions("runs in 64 bit mode. ]"));
}
#endif

TEST_CASE("of many that always have something to report, none is kept from its turn") {
  CHECK(status_of("-f", "crowding") == 40);
  CHECK(status_of("-f -e trace=getppid", "crowding") == 40);
  CHECK(status_of("-f -e trace=none -e library=getppid", "crowding") == 40);
}

TEST_CASE("calls for which a program's own filter has a tracer asked fail as they do without one") {
  CHECK(status_of("", "asking") == 41);
  CHECK(status_of("-f -e trace=getppid", "asking") == 41);
  CHECK(run("exec $T -a1 -f -e trace=getppid " HARD_TO_TRACE " asking")
            .mentions("getppid() = -1 ENOSYS (Function not implemented)"));
}

TEST_CASE("without -f, a thread that is not traced executes another program, and how that ends is reported") {
  const Ran ran = run("exec $T -e trace=none " HARD_TO_TRACE " executing");
  CHECK(WEXITSTATUS(ran.status) == 42);
  CHECK(ran.lines == std::vector<std::string>{"+++ exited with 42 +++"});
}

TEST_CASE("without -f, a child that is born with its parent's tracer is let go") {
  const std::string strace = "ln -sf $T strace; exec ./strace -e trace=none -e signal=none ";
  const auto lines_with = [&](const std::string& options) {
    const Folder folder;
    return run("cd " + folder.path().string() + "; " + strace + options + " " HARD_TO_TRACE " ptraced").lines;
  };
  const auto lines = lines_with("");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].rfind("./strace: Detached unknown pid ", 0) == 0);
  CHECK(lines[1] == "+++ exited with 44 +++");
  CHECK(lines_with("-q") == std::vector<std::string>{"+++ exited with 44 +++"});
}

TEST_CASE("a child that is born with its parent's tracer, and that no event reports, goes on") {
  for (const std::string options : {"", "-f", "-f -e trace=getppid", "-e library=getppid", "-f -e library=getppid"}) {
    CHECK(status_of(options, "unreported") == 44);
  }
  CHECK(run("exec $T -a1 -f -e trace=exit " HARD_TO_TRACE " unreported").mentions("+++ exited with 44 +++"));
}

TEST_CASE("a child that must not be traced does not die of its parent's breakpoints") {
  CHECK(status_of("-e library=getppid", "untraced") == 43);
  CHECK(status_of("-f -e library=getppid", "untraced") == 43);
}

TEST_CASE("a program that its execve kills, as its file is too short, ends by that signal") {
  const Folder folder;
  // The header is a program's; what is to be mapped is beyond the end, which the kernel finds out too late.
  const std::string cut =
      "cd " + folder.path().string() + "; ln -sf $T strace; cp " HARD_TO_TRACE " cut; truncate -s 1000 cut; ";
  const int signal = WTERMSIG(run(cut + "exec ./cut").status);  // not the same on all machines
  REQUIRE(signal != 0);
  for (const std::string tracer : {"exec $T", "exec $T -f -e trace=openat", "exec ./strace"}) {
    CAPTURE(tracer);
    const Ran ran = run(cut + tracer + " -a1 ./cut");
    CHECK(WTERMSIG(ran.status) == signal);
    CHECK(ran.lines.back() == std::string("+++ killed by SIG") + ::sigabbrev_np(signal) + " +++");
  }
}

}  // namespace tracer::live
