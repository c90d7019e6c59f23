// The text of ltrace: the same lines as strace's, in other words.
#pragma once

#include <functional>
#include <string>

#include "pipeline/views/text.h"
#include "render/ltrace_emitter.h"

namespace tracer::pipeline::views {

struct LtraceViewOptions {
  enum class ShowPid : std::uint8_t {
    never,
    bracketed,  ///< `[pid 1234] `
    plain,      ///< `1234 `
  };
  ShowPid show_pid = ShowPid::never;
  bool show_callers = false;   ///< `caller->function`: with -e or -l
  bool show_signals = true;    ///< not with -b
  bool launched = false;       ///< the first exec is the launch of the program itself
  unsigned most_elements = 4;  ///< -A
  /// -C; empty: names show as they are.
  std::function<std::string(std::string_view)> demangle;
};

class LtraceView final : public TextView {
 public:
  LtraceView(TextViewOptions text, LtraceViewOptions options, const spec::Tables& tables,
             const decode::Decoder& decoder, decode::Names& names, Channels channels);

  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const trace::EventTime& time) override;
  void function_returns_again(Thread& thread, const trace::EventTime& time, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread&, const trace::EventTime&) override {}
  void signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop, const trace::Memory& memory,
              std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const trace::EventTime& time, int signal,
                  std::span<const trace::StackFrame> stack) override;
  void exec(Thread& thread, const trace::EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const trace::EventTime& time, bool quietly) override;
  void exits(Thread& thread, const trace::EventTime& time, int status) override;

 private:
  void write_prefix(Thread& thread, const trace::EventTime& time) override;
  [[nodiscard]] std::string_view interruption() const override;
  void resume_line(Thread& thread, const trace::EventTime& time) override;
  void write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken taken) override;

  /// A line that is no call's.
  void write_event(Thread& thread, const trace::EventTime& time, std::string_view text);
  [[nodiscard]] std::string name_of(const trace::LibraryFunction& function) const;
  void write_resumed(Thread& thread, std::string_view name) const;

  LtraceViewOptions options_;
  render::LtraceEmitter& emitter_;
  std::string name_;
  bool launch_seen_ = false;
  bool no_return_ = false;  ///< lines break because of what is no call
};

}  // namespace tracer::pipeline::views
