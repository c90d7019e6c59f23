#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/write_all.h"
#include "pipeline/sink/patient_sink.h"
#include "pipeline/sink/sink.h"

namespace tracer::pipeline::sink {

FdSink::FdSink(UniqueFd fd, std::string name, Complain complain)
    : fd_(std::move(fd)),
      name_(std::move(name)),
      complain_(std::move(complain)),
      buffer_(std::make_unique_for_overwrite<char[]>(buffer_size)) {}

FdSink::~FdSink() {
  flush();
}

void FdSink::write(std::string_view bytes) {
  if (bytes.size() > buffer_size - used_) {
    flush();
  }
  if (bytes.size() >= buffer_size) {
    write_out(bytes);
    return;
  }
  used_ += bytes.copy(buffer_.get() + used_, bytes.size());
}

void FdSink::flush() {
  write_out({buffer_.get(), used_});
  used_ = 0;
}

void FdSink::write_out(std::string_view bytes) {
  if (broken_) {
    return;
  }
  if (const int why = write_all(fd_.get(), bytes); why != 0) {
    broken_ = true;
    complain_(name_ + ": " + std::strerror(why));
  }
}

Result<std::unique_ptr<Sink>> open_standard_error(Complain complain) {
  // Tracing works with a closed standard error, too: the duplicate is then invalid and the first write fails unnoticed.
  UniqueFd copy(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  return std::unique_ptr<Sink>(std::make_unique<FdSink>(std::move(copy), "standard error", std::move(complain)));
}

Result<UniqueFd> open_for_writing(const std::string& path, bool append) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
  UniqueFd fd(::open(path.c_str(), flags, 0666));
  if (!fd.valid()) {
    const int number = errno;
    return Error{number, "Can't fopen '" + path + "': " + std::strerror(number)};
  }
  return fd;
}

Result<std::unique_ptr<Sink>> open_file(const std::string& path, bool append, Complain complain) {
  auto fd = open_for_writing(path, append);
  if (!fd) {
    return fd.error();
  }
  return std::unique_ptr<Sink>(std::make_unique<FdSink>(std::move(fd).value(), path, std::move(complain)));
}

std::unique_ptr<Sink> open_file_or_drop(const std::string& path, bool append, const Complain& complain) {
  auto opened = open_file(path, append, complain);
  if (opened) {
    return std::move(opened).value();
  }
  complain(opened.error().message);
  return std::make_unique<FdSink>(UniqueFd(), path, [](std::string_view) {});
}

}  // namespace tracer::pipeline::sink
