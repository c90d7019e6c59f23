// Lines of text as a user sees them: whole, broken, held back, cut off.
#include <algorithm>
#include <csignal>

#include "catch.h"
#include "pipeline_stage.h"

namespace tracer::test {

TEST_CASE("a call is one line") {
  Stage stage;
  stage.call(10, close_fd, 3);
  CHECK(stage.text() == "close(3)                                = 0\n");
}

TEST_CASE("an error is named and explained") {
  Stage stage;
  stage.call(10, close_fd, 3, -9);
  CHECK(stage.text() == "close(3)                                = -1 EBADF (Bad file descriptor)\n");
}

TEST_CASE("what is known of a call that blocks is out when the tracer goes to sleep") {
  Stage stage;
  stage.enter(10, open_path, 0);
  CHECK(stage.flushed.empty());
  stage.idle();
  CHECK(stage.flushed == "open(NULL");
  stage.exit(10, -14);
  CHECK(stage.text() == "open(NULL)                              = -1 EFAULT (Bad address)\n");
}

TEST_CASE("output of a busy program is never older than a second") {
  Stage stage;
  stage.call(10, getpid, 0, 10);
  stage.call(10, getpid, 0, 10);
  CHECK(stage.flushed.empty());
  stage.wait(std::chrono::seconds(1));
  stage.call(10, getpid, 0, 10);
  CHECK_FALSE(stage.flushed.empty());
}

TEST_CASE("another thread's line breaks an open one in two") {
  Stage stage;
  stage.enter(10, close_fd, 3);
  stage.happens(11, trace::Attached{});
  stage.call(11, getpid, 0, 11);
  stage.exit(10);
  CHECK(stage.text() ==
        "close(3 <unfinished ...>\n"
        "[pid    11] getpid()                    = 11\n"
        "[pid    10] <... close resumed>)        = 0\n");
  CHECK(stage.notes == "Process 11 attached\n");
}

TEST_CASE("ids of threads stand before lines only while there are several, and always in a file") {
  Stage terminal;
  terminal.call(10, getpid, 0, 10);
  terminal.happens(11, trace::Attached{});
  terminal.happens(11, trace::Exited{0});
  terminal.call(10, getpid, 0, 10);
  CHECK(terminal.text() ==
        "getpid()                                = 10\n"
        "[pid    11] +++ exited with 0 +++\n"
        "getpid()                                = 10\n");

  StageOptions options;
  options.text.show_pid = pipeline::views::ShowPid::column;
  Stage file(options);
  file.call(10, getpid, 0, 10);
  file.call(123456, getpid, 0, 10);
  CHECK(file.text() ==
        "10    getpid()                          = 10\n"
        "123456 getpid()                         = 10\n");
}

TEST_CASE("a thread that is killed in a call leaves a line without a result") {
  Stage stage;
  stage.enter(10, close_fd, 3);
  stage.happens(10, trace::SyscallLost{});
  stage.happens(10, trace::Exited{SIGKILL});
  CHECK(stage.text() ==
        "close(3)                                = ?\n"
        "+++ killed by SIGKILL +++\n");
}

TEST_CASE("a thread that is killed while arguments are still to come says so") {
  Stage stage;
  stage.enter(10, one_arg, 0x1000);
  stage.happens(11, trace::Attached{});
  stage.call(11, getpid, 0, 11);
  stage.happens(10, trace::Exited{SIGKILL | 0x80});
  CHECK(stage.text() ==
        "result( <unfinished ...>\n"
        "[pid    11] getpid()                    = 11\n"
        "[pid    10] <... result resumed> <unfinished ...>) = ?\n"
        "[pid    10] +++ killed by SIGKILL (core dumped) +++\n");
}

TEST_CASE("exit_group has no result, whether its exit is reported or not") {
  Stage stage;
  stage.enter(10, exit_group, 7);
  stage.happens(10, trace::SyscallLost{});
  stage.happens(10, trace::Exited{7 << 8});
  CHECK(stage.text() ==
        "exit_group(7)                           = ?\n"
        "+++ exited with 7 +++\n");
}

TEST_CASE("execve in a thread supersedes the leader") {
  Stage stage;
  stage.memory.put(0x1000, std::string("/bin/true\0", 10));
  stage.tgid = 10;
  stage.enter(10, close_fd, 3);
  stage.happens(11, trace::Attached{});
  stage.enter(11, execve, 0x1000);
  stage.happens(10, trace::SyscallLost{});
  stage.happens(10, trace::Exec{11});
  stage.exit(10);
  const std::string broken =
      "close(3 <unfinished ...>\n"
      "[pid    11] execve(\"/bin/true\" <unfinished ...>\n"
      "[pid    10] <... close resumed>)        = ?\n";
  CHECK(stage.text() == broken +
                            "+++ superseded by execve in pid 11 +++\n"
                            "<... execve resumed>)                   = 0\n");
}

TEST_CASE("the thread whose execve was reported last is followed to its new id") {
  Stage stage;
  stage.tgid = 10;
  stage.call(10, getpid, 0, 10);
  stage.happens(11, trace::Attached{});
  stage.enter(11, execve, 0);
  stage.happens(10, trace::Exec{11});
  stage.exit(10);
  CHECK(stage.text() ==
        "getpid()                                = 10\n"
        "[pid    11] execve(NULL <pid changed to 10 ...>\n"
        "+++ superseded by execve in pid 11 +++\n"
        "<... execve resumed>)                   = 0\n");
}

TEST_CASE("a program of another ABI is reported after its execve, before its first call") {
  for (const bool shown : {true, false}) {
    StageOptions options;
    if (!shown) {
      options.pipeline.filter.calls = filter::SyscallSet{};
    }
    Stage stage(options);
    stage.enter(10, execve, 0);
    stage.happens(10, trace::Exec{10, Abi::i386});
    stage.exit(10);
    stage.happens(10, trace::Exited{0});
    CHECK(stage.text() == std::string(shown ? "execve(NULL)                            = 0\n" : "") +
                              "[ Process PID=10 runs in 32 bit mode. ]\n+++ exited with 0 +++\n");
  }
}

TEST_CASE("a program that is started beside a process that is attached to counts from the start") {
  StageOptions options;
  options.text.program_to_come = true;
  Stage stage(options);
  stage.happens(10, trace::Attached{"", true});
  stage.call(10, getpid, 0, 10);
  stage.enter(11, execve, 0);
  stage.happens(11, trace::Exec{11});
  stage.exit(11);
  stage.happens(11, trace::Exited{0});
  stage.call(10, getpid, 0, 10);
  CHECK(stage.text() ==
        "[pid    10] getpid()                    = 10\n"
        "[pid    11] execve(NULL)                = 0\n"
        "[pid    11] +++ exited with 0 +++\n"
        "getpid()                                = 10\n");
}

TEST_CASE("a program is alone beside a process that could not be attached to") {
  StageOptions options;
  options.text.program_to_come = true;
  Stage stage(options);
  stage.enter(11, execve, 0);
  stage.happens(11, trace::Exec{11});
  stage.exit(11);
  CHECK(stage.text() == "execve(NULL)                            = 0\n");
}

TEST_CASE("with a file for each thread, execve in a thread ends its file") {
  StageOptions options;
  options.separate = true;
  options.text.show_pid = pipeline::views::ShowPid::never;
  Stage stage(options);
  stage.tgid = 10;
  stage.call(10, getpid, 0, 10);
  stage.enter(11, execve, 0);
  stage.happens(10, trace::Exec{11});
  stage.exit(10);
  stage.text();
  CHECK(stage.files[11] == "execve(NULL <pid changed to 10 ...>\n");
  CHECK(stage.files[10] ==
        "getpid()                                = 10\n"
        "+++ superseded by execve in pid 11 +++\n"
        "<... execve resumed>)                   = 0\n");
}

TEST_CASE("lines of threads with files of their own are never broken") {
  StageOptions options;
  options.separate = true;
  options.text.show_pid = pipeline::views::ShowPid::never;
  Stage stage(options);
  stage.enter(10, close_fd, 3);
  stage.call(11, getpid, 0, 11);
  stage.exit(10);
  stage.text();
  CHECK(stage.files[10] == "close(3)                                = 0\n");
  CHECK(stage.files[11] == "getpid()                                = 11\n");
}

TEST_CASE("calls that a filter holds back come out whole") {
  StageOptions options;
  options.pipeline.filter.end.status = {filter::CallStatus::successful};
  Stage stage(options);
  stage.enter(10, close_fd, 3);
  stage.happens(11, trace::Attached{});
  stage.call(11, close_fd, 9, -9);
  stage.call(11, getpid, 0, 11);
  stage.exit(10);
  stage.enter(11, close_fd, 5);
  stage.happens(11, trace::Exited{SIGTERM});
  CHECK(stage.text() ==
        "[pid    11] getpid()                    = 11\n"
        "close(3)                                = 0\n"
        "[pid    11] +++ killed by SIGTERM +++\n");
}

TEST_CASE("option --errno and --min-duration choose by the end of a call") {
  StageOptions by_errno;
  by_errno.pipeline.filter.end.errnos = {2};
  Stage first(by_errno);
  first.call(10, close_fd, 3, -9);
  first.call(10, close_fd, 4, -2);
  CHECK(first.text() == "close(4)                                = -1 ENOENT (No such file or directory)\n");

  StageOptions by_duration;
  by_duration.pipeline.filter.end.min_duration = std::chrono::milliseconds(20);
  Stage second(by_duration);
  second.call(10, close_fd, 3);
  second.enter(10, close_fd, 4);
  second.wait(std::chrono::milliseconds(20));
  second.exit(10);
  CHECK(second.text() == "close(4)                                = 0\n");
}

TEST_CASE("signals, stops and ends have lines of their own") {
  Stage stage;
  stage.happens(10, trace::SignalStop{SIGCHLD, {}});
  stage.happens(10, trace::GroupStop{SIGSTOP});
  stage.happens(10, trace::Exited{3 << 8});
  CHECK(stage.text() ==
        "--- SIGCHLD ---\n"
        "--- stopped by SIGSTOP ---\n"
        "+++ exited with 3 +++\n");
}

TEST_CASE("option -e signal= chooses signals") {
  StageOptions options;
  options.pipeline.filter.signals = {};
  options.pipeline.filter.signals.add(SIGUSR1);
  Stage stage(options);
  stage.happens(10, trace::SignalStop{SIGCHLD, {}});
  stage.happens(10, trace::SignalStop{SIGUSR1, {}});
  stage.happens(10, trace::Exited{SIGTERM});
  stage.happens(11, trace::Exited{SIGUSR1});
  CHECK(stage.text() ==
        "--- SIGUSR1 ---\n"
        "+++ killed by SIGUSR1 +++\n");
}

TEST_CASE("a change of the ABI is reported before the call that shows it") {
  Stage stage;
  stage.call(10, getpid, 0, 10);
  stage.enter(10, getpid, 0, 0, 0, Abi::i386);
  stage.exit(10, 10, Abi::i386);
  CHECK(stage.text() ==
        "getpid()                                = 10\n"
        "[ Process PID=10 runs in 32 bit mode. ]\n"
        "getpid()                                = 10\n");
}

TEST_CASE("option -q levels keep notes back") {
  StageOptions options;
  using filter::Quiet;
  options.pipeline.quiet = {Quiet::attach, Quiet::exit, Quiet::personality, Quiet::thread_execve};
  Stage stage(options);
  stage.happens(10, trace::Attached{{}, true});
  stage.enter(10, getpid, 0, 0, 0, Abi::i386);
  stage.exit(10, 10, Abi::i386);
  stage.happens(10, trace::Exited{0});
  stage.happens(11, trace::Exited{SIGKILL});
  CHECK(stage.text() ==
        "getpid()                                = 10\n"
        "+++ killed by SIGKILL +++\n");
  CHECK(stage.notes.empty());
}

TEST_CASE("one note stands for all threads of a process that is attached to") {
  Stage stage;
  stage.tgid = 10;
  stage.happens(10, trace::Attached{{}, true, 3});
  stage.happens(11, trace::Attached{{}, true, 0});
  stage.happens(12, trace::Attached{{}, true, 0});
  stage.tgid = 20;
  stage.happens(20, trace::Attached{{}, true});
  CHECK(stage.notes == "Process 10 attached with 3 threads\nProcess 20 attached\n");
}

TEST_CASE("detaching leaves the line that was begun last marked") {
  Stage stage;
  stage.enter(10, close_fd, 3);
  stage.happens(10, trace::Detached{});
  CHECK(stage.text() == "close(3 <detached ...>\n");
  CHECK(stage.notes == "Process 10 detached\n");
}

TEST_CASE("a call that detaching interrupts shows by its status, too") {
  for (const auto& [status, shown] : {std::pair{filter::CallStatus::successful, ""},
                                      std::pair{filter::CallStatus::detached, "close(3 <detached ...>\n"}}) {
    StageOptions options;
    options.pipeline.filter.end.status = {status};
    Stage stage(options);
    stage.enter(10, close_fd, 3);
    stage.happens(10, trace::Detached{});
    CHECK(stage.text() == shown);
    CHECK(stage.notes == "Process 10 detached\n");
  }
}

TEST_CASE("option -b execve lets a process go that starts another program, but not the launch") {
  StageOptions options;
  options.pipeline.detach_on_execve = true;
  options.pipeline.launched = true;
  Stage stage(options);
  stage.enter(10, execve, 0);
  CHECK(stage.happens(10, trace::Exec{10}) == trace::Verdict::go_on);
  stage.exit(10);
  stage.enter(10, execve, 0);
  CHECK(stage.happens(10, trace::Exec{10}) == trace::Verdict::detach);
}

TEST_CASE("option --syscall-limit ends tracing after so many lines") {
  StageOptions options;
  options.pipeline.syscall_limit = 2;
  Stage stage(options);
  CHECK(stage.call(10, getpid) == trace::Verdict::go_on);
  CHECK(stage.call(10, getpid) == trace::Verdict::detach_all);
}

TEST_CASE("a call that the filter leaves out is not decoded, an unknown number always shows") {
  StageOptions options;
  options.pipeline.filter.calls = {};
  options.pipeline.filter.calls.add(Abi::x86_64, getpid);
  Stage stage(options);
  stage.call(10, close_fd, 3);
  stage.call(10, getpid, 0, 10);
  stage.call(10, 999, 1, -38);
  CHECK(stage.text() ==
        "getpid()                                = 10\n"
        "syscall_0x3e7(0x1, 0, 0, 0, 0, 0)       = -1 ENOSYS (Function not implemented)\n");
}

TEST_CASE("option -P takes calls by the path they name or the descriptor they use, --trace-fds by descriptor") {
  StageOptions options;
  options.pipeline.filter.paths.add("/etc/passwd");
  options.pipeline.filter.trace_fds.emplace();
  options.pipeline.filter.trace_fds->add(4);
  Stage stage(options);
  stage.memory.put(0x1000, std::string("/etc/passwd\0", 12));
  stage.memory.put(0x2000, std::string("/etc/passwd2\0", 13));
  stage.call(10, open_path, 0x2000, 3);
  stage.call(10, open_path, 0x1000, 3);
  stage.call(10, close_fd, 3);
  stage.call(10, close_fd, 4);
  stage.call(10, close_fd, 7);
  stage.call(10, getpid);
  CHECK(stage.text() ==
        "open(\"/etc/passwd\")                     = 3\n"
        "close(4)                                = 0\n"
        "close(7</etc/passwd>)                   = 0\n");
}

TEST_CASE("prefixes stand in strace's order") {
  StageOptions options;
  options.text.prefix.clock = render::Clock::unix_time;
  options.text.prefix.clock_digits = 6;
  options.text.prefix.since_digits = 6;
  options.text.prefix.syscall_number = true;
  options.text.prefix.instruction_pointer = true;
  options.text.duration_digits = 6;
  Stage stage(options);
  stage.call(10, getpid, 0, 10);
  stage.happens(10, trace::Exited{0});
  CHECK(stage.text() ==
        "43200.001000 (+     0.000000) [   0] [0000000000401000] getpid() = 10 <0.001000>\n"
        "43200.003000 (+     0.002000) [   0] [????????????????] +++ exited with 0 +++\n");
}

TEST_CASE("option -e read= dumps what came in, in rows of sixteen") {
  StageOptions options;
  options.text.dump_reads.add(3);
  Stage stage(options);
  stage.memory.put(0x1000, "0123456789abcdef\n\x7f");
  stage.enter(10, read_fd, 3, 0x1000, 100);
  stage.exit(10, 18);
  stage.enter(10, read_fd, 4, 0x1000, 100);
  stage.exit(10, 1);
  CHECK(stage.text() ==
        "read(3, \"0123456789abcdef\\n\\177\", 100)  = 18\n"
        " | 00000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef |\n"
        " | 00010  0a 7f                                             ..               |\n"
        "read(4, \"0\", 100)                       = 1\n");
}

TEST_CASE("option -e write= dumps all that a call was given, sent or not, if all of it is there") {
  StageOptions options;
  options.text.dump_writes.add(3);
  Stage stage(options);
  const auto number = [](std::uint64_t value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  stage.memory.put(0x1000, "abc");
  stage.memory.put(0x2000, number(0x1000) + number(2) + number(0x1001) + number(3) + number(0x1001) + number(2));
  stage.enter(10, write_fd, 3, 0x1000, 3);
  stage.exit(10, -4);
  stage.enter(10, write_fd, 3, 0x1000, 4);
  stage.exit(10, 4);
  stage.enter(10, write_many, 3, 0x2000, 3);
  stage.exit(10, 1);
  stage.enter(10, write_many, 3, 0x2000, 4);
  stage.exit(10, 1);
  CHECK(stage.text() ==
        "write(3, 0x1000, 3)                     = -1 EINTR (Interrupted system call)\n"
        " | 00000  61 62 63                                          abc              |\n"
        "write(3, 0x1000, 4)                     = 4\n"
        "writev(3, 0x2000, 3)                    = 1\n"
        " * 2 bytes in buffer 0\n"
        " | 00000  61 62                                             ab               |\n"
        " * 3 bytes in buffer 1\n"
        " * 2 bytes in buffer 2\n"
        " | 00000  62 63                                             bc               |\n"
        "writev(3, 0x2000, 4)                    = 1\n");
}

TEST_CASE("a thread that pretends to be in any number of functions is followed in some, the innermost among them") {
  trace::LibraryFunction function;
  function.name = function.label = "hop";
  Stage stage;
  trace::LibraryEnter enter;
  enter.function = &function;
  for (enter.call = 1; enter.call < 2 * trace::most_open_calls; ++enter.call) {
    stage.happens(10, enter);
  }
  CHECK(stage.notes == "Thread 10 is in more than 65536 calls of functions: the ends of the outermost are not shown\n");
  const std::string begun = stage.text();
  trace::LibraryExit exit;
  exit.function = &function;
  for (exit.call = enter.call - 1; exit.call > 0; --exit.call) {
    stage.happens(10, exit);
  }
  const std::string ended = stage.text().substr(begun.size());
  const auto lines = static_cast<std::size_t>(std::count(ended.begin(), ended.end(), '\n'));
  CHECK(lines >= trace::most_open_calls / 2);
  CHECK(lines <= trace::most_open_calls);
}

}  // namespace tracer::test
