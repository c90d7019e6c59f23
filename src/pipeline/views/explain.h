// --explain: tells the explainer's story what the pipeline shows.
#pragma once

#include <unordered_map>

#include "explain/record_emitter.h"
#include "explain/story.h"
#include "pipeline/snapshot_lookup.h"
#include "pipeline/view.h"

namespace tracer::pipeline::views {

class ExplainView final : public View {
 public:
  /// `decoder`: one that cuts no text that matters. All outlive the view.
  /// `surroundings`: what the story looks at.
  ExplainView(const spec::Tables& tables, const decode::Decoder& decoder, explain::Story& story,
              PastSurroundings& surroundings, Abi native)
      : tables_(tables), decoder_(decoder), story_(story), surroundings_(surroundings), native_(native) {}

  void thread_appears(Thread& thread) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop, const trace::Memory& memory,
              std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const trace::EventTime& time, int signal,
                  std::span<const trace::StackFrame> stack) override;
  void fork(Thread& thread, const trace::EventTime& time, const trace::Fork& fork) override;
  void exec(Thread& thread, const trace::EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const trace::EventTime& time, bool quietly) override;
  void exits(Thread& thread, const trace::EventTime& time, int status) override;
  void detached(Thread& thread, const trace::EventTime& time) override;
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

}  // namespace tracer::pipeline::views
