// -c by BPF: the same counts as ptrace and strace have, without stopping anybody, and nothing left behind.
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "catch.h"
#include "skip.h"

#include "bpf_works.h"
#include "process.h"

namespace tracer::live {

namespace {

const std::string counts = " -q -c -U calls,errors,name -S name ";

/// What `tool` counts of a command, without the times, and how it ended. Where a library is to be mapped at an address
/// that suits it, what has to be unmapped again depends on chance.
std::vector<std::string> count(const std::string& tool, const std::string& command) {
  const Folder folder;
  const std::string out = folder.file("out");
  const Ran ran = run("exec setarch -R " + tool + counts + "-o " + out + " " + command + " >/dev/null 2>&1");
  std::vector<std::string> lines = run("cat " + out).lines;
  lines.push_back("status " + std::to_string(ran.status));
  return lines;
}

/// Ids of the programs in the kernel that count entries.
std::vector<std::string> loaded_programs() {
  return run("/usr/sbin/bpftool prog show 2>/dev/null | sed -nE 's/^([0-9]+): .* name on_(perf_)?enter .*/\\1/p'")
      .lines;
}

}  // namespace

TEST_CASE("counting in the kernel counts what ptrace and strace count") {
  skip_without_bpf();
  for (const std::string command :
       {"sh -c 'cd /; cd /nonexistent; /bin/true; exit 3'", "-f sh -c '/bin/true; cd /nonexistent; /bin/true'",
        "-f " TRACEE " vfork_exec", "-f -e trace=%file,wait4 sh -c '/bin/true; :'",
        "-w dd if=/dev/zero of=/dev/null bs=1 count=500", "sh -c 'kill -9 $$'", "sh -c 'kill -TERM $$'", "/dev/null",
        TRACEE " int80"}) {
    INFO(command);
    const auto by_bpf = count("$T --engine=bpf", command);
    CHECK(by_bpf.size() >= 5);
    CHECK(difference(by_bpf, count("$T --engine=ptrace", command)) == "");
    if (command != "/dev/null") {
      CHECK(difference(by_bpf, count("strace", command)) == "");
    }
  }
}

#if defined(__x86_64__)
TEST_CASE("as strace, counting says that a program runs in 32 bit mode") {
  skip_without_bpf();
  // The shortest program that is one: exit(0).
  const std::string program =
      R"(printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\124\0\1\0\64\0\0\0\0\0\0\0\0\0\0\0\64\0\40\0\1\0\0\0\0\0\0\0)"
      R"(\1\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\135\0\0\0\135\0\0\0\5\0\0\0\0\20\0\0)"
      R"(\270\1\0\0\0\061\333\315\200')";
  const Folder folder;
  const std::string file = folder.file("exits");
  REQUIRE(run(program + " > " + file + " && chmod +x " + file).status == 0);
  CHECK(run("$T --compat=strace -c " + file + " 2>&1").mentions("runs in 32 bit mode. ]"));
  CHECK_FALSE(run("$T --compat=strace -c -q " + file + " 2>&1").mentions("runs in 32 bit mode. ]"));
  CHECK(run("$T --compat=strace -c -d true 2>&1").mentions("engine: bpf"));
}
#endif

TEST_CASE("calls whose numbers no table has are missing with BPF, and their number is said") {
  skip_without_bpf();
  for (const std::string options : {"-c", ""}) {
    INFO(options);
    CHECK(run("$T --engine=bpf " + options + " perl -e 'syscall 9999; syscall 9998; syscall 39'")
              .mentions("2 calls are missing: they have numbers of 1024 and above, which --engine=ptrace shows"));
    CHECK(run("$T --engine=ptrace " + options + " perl -e 'syscall 9999'").mentions("syscall_0x270f"));
  }
}

TEST_CASE("no call is missed of programs that take a CPU from each other") {
  skip_without_bpf();
  const Folder folder;
  const std::string out = folder.file("out");
  const std::string dd = "dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none";
  const auto run_three = [&](const std::string& options) {
    return run("exec taskset 1 $T --engine=bpf -f -e trace=write -o " + out + options + " sh -c '" + dd + " & " + dd +
               " & " + dd + " & wait' 2>&1");
  };
  CHECK(run_three(" -c -U calls,name").lines.empty());
  CHECK(run("cat " + out).has("    60000 write"));
  CHECK(run_three("").lines.empty());
  CHECK(run("grep -c ' write(1, ' " + out).lines == std::vector<std::string>{"60000"});
}

TEST_CASE("times are those inside the calls: asleep only with -w") {
  skip_without_bpf();
  const std::string show = "-o /dev/stdout -U total-time,calls,name -e trace=/nanosleep sleep 0.2";
  const auto seconds = [&](const std::string& options) {
    const Ran ran = run("exec $T --engine=bpf -c " + options + show);
    REQUIRE(ran.lines.size() == 5);
    CHECK(ran.lines[2].find("clock_nanosleep") != std::string::npos);
    return std::stod(ran.lines[2]);
  };
  CHECK(seconds("") < 0.1);
  CHECK(seconds("-w ") >= 0.2);
}

TEST_CASE("option -c counts in the kernel if it can, and -d says when it cannot and why") {
  skip_without_bpf();
  CHECK(run("$T -c -d true").has(TRACER ": engine: bpf, which counts in the kernel and stops nobody"));
  CHECK(run("$T -c -d --engine=ptrace true").has(TRACER ": engine: ptrace, as --engine says"));
  const Ran by_path = run("$T -c -d -P /etc true");
  CHECK(by_path.has(TRACER ": engine: ptrace, not bpf: calls are chosen by what their arguments name"));
  const Folder folder;
  const std::string copy = folder.file("tracer");
  const std::string as_nobody = "cp $T " + copy + " && chmod a+rx " + folder.path().string() +
                                " && setpriv --reuid 65534 --regid 65534 --clear-groups " + copy;
  const Ran powerless = run(as_nobody + " -c -d true");
  CHECK(powerless.mentions("engine: ptrace, not bpf: BPF takes the capabilities CAP_BPF and CAP_PERFMON"));
  CHECK(powerless.mentions(" total"));
  CHECK(powerless.status == 0);
  const Ran refused = run(as_nobody + " --engine=bpf -c true");
  CHECK(refused.lines.size() == 1);
  CHECK(WEXITSTATUS(refused.status) == 1);
}

TEST_CASE("where the kernel takes no BPF programs, the reason is reported and ptrace counts") {
  skip_without_bpf();
  // As in a kernel that is locked down, one without types, and a process that may open next to nothing.
  const std::string elsewhere = "unshare -m true 2>/dev/null && exec unshare -m sh -c ";
  const std::string count = "exec $T -c -d true'";
  for (const auto& [command, reason] : std::initializer_list<std::pair<std::string, std::string>>{
           {"test -d /sys/kernel/security && " + elsewhere +
                "'mount -t tmpfs none /sys/kernel/security && "
                "echo none integrity [confidentiality] >/sys/kernel/security/lockdown && " +
                count,
            "the kernel is locked down for confidentiality"},
           {elsewhere + "'mount -t tmpfs none /sys/kernel/btf && " + count, "the kernel does not describe its types"},
           {"exec sh -c 'ulimit -n 6; " + count, "there is no room for the BPF programs (ulimit -n"},
           {"exec sh -c 'ulimit -n 8; " + count, "there is no room for the BPF programs (ulimit -n"},
           {"exec sh -c 'ulimit -n 14; " + count, "there is no room for the BPF programs (ulimit -n"}}) {
    INFO(command);
    const Ran ran = run(command);
    if (!ran.mentions("engine:")) {
      continue;  // nobody may mount anything here
    }
    CHECK(ran.mentions("engine: ptrace, not bpf: " + reason));
    CHECK(ran.mentions(" total"));
    CHECK(ran.status == 0);
  }
}

TEST_CASE("a running process is counted without being stopped or traced") {
  skip_without_bpf();
  Process cat({"/bin/cat"});
  cat.say("one");
  REQUIRE(cat.line() == "one");
  const std::string pid = std::to_string(cat.pid());
  Process counter({TRACER, "-c", "-U", "calls,name", "-e", "trace=write", "-p", pid}, true);
  REQUIRE(counter.reaches(TRACER ": Process " + pid + " attached"));
  CHECK(runs_untraced(cat.pid()));
  for (int i = 0; i < 100; ++i) {
    cat.say("more");
    REQUIRE(cat.line() == "more");
  }
  counter.signal(SIGINT);
  CHECK(counter.reaches(TRACER ": Process " + pid + " detached"));
  CHECK(counter.reaches("      100 write"));
  const auto status = counter.wait();
  CHECK((status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGINT));
  cat.say("still here");
  CHECK(cat.line() == "still here");
}

TEST_CASE("both engines report in the same words that a process has ended already") {
  skip_without_bpf();
  const Process ended({"/bin/true"});
  REQUIRE(becomes_true([&] { return status_field(ended.pid(), "State").starts_with('Z'); }));
  const std::string pid = std::to_string(ended.pid());
  const std::string refused = ": attach: ptrace(PTRACE_SEIZE, " + pid + "): Operation not permitted";
  for (const std::string engine : {"ptrace", "bpf"}) {
    INFO(engine);
    CHECK(run("exec $T -c --engine=" + engine + " -p " + pid).lines ==
          std::vector<std::string>{TRACER + refused +
                                   ": the process has ended already and waits for its parent, process " +
                                   std::to_string(::getpid()) + ", to collect its exit status"});
  }
  CHECK(run("exec bash -c 'exec -a strace \"$0\" -c -p " + pid + "' $T").lines ==
        std::vector<std::string>{"strace" + refused});
}

TEST_CASE("counting ends when the processes that were attached to do, with all their threads and children") {
  skip_without_bpf();
  Process shell({"/bin/sh", "-c", "read go; /bin/true; (/bin/true; exit 2)"});
  const std::string pid = std::to_string(shell.pid());
  Process counter({TRACER, "-f", "-c", "-U", "calls,name", "-e", "trace=execve", "-p", pid}, true);
  REQUIRE(counter.reaches(TRACER ": Process " + pid + " attached"));
  shell.say("go");
  CHECK(counter.reaches("        2 execve"));
  CHECK(counter.wait() == std::optional<int>(0));
}

TEST_CASE("counting a first thread alone ends when another one's execve takes its place") {
  skip_without_bpf();
  for (const std::string engine : {"bpf", "ptrace"}) {
    INFO(engine);
    Process tracee({TRACEE, "exec_thread", "cat"});
    const std::string pid = std::to_string(tracee.pid());
    Process counter({TRACER, "-c", "--engine=" + engine, "-p", pid}, true);
    REQUIRE(counter.reaches(TRACER ": Process " + pid + " attached"));
    tracee.say("go");
    CHECK(counter.wait() == std::optional<int>(0));
    tracee.say("on");
    CHECK(tracee.line() == "on");
  }
}

TEST_CASE("processes are counted by name and by control group, also those that start later, but not the tracer") {
  skip_without_bpf();
  const Folder folder;
  const std::string named = folder.file("so-named");
  const std::string show = " -U calls,name -e trace=getppid ";
  REQUIRE(run("cp " TRACEE " " + named).status == 0);
#if defined(__x86_64__)
  const Ran by_comm = run("$T -c --comm=so-named" + show + "sh -c '" + named + " int80; " + TRACEE " int80'");
  CHECK(by_comm.has("System call usage summary for 32 bit mode:"));
  CHECK(by_comm.has("        1 getppid"));
#endif
  const auto hello_of = [&named](const std::string& name) {
    return run("$T -c --comm=" + name + " -U calls,name -e trace=write sh -c '" + named + " hello; :'");
  };
  CHECK(hello_of("so-named").has("        1 write"));
  CHECK(hello_of("so-name").lines.size() == 1);  // the program's own
  CHECK(run("$T -c --comm=so-name -U calls,name -e trace=write " + named + " hello").has("        1 write"));

  const Ran everywhere = run("$T -c --system-wide -U calls,name -e trace=clock_nanosleep sh -c 'sleep 0.1'");
  CHECK(everywhere.mentions(" clock_nanosleep"));
  const std::string tracer = folder.file("so-counting");
  const Ran itself = run("cp $T " + tracer + "; " + tracer + " -c --comm=so-counting -U calls,name /bin/echo");
  CHECK(itself.mentions(" write"));
  CHECK(!itself.mentions(" bpf"));

  const std::string mount = run("grep -m1 -o ' [^ ]* cgroup2 ' /proc/self/mounts | cut -d' ' -f2").lines.at(0);
  const std::string group = mount + "/tracer-test-" + std::to_string(::getpid());
  if (!std::filesystem::create_directory(group)) {
    SKIP("no control group can be made");
  }
  const std::string name = std::filesystem::path(group).filename();
  const Ran by_group = run("$T -c --cgroup=" + name + " -U calls,name -e trace=chdir sh -c '(echo 0 >" + group +
                           "/cgroup.procs; exec sh -c \"cd /; cd /\"); cd /'");
  std::filesystem::remove(group);
  CHECK(by_group.has("        3 chdir"));  // two of the group, and the program itself
  CHECK(run("$T -c --cgroup=/nonexistent true").mentions("neither a directory of cgroup v2 nor one below " + mount));
}

TEST_CASE("histograms and percentiles come from the kernel, too") {
  skip_without_bpf();
  const Ran ran =
      run("$T --engine=bpf -c --summary-histogram -U calls,p50,p99,name -e trace=clock_nanosleep sleep 1.2");
  CHECK(ran.mentions("        1 1"));  // 1.2 s and a little, in microseconds
  CHECK(ran.has("clock_nanosleep:"));
  CHECK(ran.has("     1 s  ..   2 s            1 |****************************************|"));
  CHECK(run("$T --summary-histogram true").mentions("--summary-histogram must be given with (-c/--summary-only"));
}

TEST_CASE("a tracer that is killed leaves no program in the kernel and the process goes on") {
  skip_without_bpf();
  Process cat({"/bin/cat"});
  const std::string pid = std::to_string(cat.pid());
  const auto before = loaded_programs();
  Process counter({TRACER, "-c", "-f", "-p", pid}, true);
  REQUIRE(counter.reaches(TRACER ": Process " + pid + " attached"));
  CHECK(bpf_descriptors(counter.pid()) > 5);
  const auto during = loaded_programs();
  counter.signal(SIGKILL);
  CHECK(counter.wait());
  // The kernel frees them after a grace period.
  CHECK(becomes_true([&] {
    const auto after = loaded_programs();
    return std::none_of(after.begin(), after.end(), [&](const std::string& id) {
      return std::find(before.begin(), before.end(), id) == before.end() &&
             std::find(during.begin(), during.end(), id) != during.end();
    });
  }));
  cat.say("still here");
  CHECK(cat.line() == "still here");
  CHECK(bpf_descriptors(cat.pid()) == 0);
}

TEST_CASE("counting ends with a process that dies while it is being attached to") {
  skip_without_bpf();
  const Folder folder;
  Process victim({TRACEE, "sleeper"});
  REQUIRE(victim.line() == "ready");
  const std::string pid = std::to_string(victim.pid());
  const std::string trace = folder.file("trace");
  // The tracer's own calls into BPF are held up, so that the end falls between its look at the process and the place
  // where it starts to watch. Nobody collects the process, so it is there to be watched, and tells of no end any more.
  Process tracer({TRACER, "--kill-on-exit", "-o", trace, "-e", "trace=openat,bpf", "-e", "inject=bpf:delay_enter=40ms",
                  TRACER, "--engine=bpf", "-c", "-o", "/dev/null", "-q", "-p", pid});
  const bool looked =
      becomes_true([&] { return contents(trace).find("/proc/" + pid + "/status") != std::string::npos; });
  ::kill(victim.pid(), SIGKILL);
  REQUIRE(looked);
  CHECK(tracer.wait());
}

}  // namespace tracer::live
