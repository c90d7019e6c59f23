// The text format of ltrace.
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
  bool launched = false;       ///< the first exec starts the program itself
  unsigned most_elements = 4;  ///< -A
  bool shows_utf8 = false;     ///< wide characters show as they are
  /// -C; empty: names are not demangled.
  std::function<std::string(std::string_view)> demangle;
};

class LtraceView final : public TextView {
 public:
  LtraceView(TextViewOptions text, LtraceViewOptions options, const spec::Tables& tables,
             const decode::Decoder& decoder, const names::Names& names, Channels channels);

  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread&, const Moment&) override {}
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;

 private:
  void write_prefix(Thread& thread, const Moment& moment) override;
  [[nodiscard]] std::string_view interruption() const override;
  void resume_line(Thread& thread, const Moment& moment) override;
  void write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken taken) override;

  /// Writes the line of an event.
  void write_event(Thread& thread, const Moment& moment, std::string_view text);
  [[nodiscard]] std::string name_of(const trace::LibraryFunction& function) const;
  void write_resumed(Thread& thread, std::string_view name) const;

  LtraceViewOptions options_;
  render::LtraceEmitter& emitter_;
  std::string name_;
  bool launch_seen_ = false;
  bool no_return_ = false;  ///< a line is being split by an event, not by a call
};

}  // namespace tracer::pipeline::views
