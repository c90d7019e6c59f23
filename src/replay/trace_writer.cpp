#include "replay/trace_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/write_all.h"

namespace tracer::replay {
namespace {

/// How long a flight recorder writes on after a trigger.
constexpr std::chrono::seconds aftermath(2);

}  // namespace

Result<UniqueFd> open_for_recording(const std::string& path) {
  constexpr mode_t owner_only = 0600;  // there may be secrets in what a program reads and writes
  UniqueFd file(path == "-" ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                            : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, owner_only));
  struct stat status;
  if (!file.valid() || ::fstat(file.get(), &status) != 0) {
    return Error{errno, path + ": " + std::strerror(errno)};
  }
  if (path != "-" && S_ISREG(status.st_mode)) {
    static_cast<void>(::fchmod(file.get(), owner_only));  // another's file keeps its mode
  }
  return file;
}

// ---------------------------------------------------------------------------------------------- a file

TraceWriter::TraceWriter(UniqueFd file, std::string name, Complain complain)
    : file_(std::move(file)), name_(std::move(name)), complain_(std::move(complain)) {}

void TraceWriter::write(const PackedBlock& block) {
  append(frames_, {static_cast<std::uint32_t>(mark_size), 0});
  append(frames_, {static_cast<std::uint32_t>(block.bytes.size() - mark_size), block.size});
  write_out(block.bytes);
}

void TraceWriter::finish() {
  write_out(seek_table(frames_));
  file_.reset();
}

void TraceWriter::write_out(std::string_view bytes) {
  if (broken_) {
    return;
  }
  if (const int why = write_all(file_.get(), bytes); why != 0) {
    broken_ = true;
    complain_(name_ + ": " + std::strerror(why) + "; the rest is not recorded");
  }
}

// ---------------------------------------------------------------------------------------------- flight recorder

void RingTarget::take(const Mark& mark, PackedBlock block) {
  if (mark.sequence == 0) {
    head_ = std::move(block);
    if (std::exchange(is_due_, false)) {
      trigger();
    }
    return;
  }
  if (file_) {
    file_->write(block);
    if (mark.last >= until_) {
      file_->finish();
      file_.reset();
    }
  }
  bytes_ += block.bytes.size();
  held_.push_back({mark, std::move(block)});
  drop_old();
}

void RingTarget::drop_old() {
  const auto is_old = [this](const Held& held) {
    return bytes_ > limits_.bytes || (limits_.time && held_.back().mark.last - held.mark.last > *limits_.time);
  };
  while (held_.size() > 1 && is_old(held_.front())) {
    bytes_ -= held_.front().block.bytes.size();
    held_.pop_front();
  }
}

void RingTarget::trigger() {
  until_ = clock_now(CLOCK_REALTIME) + aftermath;
  if (file_) {
    return;
  }
  if (head_.bytes.empty()) {  // a file begins with it
    is_due_ = true;
    return;
  }
  const std::string name = ++files_ == 1 ? path_ : path_ + '.' + std::to_string(files_);
  auto opened = open_for_recording(name);
  if (!opened) {
    complain_(opened.error().message);
    return;
  }
  file_.emplace(std::move(opened).value(), name, complain_);
  file_->write(head_);
  for (const Held& held : held_) {
    file_->write(held.block);
  }
}

void RingTarget::end() {
  if (file_) {
    file_->finish();
    file_.reset();
  }
}

}  // namespace tracer::replay
