// The state of each thread, and the table of all threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text_buffer.h"
#include "decode/decoder.h"
#include "pipeline/sink/sink.h"
#include "pipeline/stack.h"
#include "pipeline/tampering.h"
#include "render/json_emitter.h"
#include "render/text_emitter.h"
#include "trace/event.h"
#include "trace/library_call.h"

namespace tracer::pipeline {

struct Thread;

/// A sink, and the thread whose unfinished line is the last in it.
struct Channel {
  std::unique_ptr<sink::Sink> sink;
  Thread* owner = nullptr;
  bool unflushed = false;
};

/// The current or last call of a thread.
struct OpenCall {
  bool open = false;              ///< entered and not ended
  bool shown = false;             ///< it has passed the filters so far, and is decoded
  TamperRules::Choice tampering;  ///< of tamper(); if there is any, the call has passed the filters
  decode::Entry entry;
  std::uint64_t number = 0;  ///< Filter::number_of(), for a system call
  decode::Depth depth;
  trace::EventTime entered;
  std::uint64_t lost_before = 0;  ///< events that the engine had lost at the entry
  bool end_is_lost = false;       ///< there is no exit, and it may be among events that were lost since the entry
  const trace::LibraryFunction* function = nullptr;  ///< null: a system call
  std::uint64_t function_call = 0;                   ///< LibraryEnter::call
  std::uint64_t result_address = 0;                  ///< LibraryEnter::result_address
  /// That of the last event that had one; empty if the thread has ended.
  std::optional<std::uint64_t> instruction_pointer;
};

/// The state of one call, which is stored while another call runs inside it.
struct CallRecord {
  using DecoderState = std::unique_ptr<decode::CallState, void (*)(decode::CallState*)>;

  explicit CallRecord(DecoderState decoder_state) : state(std::move(decoder_state)) {}

  OpenCall call;
  KeptStack entry_stack;  ///< with -k, for a call whose stack is lost when it ends; else empty
  DecoderState state;

  // The members below are for the views.
  TextBuffer line;              ///< the current line of the call, as far as it is known
  std::size_t handed_over = 0;  ///< how much of `line` the sink has
  bool interrupted = false;     ///< the line was ended with <unfinished ...>
  // The state of the emitter between the entry and the exit.
  render::TextEmitter::Progress text_progress;
  render::JsonEmitter::Progress json_progress;
};

/// A thread, and its innermost call.
struct Thread : CallRecord {
  explicit Thread(DecoderState decoder_state) : CallRecord(std::move(decoder_state)) {}

  pid_t tid = 0;
  pid_t tgid = 0;
  std::optional<Abi> abi;                 ///< of the last call; empty before the first
  std::optional<Abi> abi_of_new_program;  ///< set until the execve that started it has ended
  std::vector<CallRecord> outer;          ///< open functions around `call`, the outermost first
  std::vector<CallRecord> spare;          ///< for reuse
  bool in_hidden_call = false;            ///< inside a system call that is not shown, within `call`
  CallCounts call_counts;

  /// Puts the open call aside, before a call inside it. Returns whether the outermost calls were dropped for it.
  bool push_call(const decode::Decoder& decoder);
  /// Returns to the call around the one that has ended, if there is one.
  void pop_call();
  /// Makes a call of `outer` the innermost one.
  void resume_call(std::size_t index);

  // The members below are for the views.
  bool gone = false;             ///< it has ended, and /proc no longer has it
  std::string command;           ///< its command name at the last query; empty: not queried yet
  std::unique_ptr<Channel> own;  ///< with a file for each thread
  Channel* channel = nullptr;    ///< the channel of its lines
};

class ThreadTable {
 public:
  [[nodiscard]] Thread* find(pid_t tid) {
    if (last_ == nullptr || last_->tid != tid) {
      const auto at = threads_.find(tid);
      last_ = at == threads_.end() ? nullptr : at->second.get();
    }
    return last_;
  }
  Thread& add(std::unique_ptr<Thread> thread) {
    last_ = thread.get();
    threads_[thread->tid] = std::move(thread);
    return *last_;
  }
  std::unique_ptr<Thread> take(pid_t tid) {
    last_ = nullptr;
    auto node = threads_.extract(tid);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  template <typename Function>
  void for_each(Function function) {
    for (auto& [tid, thread] : threads_) {
      function(*thread);
    }
  }

 private:
  std::unordered_map<pid_t, std::unique_ptr<Thread>> threads_;
  Thread* last_ = nullptr;
};

}  // namespace tracer::pipeline
