// --explain: tells the explainer's story what the pipeline shows, and passes everything on to another view where a
// full trace is kept as well.
#pragma once

#include <unordered_map>

#include "explain/record_emitter.h"
#include "explain/story.h"
#include "trace/pipeline_view.h"

namespace tracer::pipeline {

class ExplainView final : public View {
 public:
  /// `decoder`: one that cuts no text that matters. `trace`: may be nullptr. All outlive the view.
  ExplainView(const spec::Tables& tables, const decode::Decoder& decoder, explain::Story& story, Abi native,
              View* trace);

  void thread_appears(Thread& thread) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const Memory& memory) override;
  void call_is_lost(Thread& thread, const EventTime& time) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_nested(Thread& thread) override;
  void call_is_unwound(Thread& thread, const EventTime& time) override;
  void function_returns_again(Thread& thread, const EventTime& time, const LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread& thread, const EventTime& time) override;
  void signal(Thread& thread, const EventTime& time, const SignalStop& stop, const Memory& memory,
              std::span<const StackFrame> stack) override;
  void group_stop(Thread& thread, const EventTime& time, int signal, std::span<const StackFrame> stack) override;
  void fork(Thread& thread, const EventTime& time, const Fork& fork) override;
  void exec(Thread& thread, const EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const EventTime& time, bool quietly) override;
  void exits(Thread& thread, const EventTime& time, int status) override;
  void detached(Thread& thread, const EventTime& time) override;
  void flush() override;
  void event_done() override;
  void raw(std::string_view text) override;

 private:
  struct Own {
    Own(const spec::Tables& tables, Thread::DecoderState decoder_state)
        : emitter(tables), state(std::move(decoder_state)) {}
    explain::RecordEmitter emitter;
    Thread::DecoderState state;  ///< the thread's own is for the trace, if there is one
  };

  Own& own(const Thread& thread);
  decode::CallState& state_of(Thread& thread) { return trace_ != nullptr ? *own(thread).state : *thread.state; }

  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  explain::Story& story_;
  Abi native_;
  View* trace_;
  std::unordered_map<pid_t, std::unique_ptr<Own>> own_;
};

}  // namespace tracer::pipeline
