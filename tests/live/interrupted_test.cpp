// A signal that ends the tracer while it runs a program.
#include <signal.h>
#include <sys/wait.h>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// Prints which signals come, until it has had SIGCONT and one of those that end a tracer, in whatever order, or a
/// minute is over.
const char* const listener =
    "for s in HUP INT QUIT PIPE TERM; do trap \"end=$s\" $s; done; trap 'woken=1; echo woken' CONT;"
    "echo ready; i=0; while [ -z $end ] || [ -z $woken ]; do sleep 0.01; i=$((i+1)); [ $i -lt 6000 ] || exit; done;"
    "echo ended by $end";

/// `signal` comes to the tracer alone. How that ends; the program's output can be read on.
std::optional<int> end_of(Process& tracer, int signal) {
  REQUIRE(tracer.reaches("ready"));
  tracer.signal(signal);
  return tracer.wait();
}

}  // namespace

TEST_CASE("a signal that ends the tracer ends the program that it runs, too, as with strace") {
  // Every call, a filter, counted with and without stops.
  for (const std::string options :
       {"", "-f", "-f -e execve", "-c", "-c --engine=ptrace", "-I never_tstp -I waiting -o /dev/null"}) {
    INFO(options);
    Process tracer(
        {"/bin/sh", "-c", "exec env --default-signal \"$0\" " + options + " sh -c \"$1\"", TRACER, listener});
    const auto status = end_of(tracer, SIGTERM);
    CHECK((status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGTERM));
    const auto lines = tracer.rest();
    CHECK(find_line(lines, "woken"));
    CHECK(find_line(lines, "ended by TERM"));
  }
  for (const auto& [signal, name] : {std::pair{SIGHUP, "HUP"}, {SIGINT, "INT"}, {SIGQUIT, "QUIT"}, {SIGPIPE, "PIPE"}}) {
    INFO(name);
    // The shell could not trap what it finds ignored.
    Process tracer({"/usr/bin/env", "--default-signal", TRACER, "sh", "-c", listener});
    CHECK(end_of(tracer, signal));
    CHECK(tracer.reaches(std::string("ended by ") + name));
  }
}

TEST_CASE("a signal that was blocked when the tracer started does not end it, as with strace") {
  for (const std::string options : {"", "-f -e execve", "-c", "-c --engine=ptrace"}) {
    INFO(options);
    const Ran ran = run("exec env --default-signal --block-signal=TERM $T " + options +
                        " sh -c 'kill -TERM $PPID; sleep 0.2; exit 3'");
    CHECK((WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 3));
  }
}

TEST_CASE("a program goes on when its tracer is interrupted as ltrace, at once, or asked what it hangs on") {
  const std::string brief = "trap 'echo woken' CONT; trap 'echo ended' TERM; echo ready; read go; echo went on";
  for (const std::string how : {"-a ltrace \"$0\" -S -o /dev/null", "\"$0\" -I1", "\"$0\" --explain"}) {
    INFO(how);
    Process tracer(
        {"/usr/bin/env", "--default-signal", "/bin/bash", "-c", "exec " + how + " sh -c \"$1\"", TRACER, brief});
    const auto status = end_of(tracer, SIGTERM);
    CHECK((how.find("ltrace") == std::string::npos ? (status && WIFSIGNALED(*status)) : status == 0));
    tracer.say("");
    CHECK(tracer.rest() == std::vector<std::string>{"went on"});
  }
}

TEST_CASE("with -I4 the terminal does not stop the tracer, whichever calls are wanted") {
  for (const std::string calls : {"all", "none"}) {
    INFO(calls);
    Process tracer(
        {TRACER, "-I4", "-o", "/dev/null", "-e", "trace=" + calls, "sh", "-c", "echo ready; read go; exit 3"});
    REQUIRE(tracer.reaches("ready"));
    tracer.signal(SIGTSTP);
    tracer.say("");
    const auto status = tracer.wait();
    CHECK((status && WIFEXITED(*status) && WEXITSTATUS(*status) == 3));
  }
}

}  // namespace tracer::live
