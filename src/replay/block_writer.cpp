#include "replay/block_writer.h"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <utility>

namespace tracer::replay {
namespace {

/// How often the thread looks for SIGUSR1.
constexpr std::chrono::milliseconds signal_interval(200);

bool take_signal() {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGUSR1);
  constexpr timespec now{};
  return ::sigtimedwait(&awaited, nullptr, &now) == SIGUSR1;
}

}  // namespace

BlockWriter::BlockWriter(std::unique_ptr<BlockTarget> target, bool by_signal, Complain complain)
    : target_(std::move(target)), by_signal_(by_signal), complain_(std::move(complain)) {}

BlockWriter::~BlockWriter() {
  if (state_ == State::running) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    ::pthread_join(thread_, nullptr);
  }
}

void BlockWriter::start() {
  // Signals are for the thread that traces. EPIPE and EFBIG come without a signal where it is blocked.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, nullptr, &BlockWriter::run, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state_ = error == 0 ? State::running : State::failed;
  if (error != 0) {
    complain_(std::string("nothing is recorded: ") + std::strerror(error));
  }
}

void BlockWriter::push(Job job) {
  if (state_ == State::not_started) {
    start();
  }
  if (state_ == State::running) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < most_waiting; });
    waiting_.push_back(std::move(job));
    lock.unlock();
    changed_.notify_all();
  }
}

void BlockWriter::write(const Mark& mark, std::string& block) {
  Job job;
  job.mark = mark;
  job.block.swap(block);
  push(std::move(job));
  const std::lock_guard lock(mutex_);
  if (!spare_.empty()) {
    block.swap(spare_.back());
    spare_.pop_back();
    block.clear();
  }
}

void BlockWriter::trigger() {
  Job job;
  job.is_trigger = true;
  push(std::move(job));
}

void* BlockWriter::run(void* writer) {
  static_cast<BlockWriter*>(writer)->work();
  return nullptr;
}

void BlockWriter::work() {
  std::unique_lock lock(mutex_);
  const auto is_due = [this] { return ending_ || !waiting_.empty(); };
  while (true) {
    if (by_signal_) {
      changed_.wait_for(lock, signal_interval, is_due);
      if (take_signal()) {
        target_->trigger();
      }
    } else {
      changed_.wait(lock, is_due);
    }
    if (!waiting_.empty()) {
      Job job = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      changed_.notify_all();
      do_job(job);
      lock.lock();
      spare_.push_back(std::move(job.block));
    } else if (ending_) {
      break;
    }
  }
  target_->end();
}

void BlockWriter::do_job(const Job& job) {
  if (job.is_trigger) {
    target_->trigger();
    return;
  }
  if (broken_) {
    return;  // readers end where a block is missing
  }
  auto packed = packer_.pack(job.mark, job.block);
  if (!packed) {
    broken_ = true;
    complain_("a block of the recording cannot be compressed; the rest is not recorded");
    return;
  }
  target_->take(job.mark, std::move(*packed));
}

}  // namespace tracer::replay
