#include "process/start_program.h"

#include <grp.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/child.h"

namespace tracer::process {
namespace {

Result<Gate> make_gate() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    return Error{errno, std::string("socketpair: ") + std::strerror(errno)};
  }
  return Gate{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool send_token(const UniqueFd& socket) {
  const char token = 1;
  return ::send(socket.get(), &token, 1, MSG_NOSIGNAL) == 1;
}

/// False when the other end is gone.
bool await_token(const UniqueFd& socket) {
  char token = 0;
  ssize_t got = 0;
  do {
    got = ::recv(socket.get(), &token, 1, 0);
  } while (got < 0 && errno == EINTR);
  return got == 1;
}

[[noreturn]] void die(const LaunchOptions& options, const char* what, int number, int status,
                      const std::string& advice = {}) {
  const std::string message =
      options.message_prefix + what + ": " + std::strerror(number) + (advice.empty() ? "" : ": " + advice) + "\n";
  // Nothing can be done if even this fails.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(status);
}

/// What to do about a failed execve; empty if errno says all.
std::string remedy(const std::string& path, int number) {
  struct stat info {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  switch (number) {
    case ENOENT:
      return there ? "the file is there, but the interpreter that it names is not" : "";
    case EACCES:
      return there && S_ISDIR(info.st_mode) ? "it is a directory, not a program"
             : there && (info.st_mode & 0111) == 0
                 ? "it is not marked as executable; chmod +x would do that"
                 : "this user may not run it, or its interpreter, or may not enter a directory on the way";
    case ENOEXEC:
      return "it is neither a program for this machine nor a script that begins with #!; start a script with its "
             "interpreter, as in sh " +
             path;
    default:
      return {};
  }
}

bool install_filter(std::span<const sock_filter> filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0) {
    return true;
  }
  // Without CAP_SYS_ADMIN a filter needs no_new_privs. That takes nothing from the program: set-user-ID bits and file
  // capabilities are ignored under an unprivileged tracer in any case (execve(2), "the process is being ptraced").
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/// Runs in the process that becomes the program. Nothing that this does before the execve is reported.
[[noreturn]] void become_program(const LaunchOptions& options, bool strict, std::span<const sock_filter> filter,
                                 Gate gate) {
  gate.outer.reset();
  // Yama's scope 1 lets only ancestors trace, and the tracer may be none.
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  if (!send_token(gate.inner) || !await_token(gate.inner)) {
    ::_exit(1);  // the tracer is gone or gave up, and has said why
  }
  ::prctl(PR_SET_PTRACER, 0, 0, 0, 0);
  // This comes before the identity changes, as root needs no no_new_privs for it.
  if (!filter.empty() && !install_filter(filter)) {
    die(options, "seccomp", errno, 1);
  }
  if (options.no_new_rights && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    die(options, "prctl", errno, 1);
  }
  if (options.identity) {
    const Identity& who = *options.identity;
    if (::setgroups(who.groups.size(), who.groups.data()) < 0) {
      die(options, "setgroups", errno, 1);
    }
    if (::setresgid(who.gid, who.gid, who.gid) < 0) {
      die(options, "setregid", errno, 1);
    }
    if (::setresuid(who.uid, who.uid, who.uid) < 0) {
      die(options, "setreuid", errno, 1);
    }
  }
  for (const std::string& change : options.environment) {
    // Unlike setenv it takes an empty name, and without '=' it removes. The string outlives the execve.
    ::putenv(const_cast<char*>(change.c_str()));
  }
  std::vector<char*> args;
  args.reserve(options.args.size() + 1);
  for (const std::string& arg : options.args) {
    args.push_back(const_cast<char*>(arg.c_str()));
  }
  args.push_back(nullptr);
  if (options.stack_limit && ::setrlimit(RLIMIT_STACK, &*options.stack_limit) != 0) {
    die(options, "setrlimit", errno, 1);
  }
  ::execve(options.path.c_str(), args.data(), environ);
  const int why = errno;
  [[maybe_unused]] const ssize_t sent = ::send(gate.inner.get(), &why, sizeof why, MSG_NOSIGNAL);
  if (strict) {
    die(options, "exec", why, 1);
  }
  die(options, "exec", why, why == ENOENT ? 127 : 126, remedy(options.path, why));
}

/// -D: this process becomes the program, and a grandchild of it is the tracer. Returns in the grandchild, with the id
/// of the process that it left behind.
Result<pid_t> step_aside(const LaunchOptions& options, bool strict, std::span<const sock_filter> filter, Gate& gate) {
  const pid_t program = ::getpid();
  auto child = Child::fork();
  if (!child) {
    return child.error();
  }
  if (child.value().valid()) {
    child.value().wait();
    become_program(options, strict, filter, std::move(gate));
  }
  if (options.daemonize == Daemonize::process_group) {
    ::setpgid(0, 0);
  } else if (options.daemonize == Daemonize::session) {
    ::setsid();
  }
  const pid_t grandchild = ::fork();
  if (grandchild != 0) {
    ::_exit(grandchild < 0);
  }
  return program;
}

}  // namespace

Result<StartedProgram> start_program(const LaunchOptions& options, bool strict, std::span<const sock_filter> filter) {
  Result<Gate> made = make_gate();
  if (!made) {
    return made.error();
  }
  Gate gate = std::move(made).value();
  pid_t pid = 0;
  if (options.daemonize != Daemonize::no) {
    const Result<pid_t> left_behind = step_aside(options, strict, filter, gate);
    if (!left_behind) {
      return left_behind.error();
    }
    pid = left_behind.value();
  } else {
    pid = ::fork();
    if (pid < 0) {
      return Error{errno, std::string("fork: ") + std::strerror(errno)};
    }
    if (pid == 0) {
      become_program(options, strict, filter, std::move(gate));
    }
  }
  return StartedProgram{pid, std::move(gate)};
}

Status await_at_gate(StartedProgram& program) {
  program.gate.inner.reset();
  if (!await_token(program.gate.outer)) {
    return Error{ESRCH, "The program was killed before it could start"};
  }
  return Done{};
}

void open_gate(UniqueFd& gate) {
  send_token(gate);
  gate.reset();
}

int open_gate_and_await_exec(UniqueFd& gate) {
  send_token(gate);
  int why = 0;
  ssize_t got = 0;
  do {
    got = ::recv(gate.get(), &why, sizeof why, 0);
  } while (got < 0 && errno == EINTR);
  gate.reset();
  return got == sizeof why ? why : 0;
}

void send_ending_signal(pid_t pid, int signal) {
  ::kill(pid, SIGCONT);
  ::kill(pid, signal);
}

std::optional<int> collect_program(const StartedProgram& program) {
  const auto ended = collect_ended_child(program.pid);
  return ended ? std::optional(ended->status) : std::nullopt;
}

}  // namespace tracer::process
