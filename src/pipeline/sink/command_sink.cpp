#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/child.h"
#include "pipeline/sink/sink.h"

namespace tracer::pipeline::sink {

namespace {

class CommandSink final : public Sink {
 public:
  CommandSink(Child command, UniqueFd pipe, std::string name, Complain complain)
      : command_(std::move(command)),
        command_fd_(static_cast<int>(::syscall(SYS_pidfd_open, command_.pid(), 0))),
        sink_(std::make_unique<FdSink>(std::move(pipe), std::move(name), std::move(complain))) {}

  /// Flushes before it closes the pipe and waits for the command.
  ~CommandSink() override {
    sink_.reset();
    // The pidfd also works after the tracer has forked: the command is then a child of the tracer's parent, for which
    // waitpid does not wait.
    pollfd end{command_fd_.get(), POLLIN, 0};
    while (command_fd_.valid() && ::poll(&end, 1, -1) < 0 && errno == EINTR) {
    }
  }

  void write(std::string_view bytes) override { sink_->write(bytes); }
  void flush() override { sink_->flush(); }
  [[nodiscard]] pid_t reader() const override { return command_.pid(); }

 private:
  Child command_;
  UniqueFd command_fd_;  ///< a pidfd
  std::unique_ptr<FdSink> sink_;
};

void do_nothing(int) {}

/// Keeps SIGPIPE from killing the tracer. Unlike SIG_IGN, a handler is not inherited through execve.
void catch_sigpipe() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    now.sa_handler = do_nothing;
    now.sa_flags = SA_RESTART;
    ::sigaction(SIGPIPE, &now, nullptr);
  }
}

/// Starts a shell that runs `command` with `input` as its standard input.
Result<Child> start_shell(const std::string& command, const UniqueFd& input) {
  posix_spawn_file_actions_t actions;
  if (const int why = ::posix_spawn_file_actions_init(&actions); why != 0) {
    return Error{why, {}};
  }
  pid_t pid = 0;
  int why = ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  if (why == 0) {
    std::string shell = "sh";
    std::string option = "-c";
    std::string text = command;
    char* const words[] = {shell.data(), option.data(), text.data(), nullptr};
    why = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, words, environ);
  }
  ::posix_spawn_file_actions_destroy(&actions);
  if (why != 0) {
    return Error{why, {}};
  }
  return Child(pid);
}

}  // namespace

Result<std::unique_ptr<Sink>> open_command(const std::string& command, std::string name, Complain complain) {
  const auto failure = [&command](int number) {
    return Error{number, "Can't popen '" + command + "': " + std::strerror(number)};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) {
    return failure(errno);
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  if (write_end.get() <= STDERR_FILENO) {
    write_end.reset(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!write_end.valid()) {
      return failure(errno);
    }
  }
  Result<Child> shell = start_shell(command, read_end);
  if (!shell) {
    return failure(shell.error().number);
  }
  catch_sigpipe();
  return std::unique_ptr<Sink>(std::make_unique<CommandSink>(std::move(shell).value(), std::move(write_end),
                                                             std::move(name), std::move(complain)));
}

}  // namespace tracer::pipeline::sink
