// Packs blocks and hands them to their target, in a thread of its own.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>
#include <string>

#include "base/patience.h"
#include "replay/mark.h"
#include "replay/packer.h"
#include "replay/trace_writer.h"

namespace tracer::replay {

/// Who waits for a target that takes nothing gives up when `is_to_end` says so: then the thread lives on, with the
/// target, and `given_up` is called, after which the target must not complain to anybody.
struct Patience {
  IsToEnd is_to_end;
  std::function<void()> given_up;
};

class BlockWriter {
 public:
  /// `complain` hears if there can be no thread. `by_signal`: SIGUSR1 triggers the target, as well; the other threads
  /// have to block it.
  BlockWriter(std::unique_ptr<BlockTarget> target, bool by_signal, Complain complain, Patience patience = {});
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
  struct Job;
  class Work;

  void start();
  void push(Job job);
  void give_up();

  std::shared_ptr<Work> work_;
  bool by_signal_;
  Complain complain_;
  Patience patience_;
  pthread_t thread_{};
  enum class State : std::uint8_t { not_started, running, stopped };
  State state_ = State::not_started;  ///< the first block starts the thread: before, the tracer may fork
};

}  // namespace tracer::replay
