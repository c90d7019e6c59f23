// What a user sees when something is wrong: under our own name a cause and a remedy, under the name strace its words.
#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// A shell command in a directory of its own, where ./strace is the tracer.
Ran run_strict(const Folder& folder, const std::string& command) {
  return run("cd " + folder.path().string() + "; ln -sf $T strace; " + command);
}

}  // namespace

TEST_CASE("what cannot be executed is named with a remedy") {
  const Folder folder;
  const std::string prepare = "cd " + folder.path().string() + "; : > plain; printf '\\001' > odd; chmod +x odd; ";
  Ran ran = run(prepare + "exec $T ./plain");
  CHECK(WEXITSTATUS(ran.status) == 126);
  CHECK(ran.mentions("execve(\"./plain\""));
  CHECK(ran.has(TRACER ": exec: Permission denied: it is not marked as executable; chmod +x would do that"));
  ran = run(prepare + "exec $T ./odd");
  CHECK(WEXITSTATUS(ran.status) == 126);
  CHECK(ran.mentions("start a script with its interpreter, as in sh ./odd"));
  ran = run(prepare + "printf '#!/nonexistent\\n' > script; chmod +x script; exec $T ./script");
  CHECK(WEXITSTATUS(ran.status) == 127);
  CHECK(ran.mentions("the interpreter that it names is not"));
  ran = run(prepare + "exec $T odd");
  CHECK(WEXITSTATUS(ran.status) == 127);
  CHECK(ran.lines == std::vector<std::string>{
                         TRACER ": Cannot find executable 'odd': it is not in PATH, but in this directory: ./odd"});
}

TEST_CASE("under the name strace the words are its own") {
  const Folder folder;
  const Ran ran = run_strict(folder, ": > e; chmod +x e; exec ./strace -e trace=none ./e");
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.lines == std::vector<std::string>{"./strace: exec: Exec format error", "+++ exited with 1 +++"});
  CHECK(run_strict(folder, "./strace nonexistent").lines ==
        std::vector<std::string>{"./strace: Cannot find executable 'nonexistent'"});
  CHECK(run_strict(folder, "./strace ./nonexistent").lines ==
        std::vector<std::string>{"./strace: Cannot stat './nonexistent': No such file or directory"});
  CHECK(run_strict(folder, "./strace $(head -c 4096 /dev/zero | tr '\\0' a)").lines ==
        std::vector<std::string>{"./strace: exec: File name too long"});
  // An empty part of PATH is this directory, but not at its end.
  CHECK(run_strict(folder, "PATH=:/nonexistent ./strace -e execve strace -V").mentions("execve(\"/"));
  CHECK(run_strict(folder, "PATH=/nonexistent: ./strace strace").lines ==
        std::vector<std::string>{"./strace: Cannot find executable 'strace'"});
  CHECK(run_strict(folder, "./strace -p 2147483647").lines ==
        std::vector<std::string>{"./strace: attach: ptrace(PTRACE_SEIZE, 2147483647): No such process"});
}

TEST_CASE("those of several processes that cannot be attached to are reported in order") {
  const Folder folder;
  Process sleeper({"/bin/cat"});
  const std::string pid = std::to_string(sleeper.pid());
  Process tracer_process({TRACER, "-p", pid, "-p", "2147483647"}, true);
  CHECK(tracer_process.line() == TRACER ": Process " + pid + " attached");
  CHECK(tracer_process.line() == TRACER ": attach: ptrace(PTRACE_SEIZE, 2147483647): No such process");
}

TEST_CASE("who traces a process already is named") {
  Process sleeper({"/bin/cat"});
  const std::string pid = std::to_string(sleeper.pid());
  Process first({TRACER, "-p", pid}, true);
  REQUIRE(first.reaches(TRACER ": Process " + pid + " attached"));
  const Ran ran = run("exec $T -p " + pid);
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.mentions("process " + std::to_string(first.pid()) + " (tracer) is tracing it"));
}

TEST_CASE("under the name strace a second sentence says who traces a process already") {
  const Folder folder;
  Process sleeper({"/bin/cat"});
  const std::string pid = std::to_string(sleeper.pid());
  Process first({TRACER, "-p", pid}, true);
  REQUIRE(first.reaches(TRACER ": Process " + pid + " attached"));
  CHECK(run_strict(folder, "exec ./strace -p " + pid).lines ==
        std::vector<std::string>{
            "./strace: attach: ptrace(PTRACE_SEIZE, " + pid + "): Operation not permitted",
            "./strace: Process " + pid + " is already being traced by pid " + std::to_string(first.pid())});
}

TEST_CASE("under the name strace a process that is named twice is traced once, and that is said") {
  const Folder folder;
  Process sleeper({"/bin/sleep", "1"});
  const std::string pid = std::to_string(sleeper.pid());
  const Ran ran = run_strict(folder, "exec ./strace -e trace=none -p '" + pid + ", ," + pid + "'");
  CHECK(ran.mentions("./strace: Process " + pid + " attached"));
  CHECK(ran.mentions("./strace: Process " + pid + " is already being traced by pid "));
}

TEST_CASE("the end of a child that is no tracee is reported unless exits are quiet") {
  const Folder folder;
  const std::string killed = "(sleep 0.1; exec sh -c 'kill -9 $$') & exec ./strace -e trace=none ";
  CHECK(run_strict(folder, killed + "sleep 0.5").mentions("./strace: Termination of unknown pid "));
  CHECK(run_strict(folder, killed + "--quiet=exit sleep 0.5").lines.empty());
  const std::string ended = "sleep 0.1 & exec ./strace -e trace=none ";
  CHECK(run_strict(folder, ended + "sleep 0.5").mentions("./strace: Exit of unknown pid "));
  CHECK(run_strict(folder, ended + "-f sleep 0.5").mentions("./strace: Exit of unknown pid "));
}

TEST_CASE("with --kill-on-exit the program does not outlive an interrupted tracer") {
  const Folder folder;
  for (const std::string options : {"-D -I2", "-D -I2 -f -e trace=chdir"}) {
    CAPTURE(options);
    const Ran ran = run_strict(folder, "./strace --kill-on-exit -o out " + options +
                                           " sh -c ': > begun; exec sleep 20' & until [ -e begun ]; do sleep 0.02; "
                                           "done; rm begun; kill -TERM $(sed -n s/^TracerPid:.//p /proc/$!/status); "
                                           "wait $!; echo $?");
    CHECK(ran.has("137"));
  }
}

TEST_CASE("a limit of calls ends tracing where they are only counted, too, and says so") {
  const Folder folder;
  const std::string program = " -U calls,name -e trace=chdir sh -c 'cd /; cd /; exit 4'";
  for (const std::string mode : {"-c", "-C"}) {
    CAPTURE(mode);
    const Ran ran = run_strict(folder, "exec ./strace --syscall-limit=1 " + mode + program);
    CHECK(ran.has("./strace: System call limit has been reached, detaching tracees"));
    CHECK(ran.has("        1 chdir"));
  }
  CHECK_FALSE(run_strict(folder, "exec ./strace -q --syscall-limit=1" + program).mentions("limit"));
}

TEST_CASE("a table counts only the calls that end as is asked for") {
  const Folder folder;
  for (const std::string mode : {"-c -Z", "-C -e status=failed"}) {
    CAPTURE(mode);
    const Ran ran =
        run_strict(folder, "exec ./strace " + mode + " -U calls,errors,name -e chdir sh -c 'cd /; cd /nonexistent'");
    CHECK(ran.has("        1         1 chdir"));
  }
}

TEST_CASE("a zombie is reported as one") {
  Process ended({"/bin/true"});
  REQUIRE(becomes_true([&] { return status_field(ended.pid(), "State").rfind("Z", 0) == 0; }));
  const Ran ran = run("exec $T -p " + std::to_string(ended.pid()));
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.mentions("the process has ended already and waits for its parent"));
}

TEST_CASE("a process whose first thread has ended is traced by another one") {
  Process headless({TRACEE, "headless"});
  REQUIRE(headless.line() == "ready");
  REQUIRE(becomes_true([&] { return status_field(headless.pid(), "State").rfind("Z", 0) == 0; }));
  const Ran ran = run("exec $T -p " + std::to_string(headless.pid()));
  CHECK(WEXITSTATUS(ran.status) == 1);
  CHECK(ran.mentions("the process' first thread has ended, but not thread "));
}

TEST_CASE("option -u is for root, also where the user is unknown") {
  const std::string as_nobody = "cd /; exec setpriv --reuid=65534 --clear-groups ";
  if (::geteuid() == 0 && ::access(TRACER, X_OK) == 0 && WEXITSTATUS(run(as_nobody + TRACER " -V").status) == 0) {
    const Ran ran = run(as_nobody + TRACER " -u nonexistent true");
    CHECK(WEXITSTATUS(ran.status) == 1);
    CHECK(ran.lines == std::vector<std::string>{TRACER ": You must be root to use the -u/--username option"});
  }
}

TEST_CASE("option -u gives a program the groups of the user, and with ids none") {
  if (::geteuid() == 0) {
    const std::string with_groups = "exec setpriv --groups 4,5 $T -e trace=none -qq ";
    CHECK(run(with_groups + "--user=65534:65533 id -G").lines == std::vector<std::string>{"65533"});
    CHECK(run(with_groups + "-u root id -G").lines == run("id -G root").lines);
  }
}

TEST_CASE("the command that reads the output is waited for, whichever calls are wanted") {
  CHECK(run("$T -o '|sleep 0.3; cat' -e trace=exit_group true; echo end").lines ==
        std::vector<std::string>{"exit_group(0)                           = ?", "+++ exited with 0 +++", "end"});
}

TEST_CASE("a reader of our errors that goes away does not change how the program ends") {
  const Folder folder;
  const std::string out = folder.file("out");
  run("(exec 3>" + out + "; $T -o '|exec true' sh -c 'sleep 0.2; echo hi >&3; exit 3'; echo $? >&3) 2>&1 | true");
  CHECK(contents(out) == "hi\n3\n");
}

TEST_CASE("closed standard streams do no harm") {
  const Folder folder;
  const std::string out = folder.file("out");
  const Ran ran = run("$T -o " + out + " -e trace=exit_group sh -c 'exit 3' <&- >&- 2>&-; echo $?");
  CHECK(ran.lines == std::vector<std::string>{"3"});
  CHECK(contents(out) == "exit_group(3)                           = ?\n+++ exited with 3 +++\n");
}

TEST_CASE("a launched program that ignores the signal outlives a tracer that is ended by it") {
  const Folder folder;
  const Ran ran =
      run_strict(folder,
                 "until_there() { until [ -e $1 ]; do sleep 0.02; done; }; trap '' CHLD; "
                 "( ./strace -e trace=none sh -c 'trap : TERM; : > begun; until [ -e go ]; do sleep 0.02; done; "
                 "echo done > out' & until_there begun; kill -TERM $!; wait $!; echo $?; : > go )");
  CHECK(ran.mentions("detached"));
  CHECK(ran.has("143"));
  CHECK(becomes_true([&] { return contents(folder.file("out")) == "done\n"; }));
}

TEST_CASE("with -D the program stays the shell's own child") {
  const Folder folder;
  const Ran ran = run("$T -D -o " + folder.file("out") + " sh -c 'echo $PPID; exit 5'; echo $? $$");
  REQUIRE(ran.lines.size() == 2);
  CHECK(ran.lines[1] == "5 " + ran.lines[0]);
  CHECK(run("$T -D -e trace=none true; sleep 0.3").mentions(" attached"));
}

TEST_CASE("names that no function or probe has are reported at the end") {
  const std::string told = TRACER
      ": no function or probe that is asked for is in the program or its libraries; --list-probes=PROG lists what "
      "there is";
  const auto said = [](const std::string& names) {
    const auto lines = run("exec $T -e trace=none -e " + names + " true").lines;
    return std::vector<std::string>(lines.begin() + 1, lines.end());
  };
  CHECK(said("usdt=nosuch:*") == std::vector<std::string>{told});
  const std::string prefix = std::string(TRACER) + ": ";
  CHECK(said("symbol=malocc") ==
        std::vector<std::string>{told, prefix + "no function is called 'malocc'; did you mean malloc?"});
  CHECK(said("library=nosuch") == std::vector<std::string>{told, prefix + "no module calls 'nosuch'"});
  CHECK(said("symbol=x@libcc.so.6") ==
        std::vector<std::string>{told, prefix + "no library is called 'libcc.so.6'; did you mean libc.so.6?"});
  CHECK(said("symbol=x@libnone-8") ==
        std::vector<std::string>{told, prefix + "no library is called 'libnone'; '-8' was read as \"minus 8\": "
                                                "'libnone?8' is the name with it"});
  CHECK_FALSE(run("exec $T -e trace=none -e symbol=malloc@libc.so.6 true").mentions(told));
  // There was no program to look at.
  CHECK_FALSE(run("exec $T -e trace=none -e symbol=nosuch /nowhere").mentions(told));
}

TEST_CASE("what has no form is refused in one line") {
  CHECK(run("$T --format=json -C true").mentions("--format=json has no form for the tables of"));
}

}  // namespace tracer::live
