// A traced program finds itself as it would be without a tracer, and no process of ours is left when it ends.
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "catch.h"
#include "program_run.h"

namespace tracer::live {

namespace {

/// A script that prints what a process inherits and what a tracer could leave behind in it. The commands look at
/// themselves: the shell's own signal mask changes while it starts them. In status, the memory's sizes and the counts
/// of switches come and go; Tgid and the like name the process; a filter shows as Seccomp.
const char* const self_portrait =
    "umask; ulimit -a; nice; pwd; env | sort; ls /proc/self/fd; "
    "grep -E '^(Umask|Uid|Gid|Groups|SigBlk|SigIgn|SigCgt|Cap|NoNewPrivs|Cpus_allowed|Mems_allowed|Threads)' "
    "/proc/self/status; "
    "cut -d' ' -f5-8,18,19,40,41 /proc/self/stat; cat /proc/self/oom_score_adj /proc/self/personality "
    "/proc/self/coredump_filter /proc/self/cgroup";

std::vector<std::string> status_lines(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.find("ctxt_switches") == std::string::npos && line.rfind("Vm", 0) != 0 && line.rfind("Rss", 0) != 0 &&
        line.rfind("SigQ", 0) != 0) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("a traced program finds itself as if it were not traced") {
  const Folder folder;
  std::ofstream(folder.file("portrait")) << self_portrait;
  const std::string here = "cd " + folder.path().string() + "; ";
  for (const std::string surroundings :
       {"", "ulimit -n 100; umask 027; trap '' USR1 CHLD; exec 7</dev/null; nice -n 3 "}) {
    const std::string place = here + surroundings;
    const std::string tail = "sh portrait";
    const Ran untraced = run(place + " env " + tail);
    REQUIRE(untraced.lines.size() > 40);
    for (const std::string options :
         {"", "-f ", "-ff ", "-e trace=openat ", "--seccomp-bpf -e trace=openat ", "-f -e trace=openat ", "-c ", "-D ",
          "-f --format=json ", "-f -e inject=getpid:retval=1:when=60000 ", "-I4 ", "-d "}) {
      INFO(surroundings << options);
      CHECK(run(place + " $T -o out " + options + tail + " 2>/dev/null").lines == untraced.lines);
    }
    CHECK(run(place + " $T -o '|cat >out' -f " + tail).lines == untraced.lines);
  }
}

TEST_CASE("attaching to a process and detaching from it leaves it as it was") {
  Process sleeper({"/bin/cat"});
  REQUIRE(becomes_true([&] { return status_field(sleeper.pid(), "State").rfind("S", 0) == 0; }));
  sleeper.say("hello");
  REQUIRE(sleeper.line() == "hello");
  REQUIRE(becomes_true([&] { return status_field(sleeper.pid(), "State").rfind("S", 0) == 0; }));
  const auto before = status_lines(sleeper.pid());
  for (const std::string options : {"-f", "-e trace=openat"}) {
    Process tracer_process(
        {"/bin/sh", "-c", "exec " TRACER " -o /dev/null " + options + " -qqq -d -p " + std::to_string(sleeper.pid())},
        true);
    REQUIRE(becomes_true([&] { return status_field(sleeper.pid(), "TracerPid") != "0"; }));
    tracer_process.signal(SIGINT);
    CHECK(tracer_process.wait());
    REQUIRE(becomes_true([&] { return status_field(sleeper.pid(), "State").rfind("S", 0) == 0; }));
    CHECK(status_lines(sleeper.pid()) == before);
  }
}

TEST_CASE("no process of ours is left, and no child for the shell to collect") {
  for (const std::string options :
       {"-o /dev/null ", "-f -o /dev/null ", "--seccomp-bpf -e trace=openat -o /dev/null ", "-c ", "-d ",
        "-o '|cat >/dev/null' ", "-f -e trace=openat -o '|cat >/dev/null' "}) {
    INFO(options);
    // A subreaper would be given what is left of the tracer's; the shell's own children are listed by the kernel.
    // The list is taken while no other process starts: one in the middle of its execve has a name, but no arguments.
    const Ran ran = run(
        "setsid -w sh -c '" + std::string("\"$0\" ") + "\"$@\" >/dev/null 2>&1; " + "left=$(ps -s $$ -o pid=,args=); " +
        "echo \"$left\" | grep -v -e \"^ *$$ \" -e \"ps -s\"' $T " + options + "sh -c 'true; /bin/true'");
    CHECK(ran.lines.empty());
  }
}

}  // namespace tracer::live
