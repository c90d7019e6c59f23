// The text of --fold: runs of calls that are nearly always noise are one line each.
#pragma once

#include <map>

#include "pipeline/views/noise_finder.h"
#include "pipeline/views/text.h"

namespace tracer::pipeline::views {

/// A call that may be noise is held back until it has ended, but not while its thread waits. Consecutive ones of a
/// thread are a run; its line is written before the next line of the thread. A run of one call is that call's line.
class FoldingTextView final : public TextView {
 public:
  /// `utf8`: what the terminal shows.
  FoldingTextView(TextViewOptions options, bool utf8, const spec::Tables& tables, const decode::Decoder& decoder,
                  const names::Names& names, Channels channels);

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread& thread, const Moment& moment) override;
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void probe(Thread& thread, const Moment& moment, const trace::ProbeHit& hit,
             std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override;
  void fork(Thread& thread, const Moment& moment, const trace::Fork& fork) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;
  void detached(Thread& thread, const Moment& moment) override;
  void lost(std::uint64_t events) override;
  void show_all() override;
  void finish() override;
  void raw(std::string_view text) override;

 private:
  struct Run {
    Thread* thread = nullptr;
    bool held = false;  ///< the line of the open call is not shown
    FoldTally tally;
    TextBuffer first;        ///< the line of the first call
    std::size_t prefix = 0;  ///< how much of `first` is its prefix
    std::size_t prefix_of_call = 0;
    std::chrono::nanoseconds began{};  ///< when the first call began (CLOCK_MONOTONIC)
  };

  Run& run_of(const Thread& thread) { return runs_.find(thread.tid)->second; }
  void fold(Run& run, const CallEnd& end, const NoisyResult& result, const FoldRule& rule, const trace::Memory& memory);
  /// Writes the line of the run, if there is one.
  void close(Run& run);
  /// Writes all that is held back of a thread.
  void reveal(Run& run);
  void reveal_all();
  /// Shows calls that have been held back for too long while other threads went on.
  void reveal_waiting(std::chrono::nanoseconds now);

  bool utf8_;
  NoiseFinder noise_;
  std::map<pid_t, Run> runs_;          ///< by thread
  std::chrono::nanoseconds looked_{};  ///< when reveal_waiting() last looked at all threads
};

}  // namespace tracer::pipeline::views
