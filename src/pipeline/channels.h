// The sinks of the lines: one for all threads, or a file for each thread.
#pragma once

#include <functional>
#include <vector>

#include "pipeline/thread.h"

namespace tracer::pipeline {

/// Opens the sink of one thread (FILE.TID). It never fails: a file that cannot be opened is replaced by a sink that
/// drops everything.
using OpenForThread = std::function<std::unique_ptr<sink::Sink>(pid_t)>;

class Channels {
 public:
  explicit Channels(std::unique_ptr<sink::Sink> common) { common_.sink = std::move(common); }
  explicit Channels(OpenForThread open) : open_(std::move(open)) {}

  [[nodiscard]] bool separate() const { return open_ != nullptr; }
  /// The child of this process that reads the output; 0 if there is none.
  [[nodiscard]] pid_t reader() const { return separate() ? 0 : common_.sink->reader(); }
  void assign(Thread& thread) {
    if (separate()) {
      thread.own = std::make_unique<Channel>();
      thread.own->sink = open_(thread.tid);
      thread.channel = thread.own.get();
    } else {
      thread.channel = &common_;
    }
  }
  void release(Thread& thread) {
    if (thread.channel->owner == &thread) {
      thread.channel->owner = nullptr;
    }
    if (thread.own) {
      std::erase(unflushed_, thread.own.get());
      thread.own.reset();
    }
    thread.channel = nullptr;
  }

  void write(Channel& channel, std::string_view text) {
    channel.sink->write(text);
    touch(channel);
  }
  /// Marks the channel for flush(): something was written to it, or its owner has started a line.
  void touch(Channel& channel) {
    if (!channel.unflushed) {
      channel.unflushed = true;
      unflushed_.push_back(&channel);
    }
  }
  template <typename HandOver>
  void flush(HandOver hand_over_line_of) {
    for (Channel* channel : unflushed_) {
      if (channel->owner != nullptr) {
        hand_over_line_of(*channel->owner);
      }
      channel->sink->flush();
      channel->unflushed = false;
    }
    unflushed_.clear();
  }
  /// Writes text that belongs to no thread. If each thread has a file, the text is dropped.
  void write_common(std::string_view text) {
    if (!separate()) {
      write(common_, text);
    }
  }
  /// Returns the thread whose unfinished line is the last of the common sink; null if there is none.
  [[nodiscard]] Thread* common_owner() const { return common_.owner; }

 private:
  Channel common_;  ///< has no sink if each thread has a file
  OpenForThread open_;
  std::vector<Channel*> unflushed_;
};

}  // namespace tracer::pipeline
