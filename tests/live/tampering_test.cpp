// -e inject= and -e fault= against live processes: what the tracee gets, and what the tracer says about it.
#include <sys/wait.h>

#include <chrono>

#include "catch.h"
#include "process.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// Through PTRACE_SET_SYSCALL_INFO, where the kernel has it, and through registers.
const std::vector<std::string> ways = {"$T", TRACEE " poorly " TRACER};

}  // namespace

TEST_CASE("a fault reaches the program and does not run the call") {
  for (const std::string& tracer : ways) {
    const Ran ran = run(tracer + " -e trace=write -e fault=write:error=EIO:when=1 sh -c 'echo one || echo two'");
    CHECK(ran.has("write(1, \"one\\n\", 4)                    = -1 EIO (Input/output error) (INJECTED)"));
    CHECK_FALSE(ran.has("one"));
    CHECK(ran.mentions("write(1, \"two\\n\", 4"));
  }
}

TEST_CASE("a result is believed") {
  for (const std::string& tracer : ways) {
    const Ran ran = run(tracer + " -e trace=chdir -e inject=chdir:retval=0 sh -c 'cd /nonexistent && echo there'");
    CHECK(ran.has("chdir(\"/nonexistent\")                   = 0 (INJECTED)"));
    CHECK(ran.has("there"));
  }
}

TEST_CASE("a pure call can run instead, and what it returns is lost") {
  for (const std::string& tracer : ways) {
    const Ran ran = run(tracer + " -e trace=chdir -e inject=chdir:syscall=getpid:error=EBUSY sh -c 'cd /'");
    CHECK(ran.mentions("= -1 EBUSY (Device or resource busy) (INJECTED)"));
    CHECK(WEXITSTATUS(ran.status) == 2);
  }
}

TEST_CASE("arguments are changed in memory, read-only or not") {
  const Ran ran = run("$T -e trace=chdir -e inject=chdir:poke_enter=@arg1=2f00 sh -c 'cd /nonexistent && echo there'");
  CHECK(ran.has("chdir(\"/\")                              = 0 (INJECTED: args)"));
  CHECK(ran.has("there"));
}

TEST_CASE("a poke that fails is reported once, also for a call that never returns") {
  const Ran ran =
      run("$T -o /dev/null -e trace=umask,exit_group -e inject=umask:poke_enter=@arg1=2f00:when=1 "
          "-e inject=exit_group:poke_enter=@arg1=2f00 "
          "sh -c 'umask 33; exit 3' 2>&1 | sed -n 's/.*Failed to tamper.*: /failed: /p' | sort | uniq -c");
  CHECK(ran.mentions(" 2 failed: couldn't poke"));
}

TEST_CASE("a poke that fails is reported before the end of its call") {
  const Ran ran = run("$T -e trace=umask -e inject=umask:poke_exit=@arg1=00:when=1 sh -c 'umask 33'");
  REQUIRE(ran.lines.size() > 1);
  CHECK(ran.lines[0].find(": poke_tcb: Failed to tamper with process ") != std::string::npos);
  CHECK(ran.lines[1].rfind(") ", 0) == 0);
}

TEST_CASE("an argument that a call does not have cannot be changed") {
  const Ran ran = run("$T -e trace=chdir -e inject=chdir:poke_enter=@arg6=00 sh -c 'cd /'");
  CHECK(ran.mentions(": requested to tamper with argument #6, but system call 'chdir' has only 1 arguments"));
}

TEST_CASE("an argument to change at the exit that a call does not have is reported when the call has begun") {
  const Ran ran = run("$T -e trace=chdir -e inject=chdir:poke_exit=@arg2=00 sh -c 'cd /'");
  REQUIRE(ran.lines.size() > 1);
  CHECK(ran.lines[0].rfind("chdir(\"/\"", 0) == 0);
  CHECK(ran.lines[0].find(": requested to tamper with argument #2, but system call 'chdir' has only 1 arguments") !=
        std::string::npos);
  CHECK(ran.lines[1].rfind(") ", 0) == 0);
}

TEST_CASE("a signal interrupts a call that blocks") {
  // Where pause is no call of its own, the C library makes it of ppoll.
  const std::string pausing = "'/^(pause|ppoll)$";
  // Whether a filter was possible or not.
  for (const std::string options : {"", "-f --seccomp-bpf "}) {
    const Ran ran =
        run("$T " + options + "-e trace=" + pausing + "' -e inject=" + pausing + ":signal=TERM' " TRACEE " sleeper");
    CHECK(ran.mentions(" = ? ERESTARTNOHAND (To be restarted if no handler)"));
    CHECK(ran.has("--- SIGTERM {si_signo=SIGTERM, si_code=SI_KERNEL} ---"));
    CHECK(ran.has("+++ killed by SIGTERM +++"));
  }
}

TEST_CASE("a delayed thread holds back nobody else, and can be killed") {
  const Folder folder;
  const std::string log = folder.file("log");
  // Two are held back, one after the other, and nobody waits for them: that would be longer than our patience.
  const Ran ran =
      run("$T -f -e trace=chdir -e inject=chdir:delay_enter=60s sh -c 'held() { (cd /) & "
          "until [ $(grep -c chdir " +
          log +
          ") = $1 ]; do sleep 0.02; done; }; "
          "held 1; first=$!; held 2; echo others go on; kill -9 $first $!; wait' 2>" +
          log);
  CHECK(ran.has("others go on"));
  const std::string text = contents(log);
  CHECK(text.find("(DELAYED)") == std::string::npos);
  CHECK(text.find("+++ killed by SIGKILL +++") != text.rfind("+++ killed by SIGKILL +++"));
}

TEST_CASE("a delayed thread goes on when its time is over") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(run("$T -e trace=chdir -e inject=chdir:delay_enter=200ms sh -c 'cd /'").mentions("(DELAYED)"));
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(200));
}

TEST_CASE("an injected call has its result even if tracing ends meanwhile") {
  // The shell says so after the tracer has gone: both write to the same pipe.
  const Folder folder;
  const std::string out = folder.file("out");
  Process tracer({TRACER, "-o", out, "-I2", "-e", "trace=chdir", "-e", "inject=chdir:error=EBUSY:delay_enter=60s",
                  "/bin/sh", "-c", "trap : TERM; echo ready; cd / && echo came || echo failed"},
                 true);
  REQUIRE(tracer.reaches("ready"));
  REQUIRE(becomes_true([&] { return contents(out).find("chdir(") != std::string::npos; }));
  tracer.signal(SIGTERM);
  bool busy = false;
  for (auto line = tracer.line(); line; line = tracer.line()) {
    busy = busy || *line == "failed";
  }
  CHECK(busy);
}

TEST_CASE("the launching execve is not tampered with") {
  const Ran ran = run("$T -f -e trace=execve -e fault=execve:error=EACCES:when=1 sh -c '/bin/true; exit 4'");
  CHECK(ran.mentions("= -1 EACCES (Permission denied) (INJECTED)"));
  CHECK(WEXITSTATUS(ran.status) == 4);
}

TEST_CASE("filtered calls are tampered with, others are not") {
  const Ran ran = run("$T -f --seccomp-bpf -e trace=chdir -e inject=chdir,write:error=EIO sh -c 'cd / || echo no'");
  CHECK(ran.has("chdir(\"/\")                              = -1 EIO (Input/output error) (INJECTED)"));
  CHECK(ran.has("no"));
}

}  // namespace tracer::live
