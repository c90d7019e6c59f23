#include "pipeline/sink/patient_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "base/write_all.h"

namespace tracer::pipeline::sink {
namespace {

/// How often who waits asks whether it is to end, and how often the answer is yes before it gives up: long before a
/// watchdog would take it for lost (process/watchdog.h).
constexpr std::chrono::milliseconds look_interval(20);
constexpr unsigned last_look = 20;
/// The same at the end, when nobody is left who waits for the tracer but its user.
constexpr unsigned very_last_look = 10 * last_look;

/// What the thread shares with the sink. It lives as long as either.
class Writer {
 public:
  explicit Writer(UniqueFd fd) : fd_(std::move(fd)) {}

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

  /// Waits until all is written that was handed over; false if `gives_up` says so, which is asked now and then.
  template <typename GivesUp>
  bool wait(const GivesUp& gives_up) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_interval, [this] { return handed_.empty(); })) {
      if (gives_up()) {
        return false;
      }
    }
    return true;
  }
  /// Takes the bytes, when all before them are written. Returns why earlier ones could not be written; 0: they were.
  int hand(std::string& bytes) {
    const std::lock_guard lock(mutex_);
    handed_.swap(bytes);
    changed_.notify_all();
    return error_;
  }
  int end() {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
    return error_;
  }
  int write_here(std::string_view bytes) { return write_all(fd_.get(), bytes); }

 private:
  static void* run(void* argument) {
    const std::unique_ptr<std::shared_ptr<Writer>> writer(static_cast<std::shared_ptr<Writer>*>(argument));
    (*writer)->work();
    return nullptr;
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || !handed_.empty(); });
      if (handed_.empty()) {
        return;
      }
      // Nobody touches what was handed over before it is gone.
      lock.unlock();
      const int error = write_all(fd_.get(), handed_);
      lock.lock();
      error_ = error_ != 0 ? error_ : error;
      handed_.clear();
      changed_.notify_all();
    }
  }

  UniqueFd fd_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::string handed_;
  bool ends_ = false;
  int error_ = 0;
};

class PatientSink final : public Sink {
 public:
  PatientSink(UniqueFd fd, std::string name, std::function<bool()> is_to_end, Complain complain)
      : writer_(std::make_shared<Writer>(std::move(fd))),
        name_(std::move(name)),
        is_to_end_(std::move(is_to_end)),
        complain_(std::move(complain)) {}
  ~PatientSink() override {
    flush();
    if (!broken_ && state_ == State::running && is_written(very_last_look)) {
      complain_of(writer_->end());
    } else {
      static_cast<void>(writer_->end());
    }
  }

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
    if (broken_ || buffer_.empty()) {
      return;
    }
    if (state_ == State::not_started) {
      state_ = Writer::start(writer_) ? State::running : State::failed;
    }
    if (state_ == State::failed) {
      complain_of(writer_->write_here(buffer_));
    } else if (is_written()) {
      complain_of(writer_->hand(buffer_));
    }
    buffer_.clear();
  }

 private:
  bool is_written(unsigned most_looks = last_look) {
    unsigned looks = 0;
    const auto gives_up = [&] {
      looks = is_to_end_() ? looks + 1 : 0;
      return looks == most_looks;
    };
    if (!writer_->wait(gives_up)) {
      broken_ = true;
      complain_(name_ + ": it takes nothing, and the rest of the output is lost");
    }
    return !broken_;
  }

  void complain_of(int error) {
    if (error != 0 && !std::exchange(broken_, true)) {
      complain_(name_ + ": " + std::strerror(error));
    }
  }

  std::shared_ptr<Writer> writer_;
  std::string name_;
  std::function<bool()> is_to_end_;
  Complain complain_;
  std::string buffer_;
  enum class State : std::uint8_t { not_started, running, failed };
  State state_ = State::not_started;  ///< what is written first starts the thread: before, the tracer may fork
  bool broken_ = false;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_file_patiently(const std::string& path, bool append, std::function<bool()> is_to_end,
                                                  Complain complain) {
  auto fd = open_for_writing(path, append);
  if (!fd) {
    return fd.error();
  }
  return std::unique_ptr<Sink>(
      std::make_unique<PatientSink>(std::move(fd).value(), path, std::move(is_to_end), std::move(complain)));
}

}  // namespace tracer::pipeline::sink
