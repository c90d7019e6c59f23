// Packs blocks and hands them to their target, in a thread of its own.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "replay/mark.h"
#include "replay/packer.h"
#include "replay/trace_writer.h"

namespace tracer::replay {

class BlockWriter {
 public:
  /// `complain` hears if there can be no thread. `by_signal`: SIGUSR1 triggers the target, as well; the other threads
  /// have to block it.
  BlockWriter(std::unique_ptr<BlockTarget> target, bool by_signal, Complain complain);
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;
  /// Hands over what is left, and ends the target.
  ~BlockWriter();

  /// Hands a block over, and waits if too many are not yet written. Takes the content of `block`, which gets the memory
  /// of an older one.
  void write(const Mark& mark, std::string& block);
  /// Triggers the target behind all blocks so far.
  void trigger();
  [[nodiscard]] bool by_signal() const { return by_signal_; }

 private:
  struct Job {
    Mark mark;
    std::string block;
    bool is_trigger = false;
  };
  static constexpr std::size_t most_waiting = 16;

  static void* run(void* writer);
  void work();
  void start();
  void push(Job job);
  void do_job(const Job& job);

  std::unique_ptr<BlockTarget> target_;
  bool by_signal_;
  Complain complain_;
  Packer packer_;
  bool broken_ = false;  ///< of the thread: a block is missing

  pthread_t thread_{};
  enum class State : std::uint8_t { not_started, running, failed };
  State state_ = State::not_started;  ///< the first block starts the thread: before, the tracer may fork
  std::mutex mutex_;                  ///< of all below
  std::condition_variable changed_;
  std::deque<Job> waiting_;
  std::vector<std::string> spare_;
  bool ending_ = false;
};

}  // namespace tracer::replay
