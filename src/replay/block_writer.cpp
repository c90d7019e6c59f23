#include "replay/block_writer.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

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

struct BlockWriter::Job {
  Mark mark;
  std::string block;
  bool is_trigger = false;
};

/// What the thread shares with the writer. It lives as long as either.
class BlockWriter::Work {
 public:
  Work(std::unique_ptr<BlockTarget> target, bool by_signal, Complain complain)
      : target_(std::move(target)), by_signal_(by_signal), complain_(std::move(complain)) {
    spare_.reserve(most_waiting + 2);  // what waits, what the thread has, and what the writer fills
  }

  static void* run(void* argument) {
    const std::unique_ptr<std::shared_ptr<Work>> work(static_cast<std::shared_ptr<Work>*>(argument));
    (*work)->do_jobs();
    return nullptr;
  }

  /// Waits if too many jobs are not yet done. False: it gives up.
  bool push(Job job, const IsToEnd& is_to_end) {
    std::unique_lock lock(mutex_);
    if (!wait_patiently(changed_, lock, is_to_end, last_look, [this] { return waiting_.size() < most_waiting; })) {
      return false;
    }
    waiting_.push_back(std::move(job));
    lock.unlock();
    changed_.notify_all();
    return true;
  }
  /// The memory of a block that is done; empty if there is none.
  std::string take_spare() {
    const std::lock_guard lock(mutex_);
    std::string block;
    if (!spare_.empty()) {
      block.swap(spare_.back());
      spare_.pop_back();
      block.clear();
    }
    return block;
  }
  /// Waits until all jobs are done. False: it gives up.
  bool end(const IsToEnd& is_to_end) {
    std::unique_lock lock(mutex_);
    ending_ = true;
    changed_.notify_all();
    return wait_patiently(changed_, lock, is_to_end, very_last_look, [this] { return ended_; });
  }
  /// There are no more jobs.
  void abandon() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t most_waiting = 16;

  void do_jobs() {
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
    lock.unlock();
    unless_out_of_memory([this] { target_->end(); });
    lock.lock();
    ended_ = true;
    changed_.notify_all();
  }

  void do_job(const Job& job) {
    unless_out_of_memory([&] {
      if (job.is_trigger) {
        target_->trigger();
      } else if (!broken_) {  // readers end where a block is missing
        pack(job);
      }
    });
  }

  /// Nobody catches what a thread's function throws.
  template <typename Do>
  void unless_out_of_memory(Do act) {
    try {
      act();
    } catch (const std::bad_alloc&) {
      lose_rest();
    }
  }

  void pack(const Job& job) {
    auto packed = packer_.pack(job.mark, job.block);
    if (packed) {
      target_->take(job.mark, std::move(*packed));
    } else {
      lose_rest();
    }
  }

  void lose_rest() {
    if (!std::exchange(broken_, true)) {
      complain_("a block of the recording cannot be compressed; the rest is not recorded");
    }
  }

  // The thread's alone.
  std::unique_ptr<BlockTarget> target_;
  bool by_signal_;
  Complain complain_;
  Packer packer_;
  bool broken_ = false;  ///< a block is missing

  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<std::string> spare_;
  bool ending_ = false;
  bool ended_ = false;
};

BlockWriter::BlockWriter(std::unique_ptr<BlockTarget> target, bool by_signal, Complain complain, Patience patience)
    : work_(std::make_shared<Work>(std::move(target), by_signal, complain)),
      by_signal_(by_signal),
      complain_(std::move(complain)),
      patience_(std::move(patience)) {}

BlockWriter::~BlockWriter() {
  if (state_ != State::running) {
    return;
  }
  if (work_->end(patience_.is_to_end)) {
    ::pthread_join(thread_, nullptr);
  } else {
    give_up();
  }
}

void BlockWriter::give_up() {
  state_ = State::stopped;
  ::pthread_detach(thread_);
  work_->abandon();
  patience_.given_up();
}

void BlockWriter::start() {
  // Signals are for the thread that traces. EPIPE and EFBIG come without a signal where it is blocked.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto work = std::make_unique<std::shared_ptr<Work>>(work_);
  const int error = ::pthread_create(&thread_, nullptr, &Work::run, work.get());
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) {
    static_cast<void>(work.release());
    state_ = State::running;
  } else {
    state_ = State::stopped;
    complain_(std::string("nothing is recorded: ") + std::strerror(error));
  }
}

void BlockWriter::push(Job job) {
  if (state_ == State::not_started) {
    start();
  }
  if (state_ == State::running && !work_->push(std::move(job), patience_.is_to_end)) {
    give_up();
  }
}

void BlockWriter::write(const Mark& mark, std::string& block) {
  Job job;
  job.mark = mark;
  job.block.swap(block);
  push(std::move(job));
  block = work_->take_spare();
}

void BlockWriter::trigger() {
  Job job;
  job.is_trigger = true;
  push(std::move(job));
}

}  // namespace tracer::replay
