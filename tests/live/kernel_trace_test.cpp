// --engine=bpf: the text that ptrace gives, without stopping anybody.
#include <signal.h>
#include <sys/wait.h>

#include "bpf_works.h"
#include "catch.h"

namespace tracer::live {

namespace {

/// What a trace of `command` by an engine says, on standard error and in the file.
std::vector<std::string> trace_by(const std::string& engine, const std::string& command) {
  const Folder folder;
  const std::string out = folder.file("out");
  const Ran ran = run("exec setarch -R $T --engine=" + engine + " -o " + out + " " + command + " 2>&1 >/dev/null");
  std::vector<std::string> lines = run("sed -E 's/^[0-9]+ +//; s/(pid=|pid |kill\\(|= )[0-9]{3,}/\\1N/g; "
                                       "s/\"(ts|pid|tid|dur)\":\"?[0-9]+\"?/\\1/g; s/:[0-9]{12,}/:ADDRESS/g; "
                                       "s/pipe:.[0-9]+/pipe/g; s/time=[0-9]+( \\/\\* [0-9.]+ s "
                                       "\\*\\/)?/time=N/g; s/0x(7fff|ffff)[0-9a-f]{8}/STACK/g' " +
                                       out)
                                       .lines;
  lines.push_back("status " + std::to_string(ran.status));
  lines.insert(lines.end(), ran.lines.begin(), ran.lines.end());
  return lines;
}

}  // namespace

TEST_CASE("the kernel's trace has the lines of ptrace's") {
  skip_without_bpf();
  for (const std::string command :
       {"-e trace=%file,read,write,close,pread64,getdents64,execve ls -l /usr/share",
        "-e trace=!getrandom sh -c 'cd /nonexistent; exit 3'",
        "-s 5 -e trace=read,write,openat,execve cat /etc/passwd",
        "-v -e trace=execve,newfstatat,prlimit64 env -i A=b cat /dev/null",
        "-f -e trace=execve,chdir sh -c '/bin/true; cd /'",
        "-e trace=kill,rt_sigaction sh -c 'kill -TERM $$'",
        "-e trace=kill sh -c 'trap : USR1; kill -USR1 $$; kill -9 $$'",
        "-e trace=getppid " TRACEE " int80",
        "-Z -e trace=openat,access cat /nonexistent",
        "-z -e trace=%file,execve,exit_group cat /nonexistent",
        "-f --errno=ENOENT -e trace=%file,wait4 sh -c 'cat /nonexistent; :'",
        "--min-duration=500ms sleep 0.6",
        "-Z -C -S name -U calls,errors,name -e trace=openat,access cat /nonexistent",
        "-e trace=wait4,execve -e signal=none sh -c '/bin/true; :'",
        "-f --quiet=attach,exit -e trace=none -e signal=STOP,CONT " TRACEE " stopped_child",
        "-y -e trace=openat,read,newfstatat cat /etc/passwd",
        "-P /etc/passwd cat /etc/passwd",
        "-Y -e trace=kill sh -c 'kill -0 $$; cd /; kill -0 $PPID'",
        "-e trace=none " TRACEE " zombie_leader",
        "-f -e trace=exit -e signal=none " TRACEE " zombie_leader",
        "-f -e trace=none " TRACEE " exec_thread",
        "-f -e trace=execve -e signal=none " TRACEE " fork_exec",
        "-e trace=none " TRACEE " killed_by_filter",
        "-f -e trace=none -e signal=TERM,CONT sh -c 'sleep 9 & kill -TERM $!; kill -CONT $! 2>/dev/null; wait'",
        "-Y -e trace=none -e signal=PIPE python3 -c \"import os,signal; signal.signal(signal.SIGPIPE,signal.SIG_DFL); "
        "r,w=os.pipe(); "
        "os.close(r); os.write(w,b'x')\"",
        "-e trace=none -e signal=ALRM python3 -c \"import signal; signal.setitimer(signal.ITIMER_REAL,0.01); "
        "signal.pause()\"",
        "--format=json -yy -e trace=execve,openat,read cat /dev/null",
        "--format=json -e trace=openat -e signal=none sh -c 'exec cat /dev/null'",
        "-e trace=ioctl,fcntl python3 -c \"import fcntl,os,termios; r,w=os.pipe(); os.write(w,b'abc'); "
        "fcntl.ioctl(r,termios.FIONREAD,b'1234'); f=os.open('/etc/passwd',os.O_RDONLY); "
        "fcntl.lockf(f,fcntl.LOCK_SH,9,1); fcntl.fcntl(f,fcntl.F_GETFL)\"",
        "-e trace=readv,writev,pipe2,sendto,recvfrom,socketpair,ppoll,?select python3 -c \"import os,socket as "
        "s,select; a,b=s.socketpair();"
        "a.send(b'hello'); b.recv(9); os.writev(1,[b'x'*50,b'yz']); select.select([b],[],[],0.01)\"",
        "-e trace=sendmmsg -e signal=none python3 -c \"import ctypes as c,socket as s,struct; a,b=s.socketpair(); "
        "t=[c.create_string_buffer(x) for x in (b'abc',b'de')]; "
        "v=c.create_string_buffer(struct.pack('PNPN',c.addressof(t[0]),3,c.addressof(t[1]),2)); "
        "m=c.create_string_buffer(struct.pack('PQPNPNQQ',0,0,c.addressof(v),2,0,0,0,0)*2); "
        "c.CDLL(None).sendmmsg(a.fileno(),m,2,0)\"",
        "-y -e trace=io_submit -e signal=none python3 -c \"import ctypes as c,os,struct; l=c.CDLL(None); "
        "i=c.c_ulong(); "
        "l.syscall(206 if os.uname().machine=='x86_64' else 0,1,c.byref(i)); f=os.open('/etc/passwd',0); "
        "e=l.eventfd(0,0); b=c.create_string_buffer(8); d=c.create_string_buffer(struct.pack('QIIHhIQQqQII',0,0,0,0,0,"
        "f,c.addressof(b),8,0,0,1,e)); p=c.c_void_p(c.addressof(d)); l.syscall(209 if "
        "os.uname().machine=='x86_64' else 2,i,1,c.byref(p))\"",
        "-y -e trace=io_uring_register -e signal=none python3 -c \"import ctypes as c,os,struct; l=c.CDLL(None); "
        "r=l.syscall(425,4,c.create_string_buffer(120)); f=os.open('/etc/passwd',0); "
        "d=c.create_string_buffer(struct.pack('ii',f,-1)); l.syscall(427,r,2,struct.pack('ii',-1,-1),2); "
        "l.syscall(427,r,6,struct.pack('IIQ',0,0,c.addressof(d)),2); "
        "l.syscall(427,r,8,c.create_string_buffer(16+256*8),256)\"",
        "-e trace=?poll,ppoll -e signal=none python3 -c \"import ctypes,os,struct; r,w=os.pipe(); "
        "ctypes.CDLL(None).poll(struct.pack('ihh',r,4,0)*99+struct.pack('ihh',w,4,0),100,0)\"",
        "-y -e trace=pidfd_getfd -e signal=none python3 -c \"import ctypes,os; f=os.open('/etc/passwd',0); "
        "ctypes.CDLL(None).syscall(438,os.pidfd_open(os.getpid()),f,0)\""}) {
    INFO(command);
    CHECK(difference(trace_by("bpf", command), trace_by("ptrace", command)) == "");
  }
}

TEST_CASE("every line about the processes of a scope says whose it is") {
  skip_without_bpf();
  const Folder folder;
  const std::string named = folder.file("so-traced");
  const std::string out = folder.file("out");
  const std::string twice = " sh -c 'cp " TRACEE " " + named + "; " + named + " hello; " + named + " hello' >/dev/null";
  for (const auto& [to, shown] :
       {std::pair<std::string, std::string>{"-o " + out, "^[0-9]+ +write"}, {"2>" + out, "^\\[pid +[0-9]+\\] write"}}) {
    INFO(to);
    CHECK(run("$T --comm=so-traced -e trace=write " + to + twice).status == 0);
    CHECK(run("grep -cE '" + shown + ".1, \"hello' " + out).has("2"));
  }
}

TEST_CASE("a signal names its process before the first call that is shown") {
  skip_without_bpf();
  const Folder folder;
  const std::string named = folder.file("so-signalled");
  const std::string out = folder.file("out");
  const std::string killed = "\"cp /bin/sh " + named + "; " + named + " -c 'kill -TERM \\$\\$'; :\"";
  CHECK(run("$T --comm=so-signalled -e trace=chdir -o " + out + " sh -c " + killed + " 2>/dev/null").status == 0);
  CHECK(run("grep -cE '^[1-9][0-9]* +--- SIGTERM' " + out).has("1"));
}

TEST_CASE("a folded stack begins with the name of its program, also of one that has ended when it is added up") {
  skip_without_bpf();
  const Ran ran = run("exec $T --engine=bpf --format=folded -o /dev/stdout -e trace=write /bin/echo hi");
  REQUIRE(ran.lines.size() == 2);
  CHECK(ran.lines[1].rfind("echo;", 0) == 0);
}

TEST_CASE("after --syscall-limit nothing more is shown, whoever traces") {
  std::vector<std::string> engines{"ptrace"};
  if (bpf_works()) {
    engines.emplace_back("bpf");
  }
  for (const std::string& engine : engines) {
    INFO(engine);
    const Ran ran = run("exec $T --engine=" + engine +
                        " --syscall-limit=2 -e trace=chdir sh -c 'for i in 1 2 3 4 5; do cd /; done' 2>&1");
    REQUIRE(ran.lines.size() == 4);
    CHECK(ran.lines[1] == "chdir(\"/\")                              = 0");
    CHECK(ran.lines[2] == TRACER ": System call limit has been reached, detaching tracees");
    CHECK(ran.lines[3].rfind(TRACER ": Process ", 0) == 0);
  }
}

TEST_CASE("a file that a call names many times takes the room of one name") {
  skip_without_bpf();
  const Folder folder;
  const Ran ran = run("exec $T --engine=bpf -y -e trace=?poll,ppoll -o " + folder.file("out") +
                      " python3 -c \"import ctypes as c,os,struct; p='" + folder.file("deep") +
                      "/'+'/'.join(['d'*200]*4); os.makedirs(p); "
                      "c.CDLL(None).poll(struct.pack('ihh',os.open(p,0),1,0)*128,128,0)\" 2>&1");
  CHECK(ran.status == 0);
  CHECK(ran.lines.empty());  // nor that names are missing
  CHECK(contents(folder.file("out")).find("ddd>, events=POLLIN}") != std::string::npos);
}

TEST_CASE("programs have the limits that the tracer was given, whatever BPF takes itself") {
  std::vector<std::string> ways{"-c"};  // on kernels that are too old, too, this tries BPF
  if (bpf_works()) {
    ways.insert(ways.end(), {"--engine=bpf -c", "--engine=bpf"});
  }
  for (const std::string& way : ways) {
    INFO(way);
    CHECK(run("ulimit -S -l 48; exec $T -o /dev/null " + way + " sh -c 'ulimit -S -l'").lines ==
          std::vector<std::string>{"48"});
  }
}

TEST_CASE("nobody stops for the kernel's trace, and a killed tracer leaves nothing behind") {
  skip_without_bpf();
  const Folder folder;
  const std::string out = folder.file("out");
  Process cat({"/bin/cat"});
  const std::string pid = std::to_string(cat.pid());
  Process watcher({TRACER, "--engine=bpf", "-f", "-o", out, "-p", pid}, true);
  REQUIRE(watcher.reaches(TRACER ": Process " + pid + " attached"));
  CHECK(runs_untraced(cat.pid()));
  cat.say("one");
  CHECK(cat.line() == "one");
  CHECK(becomes_true([&] { return contents(out).find("write(1, \"one\\n\", 4)") != std::string::npos; }));
  CHECK(contents(out).find("read(0, \"one\\n\", ") != std::string::npos);
  watcher.signal(SIGKILL);
  CHECK(watcher.wait());
  cat.say("two");
  CHECK(cat.line() == "two");
  CHECK(runs_untraced(cat.pid()));
}

TEST_CASE("nothing runs in the kernel for signals and stops that nobody wants to hear of") {
  skip_without_bpf();
  Process cat({"/bin/cat"});
  const std::string pid = std::to_string(cat.pid());
  const auto descriptors = [&pid](const std::string& signals) {
    Process watcher({TRACER, "--engine=bpf", "-o", "/dev/null", "-e", "signal=" + signals, "-p", pid}, true);
    CHECK(watcher.reaches(TRACER ": Process " + pid + " attached"));
    const std::size_t found = bpf_descriptors(watcher.pid());
    watcher.signal(SIGINT);
    CHECK(watcher.wait());
    return found;
  };
  const std::size_t all = descriptors("all");
  CHECK(descriptors("SEGV") < all);
  CHECK(descriptors("none") < descriptors("SEGV"));
}

TEST_CASE("events that found no room are counted where they are missing and in all") {
  skip_without_bpf();
  const Folder folder;
  const std::string out = folder.file("out");
  // The reader of the output holds the tracer up until the buffer is full.
  const Ran ran = run("$T --engine=bpf --bpf-buffer=64K -o '|sleep 1; cat >" + out +
                      "' dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none");
  REQUIRE(ran.lines.size() == 1);
  const long told = std::stol(ran.lines[0].substr(ran.lines[0].find(": ") + 2));
  CHECK(ran.lines[0] == TRACER ": " + std::to_string(told) +
                            " events were lost in all, as the buffer was full; --bpf-buffer makes it larger");
  const Ran sum = run("echo $(($(sed -n 's/^+++ \\([0-9]*\\) events lost here +++$/\\1/p' " + out + " | paste -sd+)))");
  CHECK(sum.lines == std::vector<std::string>{std::to_string(told)});
  // What the kernel leaves out takes no room.
  const std::string held_up = "$T --engine=bpf --bpf-buffer=64K -o '|sleep 1; cat >/dev/null' ";
  for (const std::string filter : {"-Z", "--errno=ENOENT", "--min-duration=10s"}) {
    CHECK(run(held_up + filter + " dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none").lines.empty());
  }
  CHECK(run("exec $T --bpf-buffer=1 true").mentions("--bpf-buffer: '1' is no size from 64K to 2G"));
}

TEST_CASE("events that are lost are reported on standard error where each process has a file") {
  if (!bpf_works()) {
    return;
  }
  const Folder folder;
  // The program stops the tracer until the buffer is full.
  const Ran ran = run("exec $T --engine=bpf --bpf-buffer=64K -ff -o " + folder.file("out") +
                      " sh -c 'kill -STOP $PPID; dd if=/dev/zero of=/dev/null bs=1 count=20000 status=none; "
                      "kill -CONT $PPID; exit 3'");
  CHECK(WEXITSTATUS(ran.status) == 3);
  REQUIRE(ran.lines.size() == 1);
  CHECK(ran.mentions(" events were lost in all, as the buffer was full; --bpf-buffer makes it larger"));
}

TEST_CASE("what takes a stop is refused with the kernel's trace, with the reason") {
  for (const std::string option :
       {"--namespace", "--io-uring", "-e inject=getpid:retval=1", "-e read=0", "-D", "-b execve"}) {
    INFO(option);
    const Ran ran = run("exec $T --engine=bpf " + option + " true");
    REQUIRE(ran.lines.size() == 1);
    CHECK(ran.lines[0].rfind(TRACER ": --engine=bpf: ", 0) == 0);
    CHECK(WEXITSTATUS(ran.status) == 1);
  }
}

}  // namespace tracer::live
