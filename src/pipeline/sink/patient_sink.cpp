#include "pipeline/sink/patient_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/write_all.h"

namespace tracer::pipeline::sink {
namespace {

/// A file that the thread writes to, and opens first where that is yet to be done.
struct File {
  std::string path;
  bool append = false;
  UniqueFd fd;
  bool broken = false;  ///< its bytes are lost; changes under the Writer's mutex
};

/// Returns why the bytes are lost; empty: they are not.
std::string carry_out(File& file, std::string_view bytes) {
  if (!file.fd.valid()) {
    auto opened = open_for_writing(file.path, file.append);
    if (!opened) {
      return opened.error().message;
    }
    file.fd = std::move(opened).value();
  }
  const int error = write_all(file.fd.get(), bytes);
  return error == 0 ? std::string() : file.path + ": " + std::strerror(error);
}

/// What the thread shares with the tracer. It lives as long as either.
class Writer {
 public:
  /// False: there can be no thread.
  static bool start(const std::shared_ptr<Writer>& writer) {
    // Signals are for the thread that traces.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    auto owner = std::make_unique<std::shared_ptr<Writer>>(writer);
    pthread_t thread{};
    const bool started = ::pthread_create(&thread, nullptr, &Writer::run, owner.get()) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) {
      static_cast<void>(owner.release());
      ::pthread_detach(thread);
    }
    return started;
  }

  /// Waits until all is written that was handed over; false: it gives up.
  bool wait(const IsToEnd& is_to_end, unsigned most_looks) {
    std::unique_lock lock(mutex_);
    return wait_patiently(changed_, lock, is_to_end, most_looks, [this] { return file_ == nullptr; });
  }
  /// Takes the bytes, when all before them are written.
  void hand(const std::shared_ptr<File>& file, std::string& bytes) {
    const std::lock_guard lock(mutex_);
    file_ = file;
    bytes_.swap(bytes);
    changed_.notify_all();
  }
  /// Returns what was lost since the last time, a sentence for each file.
  std::vector<std::string> take_losses() {
    const std::lock_guard lock(mutex_);
    return std::exchange(losses_, {});
  }
  bool is_broken(const File& file) {
    const std::lock_guard lock(mutex_);
    return file.broken;
  }
  /// Returns the path of the file that is being written.
  std::string path() {
    const std::lock_guard lock(mutex_);
    return file_ == nullptr ? std::string() : file_->path;
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }

 private:
  static void* run(void* argument) {
    const std::unique_ptr<std::shared_ptr<Writer>> writer(static_cast<std::shared_ptr<Writer>*>(argument));
    (*writer)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || file_ != nullptr; });
      if (file_ == nullptr) {
        return;
      }
      // Nobody touches what was handed over before it is gone.
      lock.unlock();
      std::string loss = file_->broken ? std::string() : carry_out(*file_, bytes_);
      lock.lock();
      if (!loss.empty()) {
        file_->broken = true;
        losses_.push_back(std::move(loss));
      }
      bytes_.clear();
      const std::shared_ptr<File> written = std::exchange(file_, nullptr);  // may be the last to have it
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::shared_ptr<File> file_;  ///< whose bytes were handed over; null: nothing is to be done
  std::string bytes_;
  std::vector<std::string> losses_;
  bool ends_ = false;
};

}  // namespace

/// The tracer's side, for all sinks.
class PatientFiles::Desk {
 public:
  Desk(IsToEnd is_to_end, Complain complain) : is_to_end_(std::move(is_to_end)), complain_(std::move(complain)) {}
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() {
    if (state_ == State::running && is_idle(very_last_look)) {
      complain_of_losses();
    }
    writer_->end();
  }

  /// Takes the bytes. False: what follows them would be lost.
  bool hand(const std::shared_ptr<File>& file, std::string& bytes) {
    if (state_ == State::not_started) {
      state_ = Writer::start(writer_) ? State::running : State::failed;
    }
    if (state_ == State::failed) {
      const std::string loss = carry_out(*file, bytes);
      if (!loss.empty()) {
        complain_(loss);
      }
      return loss.empty();
    }
    if (!is_idle(last_look)) {
      return false;
    }
    complain_of_losses();
    if (writer_->is_broken(*file)) {
      return false;
    }
    writer_->hand(file, bytes);
    return true;
  }

 private:
  bool is_idle(unsigned most_looks) {
    if (!stuck_ && !writer_->wait(is_to_end_, most_looks)) {
      stuck_ = true;
      complain_(writer_->path() + ": it takes nothing, and the rest of the output is lost");
    }
    return !stuck_;
  }

  void complain_of_losses() {
    for (const std::string& loss : writer_->take_losses()) {
      complain_(loss);
    }
  }

  std::shared_ptr<Writer> writer_ = std::make_shared<Writer>();
  IsToEnd is_to_end_;
  Complain complain_;
  enum class State : std::uint8_t { not_started, running, failed };
  State state_ = State::not_started;  ///< what is handed over first starts the thread: before, the tracer may fork
  bool stuck_ = false;
};

class PatientFiles::PatientSink final : public Sink {
 public:
  PatientSink(std::shared_ptr<Desk> desk, File file)
      : desk_(std::move(desk)), file_(std::make_shared<File>(std::move(file))) {}
  ~PatientSink() override { flush(); }

  void open() { broken_ = !desk_->hand(file_, buffer_); }

  void write(std::string_view bytes) override {
    if (broken_) {
      return;
    }
    buffer_.append(bytes);
    if (buffer_.size() >= FdSink::buffer_size) {
      flush();
    }
  }

  void flush() override {
    if (!broken_ && !buffer_.empty()) {
      broken_ = !desk_->hand(file_, buffer_);
      buffer_.clear();
    }
  }

 private:
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<File> file_;
  std::string buffer_;
  bool broken_ = false;
};

PatientFiles::PatientFiles(IsToEnd is_to_end, Complain complain)
    : desk_(std::make_shared<Desk>(std::move(is_to_end), std::move(complain))) {}

Result<std::unique_ptr<Sink>> PatientFiles::open(const std::string& path, bool append) const {
  auto fd = open_for_writing(path, append);
  if (!fd) {
    return fd.error();
  }
  return std::unique_ptr<Sink>(std::make_unique<PatientSink>(desk_, File{path, append, std::move(fd).value()}));
}

std::unique_ptr<Sink> PatientFiles::open_or_drop(const std::string& path, bool append) const {
  auto sink = std::make_unique<PatientSink>(desk_, File{path, append, UniqueFd()});
  sink->open();
  return sink;
}

}  // namespace tracer::pipeline::sink
