// Applies the rules of --fold to the calls of all threads, and remembers what they need.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "pipeline/view.h"
#include "pipeline/views/fold_rules.h"

namespace tracer::pipeline::views {

/// A call that takes as long is no noise.
inline constexpr std::chrono::milliseconds longest_noise(100);

[[nodiscard]] NoisyResult noisy_result(const decode::Outcome& outcome);

/// Whether a call that ended like this may be noise: nothing belongs to it that its line alone could show.
[[nodiscard]] bool is_plain(const CallEnd& end);

class NoiseFinder {
 public:
  NoiseFinder(const spec::Tables& tables, const decode::Decoder& decoder) : tables_(tables), decoder_(decoder) {}

  /// Takes notice of a call, whose arguments are decoded as far as they are known at its entry.
  void call_begins(const Thread& thread, const trace::Memory& memory);
  /// Returns the rule by which the call is noise; null: none. `result` empty: it has not ended, and is noise with some
  /// result. `within`: the call before it is folded.
  [[nodiscard]] const FoldRule* find(const Thread& thread, const std::optional<NoisyResult>& result, bool within);
  /// Takes notice of its end. `rule` is that of find(); `folded`: it has no line of its own.
  void call_ends(const Thread& thread, const NoisyResult& result, const FoldRule* rule, bool folded);
  /// The open call of the thread, or its last one.
  [[nodiscard]] const NoisyCall& call_of(const Thread& thread) { return threads_[thread.tid].call; }

  void thread_goes(const Thread& thread);
  void fork(const Thread& thread, const trace::Fork& fork);
  void exec(const Thread& thread);
  /// The open call of `former` goes on as that of `leader`.
  void superseded(const Thread& leader, const Thread& former);

 private:
  struct Calls {
    NoisyCall call;
    ShownCalls shown;
  };
  [[nodiscard]] static std::string read_path(RemoteAddr address, const trace::Memory& memory);

  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  std::map<pid_t, Calls> threads_;
  std::map<pid_t, NoisyFiles> files_;  ///< by process
};

}  // namespace tracer::pipeline::views
