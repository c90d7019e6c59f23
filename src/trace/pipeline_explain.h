// --explain: tells the explainer's story what the pipeline shows.
#pragma once

#include <unordered_map>

#include "explain/record_emitter.h"
#include "explain/story.h"
#include "trace/pipeline_past.h"
#include "trace/pipeline_view.h"

namespace tracer::pipeline {

class ExplainView final : public View {
 public:
  /// `decoder`: one that cuts no text that matters. All outlive the view.
  /// `surroundings`: what the story looks at.
  ExplainView(const spec::Tables& tables, const decode::Decoder& decoder, explain::Story& story,
              PastSurroundings& surroundings, Abi native)
      : tables_(tables), decoder_(decoder), story_(story), surroundings_(surroundings), native_(native) {}

  void thread_appears(Thread& thread) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const Memory& memory) override;
  void signal(Thread& thread, const EventTime& time, const SignalStop& stop, const Memory& memory,
              std::span<const StackFrame> stack) override;
  void group_stop(Thread& thread, const EventTime& time, int signal, std::span<const StackFrame> stack) override;
  void fork(Thread& thread, const EventTime& time, const Fork& fork) override;
  void exec(Thread& thread, const EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const EventTime& time, bool quietly) override;
  void exits(Thread& thread, const EventTime& time, int status) override;
  void detached(Thread& thread, const EventTime& time) override;
  void lost(std::uint64_t events) override { story_.lost(events); }

 private:
  struct Own {
    Own(const spec::Tables& tables, Thread::DecoderState decoder_state)
        : emitter(tables), state(std::move(decoder_state)) {}
    explain::RecordEmitter emitter;
    Thread::DecoderState state;  ///< the thread's own is the trace's, if there is one
  };

  Own& own(const Thread& thread);

  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  explain::Story& story_;
  PastSurroundings& surroundings_;
  Abi native_;
  std::unordered_map<pid_t, Own> own_;
};

}  // namespace tracer::pipeline
