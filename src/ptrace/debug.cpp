#include "ptrace/debug.h"

#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace tracer::ptrace {
namespace {

/// A child that only waits to be traced; it does not outlive this.
class TrialChild {
 public:
  TrialChild() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) {
        ::pause();
      }
    }
  }
  ~TrialChild() {
    if (pid_ > 0) {
      kill_and_collect(pid_);
    }
  }
  TrialChild(const TrialChild&) = delete;
  TrialChild& operator=(const TrialChild&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The child at the entry of its call; empty if it cannot be traced.
  [[nodiscard]] std::optional<Stopped> at_entry(unsigned options) const {
    auto seized = Running::seize(pid_, options);
    if (!seized || !seized.value().interrupt()) {
      return std::nullopt;
    }
    auto interrupted = next_stop(std::move(seized).value());
    return interrupted ? next_stop(std::move(*interrupted).resume(Resume::to_next_call, 0)) : std::nullopt;
  }

 private:
  static std::optional<Stopped> next_stop(Running thread) {
    auto waited = wait_for(std::move(thread));
    auto* stopped = waited ? std::get_if<Stopped>(&waited.value()) : nullptr;
    return stopped != nullptr ? std::optional(std::move(*stopped)) : std::nullopt;
  }

  pid_t pid_;
};

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : std::to_string(signal);
}

const char* event_name(int event) {
  switch (event) {
    case PTRACE_EVENT_FORK:
      return "FORK";
    case PTRACE_EVENT_VFORK:
      return "VFORK";
    case PTRACE_EVENT_CLONE:
      return "CLONE";
    case PTRACE_EVENT_EXEC:
      return "EXEC";
    case PTRACE_EVENT_EXIT:
      return "EXIT";
    case PTRACE_EVENT_SECCOMP:
      return "SECCOMP";
    case PTRACE_EVENT_STOP:
      return "STOP";
    default:
      return "?";
  }
}

}  // namespace

void debug_kernel(const std::function<void(const std::string&)>& say, unsigned ptrace_options) {
  const auto verdict = [&say](const char* what, bool works) {
    say(std::string(what) + (works ? " works" : " does not work"));
  };
  say(fmt::format("ptrace_setoptions = {:#x}", ptrace_options));
  const TrialChild child;
  const auto stopped = child.at_entry(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  if (!stopped) {
    say("a child cannot be traced, so that nothing else can work");
  }
  verdict("PTRACE_GET_SYSCALL_INFO", stopped && stopped->call_state().ok());
  verdict("PTRACE_SET_SYSCALL_INFO", stopped && stopped->can_set_call_state());
  verdict("PTRACE_O_EXITKILL", stopped.has_value());
}

void debug_report(const std::function<void(const std::string&)>& say, const Report& report) {
  const int status = report.status;
  std::string text = fmt::format("[wait({:#08x}) = {}] ", static_cast<unsigned>(status), report.tid());
  if (WIFEXITED(status)) {
    text += fmt::format("WIFEXITED,exitcode={}", WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    text += "WIFSIGNALED,sig=" + signal_name(WTERMSIG(status));
  } else {
    text += "WIFSTOPPED,sig=" + signal_name(WSTOPSIG(status));
    if (const int event = status >> 16; event != 0) {
      text += fmt::format(",EVENT_{} ({})", event_name(event), event);
    }
  }
  say(text);
}

}  // namespace tracer::ptrace
