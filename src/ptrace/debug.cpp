// -d: what the engine found, in strace's form where strace says the same.
#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "ptrace/ptrace_engine.h"

namespace tracer::ptrace {
namespace {

/// A child that only waits to be tried out; it does not outlive this.
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

void PtraceEngine::debug_kernel() const {
  const auto verdict = [this](const char* what, bool works) {
    options_.debug(std::string(what) + (works ? " works" : " does not work"));
  };
  options_.debug(fmt::format("ptrace_setoptions = {:#x}", ptrace_options()));
  const TrialChild child;
  const auto stopped = child.at_entry(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  if (!stopped) {
    options_.debug("a child cannot be traced, so that nothing else can work");
  }
  verdict("PTRACE_GET_SYSCALL_INFO", stopped && stopped->call_state().ok());
  verdict("PTRACE_SET_SYSCALL_INFO", stopped && stopped->can_set_call_state());
  verdict("PTRACE_O_EXITKILL", stopped.has_value());
}

void PtraceEngine::debug_report(const Report& report) const {
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
  options_.debug(text);
}

}  // namespace tracer::ptrace
