#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sink/sink.h"

namespace tracer::sink {

namespace {

struct ClosePipe {
  void operator()(std::FILE* stream) const { ::pclose(stream); }
};
using Pipe = std::unique_ptr<std::FILE, ClosePipe>;

/// The last bytes must be in the pipe before the stream is closed and the command waited for: members are destroyed
/// in reverse order.
class CommandSink final : public Sink {
 public:
  CommandSink(Pipe pipe, UniqueFd fd, std::string name, Complain complain)
      : pipe_(std::move(pipe)), sink_(std::make_unique<FdSink>(std::move(fd), std::move(name), std::move(complain))) {}

  void write(std::string_view bytes) override { sink_->write(bytes); }
  void flush() override { sink_->flush(); }

 private:
  Pipe pipe_;
  std::unique_ptr<FdSink> sink_;
};

void do_nothing(int) {}

/// A reader that goes away must not kill the tracer. A handler, unlike SIG_IGN, is not inherited through execve.
void survive_broken_pipes() {
  struct sigaction now {};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    now.sa_handler = do_nothing;
    now.sa_flags = SA_RESTART;
    ::sigaction(SIGPIPE, &now, nullptr);
  }
}

}  // namespace

Result<std::unique_ptr<Sink>> open_command(const std::string& command, std::string name, Complain complain) {
  Pipe pipe(::popen(command.c_str(), "we"));
  if (!pipe) {
    const int number = errno;
    return Error{number, "Can't popen '" + command + "': " + std::strerror(number)};
  }
  UniqueFd copy(::fcntl(::fileno(pipe.get()), F_DUPFD_CLOEXEC, 3));
  if (!copy.valid()) {
    const int number = errno;
    return Error{number, "Can't popen '" + command + "': " + std::strerror(number)};
  }
  survive_broken_pipes();
  return std::unique_ptr<Sink>(
      std::make_unique<CommandSink>(std::move(pipe), std::move(copy), std::move(name), std::move(complain)));
}

}  // namespace tracer::sink
