// --explain: passes the decoded calls and events to the story of the explainer.
#pragma once

#include <unordered_map>
#include <utility>

#include "explain/record_emitter.h"
#include "explain/story.h"
#include "pipeline/notes.h"
#include "pipeline/snapshot_view.h"
#include "pipeline/view.h"

namespace tracer::pipeline::views {

class ExplainView final : public View {
 public:
  /// `decoder` must not truncate strings that matter. All arguments outlive the view.
  /// `live` is used for events without a snapshot. `note` receives a sentence if the explanation has to wait.
  ExplainView(const spec::Tables& tables, const decode::Decoder& decoder, explain::Story& story,
              explain::SystemView& live, Abi native, Note note)
      : tables_(tables), decoder_(decoder), story_(story), live_(live), native_(native), note_(std::move(note)) {}

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override;
  void fork(Thread& thread, const Moment& moment, const trace::Fork& fork) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;
  void detached(Thread& thread, const Moment& moment) override;
  /// Says that the first process has ended and others have not: a server that runs in the background.
  void note_living();
  void lost(std::uint64_t events) override { story_.lost(events); }

 private:
  struct Own {
    Own(const spec::Tables& tables, Thread::DecoderState decoder_state)
        : emitter(tables), state(std::move(decoder_state)) {}
    explain::RecordEmitter emitter;
    Thread::DecoderState state;  ///< that of the thread belongs to the trace, if there is one
    bool is_deferred = false;    ///< the call is decoded at its exit, and only if it fails
  };

  Own& own(const Thread& thread);

  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  explain::Story& story_;
  explain::SystemView& live_;
  SnapshotRoots roots_;
  Abi native_;
  Note note_;
  std::unordered_map<pid_t, Own> own_;
};

}  // namespace tracer::pipeline::views
