#include "ptrace/foreground_proxy.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "proc/pid_numbers.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"
#include "process/ending_signals.h"
#include "process/forwarded_signals.h"
#include "process/standard_streams.h"

namespace tracer::ptrace {
namespace {

/// Keeps nothing open but standard error and `kept`: whoever is at the other end of the program's input and output, or
/// reads the tracer's, waits for its end.
UniqueFd close_all_but(UniqueFd kept) {
  UniqueFd moved(::fcntl(kept.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  kept.reset();
  const auto number = static_cast<unsigned>(moved.get());
  if (number > STDERR_FILENO + 1) {
    ::close_range(STDERR_FILENO + 1, number - 1, 0);
  }
  ::close_range(number + 1, ~0U, 0);
  process::leave_standard_streams_to_program();
  return moved;
}

/// Continues what a tracer process that was killed may have left stopped: while records are read more slowly than
/// written, their writers are held by a SIGSTOP, of which only a tracer knows that it is none of the program's.
void continue_descendants(pid_t process, unsigned depth = 0) {
  constexpr unsigned deepest = 100;
  for (const pid_t thread : depth < deepest ? proc::threads_of(process) : std::vector<pid_t>()) {
    std::ifstream children(
        proc::proc_path(thread, "task/" + std::to_string(proc::number_in_proc(thread)) + "/children"));
    for (pid_t number = 0; children >> number;) {
      if (const pid_t child = proc::number_here(number); child > 0) {
        ::kill(child, SIGCONT);
        continue_descendants(child, depth + 1);
      }
    }
  }
}

/// The signals that the proxy waits for, and that must not end it.
sigset_t awaited_signals(process::Interruptible interruptible) {
  sigset_t awaited = process::ending_signals(interruptible).blocked;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGIO}) {
    sigaddset(&awaited, signal);
  }
  return awaited;
}

/// Waits for the status to end with, and forwards to the tracer process the signals that it would have got in our
/// place: all of `awaited`, which are blocked.
[[noreturn]] void run_proxy(pid_t tracer, UniqueFd status_pipe, const sigset_t& awaited,
                            const std::function<void(pid_t, int)>& on_child_end) {
  ::fcntl(status_pipe.get(), F_SETOWN, ::getpid());
  ::fcntl(status_pipe.get(), F_SETFL, O_NONBLOCK | O_ASYNC);
  for (;;) {
    int reported = 0;
    if (::read(status_pipe.get(), &reported, sizeof reported) == sizeof reported) {
      end_like(reported);
    }
    // The program is our child too, and we have to collect its exit status.
    while (const auto ended = collect_ended_child()) {
      if (ended->pid == tracer) {
        if (WIFSIGNALED(ended->status)) {
          continue_descendants(::getpid());
        }
        end_like(ended->status);
      }
      on_child_end(ended->pid, ended->status);
    }
    process::forward_signal(awaited, tracer);
  }
}

}  // namespace

int ForegroundProxy::died_signal() {
  return SIGRTMAX;
}

Result<ForegroundProxy> ForegroundProxy::start(process::Interruptible interruptible,
                                               const std::function<void(pid_t, int)>& on_child_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) {
    return Error{errno, std::string("pipe2: ") + std::strerror(errno)};
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t proxy = ::getpid();
  const process::DefaultChildAction collectable;
  // Before there is a tracer process, which may attach at once: a signal must find that process, too.
  const sigset_t awaited = awaited_signals(interruptible);
  sigset_t former;
  sigprocmask(SIG_BLOCK, &awaited, &former);
  const pid_t tracer = ::fork();
  if (tracer <= 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &former, nullptr);
    errno = error;
  }
  if (tracer < 0) {
    return Error{errno, std::string("fork: ") + std::strerror(errno)};
  }
  if (tracer > 0) {
    write_end.reset();
    run_proxy(tracer, close_all_but(std::move(read_end)), awaited, on_child_end);
  }
  sigset_t proxy_died;
  sigemptyset(&proxy_died);
  sigaddset(&proxy_died, died_signal());
  sigprocmask(SIG_BLOCK, &proxy_died, nullptr);
  ::prctl(PR_SET_PDEATHSIG, died_signal());
  if (::getppid() != proxy) {
    ::raise(died_signal());
  }
  return ForegroundProxy(std::move(write_end));
}

void ForegroundProxy::end(int wait_status) {
  ::prctl(PR_SET_PDEATHSIG, 0);
  // If it has ended already, nobody waits for this; SIGPIPE is blocked or harmless, as nothing follows.
  [[maybe_unused]] const ssize_t written = ::write(status_.get(), &wait_status, sizeof wait_status);
  status_.reset();
}

void end_like(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(signal, SIG_DFL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, signal);
    ::raise(signal);
    sigprocmask(SIG_UNBLOCK, &mask, nullptr);
    ::_exit(128 + signal);
  }
  ::_exit(WEXITSTATUS(wait_status));
}

}  // namespace tracer::ptrace
