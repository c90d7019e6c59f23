// The whole program as a user sees it: what it prints, where, and how it ends.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "bpf_works.h"
#include "catch.h"
#include "skip.h"

#include "program_run.h"

namespace tracer::live {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

TEST_CASE("it ends as the program ends") {
  const Ran exited = run("exec $T -o /dev/null sh -c 'exit 7'");
  CHECK(WIFEXITED(exited.status));
  CHECK(WEXITSTATUS(exited.status) == 7);
  const Ran killed = run("exec $T -o /dev/null sh -c 'kill -TERM $$'");
  CHECK(WIFSIGNALED(killed.status));
  CHECK(WTERMSIG(killed.status) == SIGTERM);
}

TEST_CASE("a pipe that the program has closed is closed, whoever traces it") {
  const Folder folder;
  const std::string seen = folder.file("seen");
  const std::string program =
      "i=0; until [ -e " + seen + " ]; do sleep 0.01; i=$((i+1)); [ $i -lt 1000 ] || exit 9; done";
  // Every call, a filter's two processes, counted without stops, detached.
  for (const std::string options : {"", "-f -e execve", "-c", "-D"}) {
    INFO(options);
    const std::string start =
        "cd " + folder.path().string() + "; rm -f pipe seen; mkfifo pipe; $T -o /dev/null " + options;
    CHECK(run(start + " sh -c 'exec >&-; " + program + "' >pipe & cat pipe; touch seen; wait $!").status == 0);
    CHECK(run(start + " sh -c 'exec <&-; " + program + "' <pipe & env --default-signal yes >pipe; touch seen; wait $!")
              .status == 0);
  }
}

TEST_CASE("option -E sets and removes variables of the environment, in order") {
  const Ran ran =
      run("export B=b C=c; exec $T -o /dev/null -E A=1 -E B -E C=2 -E C=3 -E D=4 -E D"
          " sh -c 'echo $A ${B-none} $C ${D-none}'");
  CHECK(ran.lines == std::vector<std::string>{"1 none 3 none"});
  CHECK(run("exec $T -o /dev/null -E =value env").has("=value"));
}

TEST_CASE("an exit that is refused shows its error, and one that is not a question mark") {
  const Ran ran = run("exec $T -a1 -e exit,exit_group " TRACEE " refused_exit");
  CHECK(ran.lines == std::vector<std::string>{"exit(5) = -1 EPERM (Operation not permitted)", "exit_group(6) = ?",
                                              "+++ exited with 6 +++"});
}

TEST_CASE("the protocol of a netlink socket is known once it has an address") {
  const Ran ran = run("exec $T -e sendto " TRACEE " ask_netlink");
  REQUIRE(ran.lines.size() == 3);
  CHECK(ran.lines[0].find("[{nlmsg_len=32, nlmsg_type=0x12 /* NLMSG_??? */,") != std::string::npos);
  CHECK(ran.lines[1].find("[{nlmsg_len=32, nlmsg_type=RTM_GETLINK,") != std::string::npos);
}

TEST_CASE("a number that drivers share is that of the descriptor's driver") {
  std::vector<std::string> engines = {"ptrace"};
  if (bpf_works()) {
    engines.emplace_back("bpf");
  }
  const Folder folder;
  const std::string trace = folder.file("trace");
  for (const std::string& engine : engines) {
    INFO(engine);
    const auto has = [](const Ran& ran, std::initializer_list<std::string_view> names) {
      REQUIRE(ran.lines.size() == names.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(ran.lines[i].find(", " + std::string(names.begin()[i]) + ", ") != std::string::npos);
      }
    };
    // Nothing tells what /dev/null has to do with files or terminals.
    const auto names = {"FICLONE"sv,
                        "SNDCTL_TMR_CONTINUE or TCSETSF"sv,
                        "VBG_IOCTL_VMMDEV_REQUEST_BIG or VT_GETSTATE"sv,
                        "BTRFS_IOC_CLONE or FICLONE"sv,
                        "SNDCTL_TMR_CONTINUE or TCSETSF"sv,
                        "VBG_IOCTL_VMMDEV_REQUEST_BIG or VT_GETSTATE"sv,
                        "BTRFS_IOC_CLONE or FICLONE"sv,
                        "TCSETSF"sv,
                        "VT_GETSTATE"sv};
    const std::string tracee = " -e trace=ioctl -e quiet=all " TRACEE " ask_devices /proc/version";
    has(run("exec $T --engine=" + engine + tracee), names);
    // strace looks at devices alone.
    has(run("exec $T --compat=strace --engine=" + engine + tracee),
        {"BTRFS_IOC_CLONE or FICLONE", "SNDCTL_TMR_CONTINUE or TCSETSF", "VBG_IOCTL_VMMDEV_REQUEST_BIG or VT_GETSTATE",
         "BTRFS_IOC_CLONE or FICLONE", "SNDCTL_TMR_CONTINUE or TCSETSF", "VBG_IOCTL_VMMDEV_REQUEST_BIG or VT_GETSTATE",
         "BTRFS_IOC_CLONE or FICLONE", "TCSETSF", "VBG_IOCTL_VMMDEV_REQUEST_BIG or VT_GETSTATE"});
    run("exec $T --engine=" + engine + " --record=" + trace +
        " -e trace=ioctl -o /dev/null " TRACEE " ask_devices /proc/version");
    has(run("exec $T --replay=" + trace + " -e quiet=all"), names);
  }
}

TEST_CASE("what strace leaves out or gets wrong shows with --compat=strace alone") {
  struct Kept {
    std::string call, ours, theirs;
  };
  const std::vector<Kept> all = {
      {"ioctl(STDIN, 0x80044532, $_ = chr(0xff) x 8)", "0x6 /* SND_??? */ 0x7 /* SND_??? */])", "0x6 /* SND_??? */])"},
      {"ioctl(STDIN, 0x4b47, $_ = pack(q(CCS), 0, 3, 0xf05))", "/* K_CSI_PGUP */", "/* K(KT_CSI, 0x5) */"},
      {"syscall(426, 0, 0, 0, 16, 0, 0)", "io_uring_enter(0, ", "io_uring_enter(0</dev/null>, "}};
  for (const Kept& kept : all) {
    INFO(kept.call);
    const std::string rest = " -v -y -e quiet=all -e trace=ioctl,io_uring_enter -e inject=ioctl:retval=8 perl -e '" +
                             kept.call + "' </dev/null";
    CHECK(run("$T" + rest).mentions(kept.ours));
    CHECK(run("$T --compat=strace" + rest).mentions(kept.theirs));
  }
}

TEST_CASE("an exit_group ends before what it ends in other threads") {
  // Where pause is no call of its own, the C library makes it of ppoll.
  const Ran ran = run("exec $T -f -a1 -e '/^(pause|ppoll|exit_group)$' " TRACEE " exit_over_threads 3");
  const auto has = [](const std::string& line, std::string_view text) { return line.find(text) != std::string::npos; };
  const auto exit = std::find_if(ran.lines.begin(), ran.lines.end(),
                                 [&](const std::string& line) { return has(line, "exit_group(6) = ?"); });
  REQUIRE(ran.lines.end() - exit == 8);
  CHECK(std::count_if(exit, ran.lines.end(),
                      [&](const std::string& line) { return has(line, " resumed>") && has(line, ") = ?"); }) == 3);
  CHECK(std::count_if(exit, ran.lines.end(),
                      [&](const std::string& line) { return has(line, "+++ exited with 6 +++"); }) == 4);
}

TEST_CASE("a command that is not there is 127, and 1 under the name strace") {
  const Ran ours = run("exec $T /nonexistent");
  CHECK(WEXITSTATUS(ours.status) == 127);
  CHECK(ours.lines == std::vector<std::string>{TRACER ": Cannot stat '/nonexistent': No such file or directory"});
  const Folder folder;
  const Ran strict = run("ln -s $T " + folder.file("strace") + "; exec " + folder.file("strace") + " /nonexistent");
  CHECK(WEXITSTATUS(strict.status) == 1);
}

TEST_CASE("a file that cannot be executed is 126, and the failed execve a line of its own") {
  const Ran ran = run("exec $T /");
  CHECK(WEXITSTATUS(ran.status) == 126);
  CHECK(ran.mentions("= -1 EACCES (Permission denied)"));
  CHECK(ran.has(TRACER ": exec: Permission denied: it is a directory, not a program"));
}

TEST_CASE("nothing of ours goes to standard output") {
  CHECK(run("exec $T -f sh -c 'echo hi; :' 2>/dev/null").lines == std::vector<std::string>{"hi"});
}

TEST_CASE("signals and exits of processes are reported") {
  const Ran ran = run("exec $T -e trace=none sh -c 'kill -TERM $$'");
  CHECK(ran.mentions("--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid="));
  CHECK(ran.lines.back() == "+++ killed by SIGTERM +++");
}

TEST_CASE("a call that blocks can be read before it ends") {
  const Folder folder;
  const std::string out = folder.file("out");
  Process traced({TRACER, "-o", out, "-e", "trace=read", "/bin/cat"});
  // Whether the separator before the argument to come stands already is the decoder's business.
  CHECK(becomes_true([&] { return contents(out).find("\nread(0") != std::string::npos; }));
  traced.say("hello");
  CHECK(traced.line() == "hello");
  CHECK(becomes_true([&] { return contents(out).find(", \"hello\\n\", ") != std::string::npos; }));
}

TEST_CASE("with -f -o every line says whose it is, with -ff every process has its file") {
  const Folder folder;
  run("$T -f -o " + folder.file("all") + " sh -c '/bin/true; :'");
  std::istringstream all(contents(folder.file("all")));
  std::size_t lines = 0;
  for (std::string line; std::getline(all, line); ++lines) {
    INFO(line);
    CHECK(line.find_first_not_of("0123456789") != 0);
  }
  CHECK(lines > 10);

  fs::create_directory(folder.path() / "each");
  run("$T -ff -o " + folder.file("each/out") + " sh -c '/bin/true; :'");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "each")) {
    ++files;
    const std::string text = contents(entry.path().string());
    CHECK(text.find("[pid") == std::string::npos);
    CHECK(text.find("+++ exited with 0 +++\n") == text.size() - 22);
  }
  CHECK(files == 2);
}

TEST_CASE("output can go to a command, which is waited for") {
  const Ran ran = run("$T -o '|sleep 0.1; grep -c exited' true; echo end");
  CHECK(ran.lines == std::vector<std::string>{"1", "end"});
}

TEST_CASE("help that nobody gets is a failure") {
  CHECK(run("$T --help >/dev/full; echo $?").lines ==
        std::vector<std::string>{TRACER ": standard output: No space left on device", "1"});
}

TEST_CASE("a full disk or a closed reader is reported once and does the program no harm") {
  const Ran full = run("exec $T -o /dev/full sh -c 'echo hi; exit 3'");
  CHECK(WEXITSTATUS(full.status) == 3);
  CHECK(full.lines.size() == 2);
  CHECK(full.has("hi"));
  CHECK(full.has(TRACER ": /dev/full: No space left on device"));
  const Ran gone = run("exec $T -o '|exec true' sh -c 'sleep 0.2; echo hi; exit 3'");
  CHECK(WEXITSTATUS(gone.status) == 3);
  CHECK(gone.has("hi"));
  CHECK(std::count(gone.lines.begin(), gone.lines.end(), TRACER ": |exec true: Broken pipe") == 1);
}

TEST_CASE("calls are chosen by success with -z and -Z") {
  const std::string command = " -e trace=chdir sh -c 'cd /; cd /nonexistent' 2>&1 | grep chdir";
  CHECK(run("$T -z" + command).lines == std::vector<std::string>{"chdir(\"/\")                              = 0"});
  CHECK(run("$T -Z" + command).lines ==
        std::vector<std::string>{"chdir(\"/nonexistent\")                   = -1 ENOENT (No such file or directory)"});
}

TEST_CASE("option -c counts") {
  const Ran ran = run("$T -c -e trace=chdir sh -c 'cd /; cd /nonexistent; cd /tmp' 2>&1 | grep -v nonexistent");
  REQUIRE(ran.lines.size() == 5);
  CHECK(ran.lines[0] == "% time     seconds  usecs/call     calls    errors syscall");
  CHECK(ran.mentions("         3         1 chdir"));
  CHECK(ran.mentions("         3         1 total"));
}

TEST_CASE("records of --format=json are JSON, one a line") {
  const Ran ran =
      run("$T --format=json -f -o '|/usr/bin/python3 -c \"import json,sys\n"
          "r=[json.loads(l) for l in sys.stdin]\n"
          "print(sorted(set(x[\\\"type\\\"] for x in r)), all(x[\\\"v\\\"]==1 for x in r))\"' sh -c '/bin/true; :'");
  CHECK(ran.lines == std::vector<std::string>{"['exec', 'exit', 'fork', 'signal', 'syscall'] True"});
}

TEST_CASE("a process that was attached to goes on when tracing is interrupted") {
  Process sleeper({"/bin/cat"});
  const std::string pid = std::to_string(sleeper.pid());
  Process tracer_process({TRACER, "-p", pid}, true);
  CHECK(tracer_process.reaches(TRACER ": Process " + pid + " attached"));
  CHECK(becomes_true([&] { return status_field(sleeper.pid(), "State").find('t') == std::string::npos; }));
  tracer_process.signal(SIGINT);
  CHECK(tracer_process.wait());
  CHECK(runs_untraced(sleeper.pid()));
  sleeper.say("still here");
  CHECK(sleeper.line() == "still here");
}

TEST_CASE("children that are not followed are free, so that there may be a debugger among them") {
  // A child, the shell itself, and a process of another tracer.
  const auto script = [](const std::string& tracer) {
    return "sh -c 'grep -E ^\\(TracerPid\\|Seccomp\\|NoNewPrivs\\): /proc/self/status; "
           "grep ^Seccomp: /proc/$$/status; " +
           tracer + " -e getpid -o /dev/null true; echo $?'";
  };
  const Ran bare = run("exec " + script(TRACER));
  CHECK(bare.lines.back() == "0");
  CHECK(run("exec $T -e ptrace -o /dev/null " + script(TRACER)).lines == bare.lines);
  CHECK(run("exec $T -e execve -o /dev/null " + script(TRACER)).lines == bare.lines);
  if (::geteuid() != 0) {
    SKIP("only root can become another user");
  }
  const Folder folder;
  const std::string copy = folder.file("tracer");
  const Ran nobody = run("cp $T " + copy + " && chmod a+rx " + folder.path().string() +
                         " && exec setpriv --reuid 65534 --regid 65534 --clear-groups " + copy +
                         " -e execve -o /dev/null " + script(copy));
  CHECK(nobody.lines == bare.lines);
}

TEST_CASE("ids of another PID namespace are translated, also where /proc belongs to a third one") {
  if (WEXITSTATUS(run("exec unshare -Urpf true").status) != 0) {
    SKIP("no user namespaces here");
  }
  const std::string shell = "unshare -Urpf sh -c 'kill -0 $$; :'";
  const Ran one = run("exec $T -a1 -f --decode-pids=pidns -e kill " + shell);
  const Ran two = run("exec unshare -Urpf $T -a1 -f --decode-pids=pidns -e kill,set_tid_address " + shell);
  for (const Ran& ran : {one, two}) {
    CAPTURE(ran.lines);
    CHECK(ran.mentions("kill(1 /* "));
    CHECK(ran.mentions(" in strace's PID NS */, 0) = 0"));
  }
  CHECK(two.mentions("set_tid_address("));
  CHECK(two.mentions(" = 1 /* "));
}

TEST_CASE("option -d reports what works here, which engine traces and whether by a filter") {
  const std::string say = TRACER ": ";
  const Ran all = run("exec $T -d -o /dev/null true");
  CHECK(all.has(say + "engine: ptrace, not bpf: calls are to be shown, not only counted"));
  CHECK(all.has(say + "seccomp filter disabled: every call is wanted"));
  CHECK(all.has(say + "ptrace_setoptions = 0x51"));
  for (const std::string request : {"PTRACE_GET_SYSCALL_INFO", "PTRACE_SET_SYSCALL_INFO", "PTRACE_O_EXITKILL"}) {
    INFO(request);
    CHECK(all.has(say + request + " works") != all.has(say + request + " does not work"));
  }
  CHECK(all.mentions("WIFSTOPPED,sig=SIGTRAP,EVENT_EXEC (4)"));
  CHECK(all.mentions("WIFEXITED,exitcode=0"));
  CHECK(WEXITSTATUS(all.status) == 0);
  const Ran some = run("exec $T -d -f -e trace=openat -o /dev/null true");
  CHECK((some.mentions("seccomp filter enabled: ") || some.mentions("the kernel has none")));
  CHECK(run("exec $T -d -e trace=openat -o /dev/null true").mentions("seccomp filter disabled: children that are not"));
  CHECK(run("$T -d -D -o /dev/null true | cat").mentions("new tracer pid is "));
  CHECK(run("exec $T -d -I1 -f -e trace=openat -o /dev/null true").mentions("seccomp filter disabled: -I1"));
  CHECK(run("exec $T -o /dev/null true").lines.empty());
}

}  // namespace tracer::live
