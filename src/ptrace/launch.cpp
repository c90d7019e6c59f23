#include "ptrace/launch.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace tracer::ptrace {
namespace {

/// Stops `pid`, which waits behind the gate.
Result<Stopped> seize_and_stop(pid_t pid, unsigned ptrace_options) {
  Result<Running> seized = Running::seize(pid, ptrace_options);
  if (!seized) {
    const int why = seized.error().number;
    return Error{why, fmt::format("attach: ptrace(PTRACE_SEIZE, {}): {}", pid, std::strerror(why))};
  }
  Running running = std::move(seized).value();
  running.interrupt();
  auto waited = wait_for(std::move(running));
  if (!waited || !std::holds_alternative<Stopped>(waited.value())) {
    return Error{ESRCH, "The program was killed before it could start"};
  }
  return std::get<Stopped>(std::move(waited).value());
}

}  // namespace

Result<Launched> launch(const process::LaunchOptions& options, bool strict, unsigned ptrace_options,
                        std::span<const sock_filter> filter, std::optional<process::Interruptible> proxy,
                        const std::function<void(pid_t, int)>& on_child_end) {
  Result<process::StartedProgram> started = start_program(options, strict, filter);
  if (!started) {
    return started.error();
  }
  process::StartedProgram program = std::move(started).value();
  std::optional<ForegroundProxy> foreground;
  if (proxy && options.daemonize == process::Daemonize::no) {
    Result<ForegroundProxy> forked = ForegroundProxy::start(*proxy, [&](pid_t child, int status) {
      if (child != program.pid) {
        on_child_end(child, status);
      }
    });
    if (!forked) {
      return forked.error();
    }
    foreground = std::move(forked).value();
  }
  if (const Status waits = process::await_at_gate(program); !waits) {
    return waits.error();
  }
  Result<Stopped> stopped = seize_and_stop(program.pid, ptrace_options);
  if (!stopped) {
    return stopped.error();
  }
  return Launched{std::move(stopped).value(), std::move(program.gate.outer), std::move(foreground)};
}

}  // namespace tracer::ptrace
