// The text that people know: a line a call, begun at the entry, ended at the exit, and broken in two where another
// thread's line comes in between.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "decode/decoder.h"
#include "filter/number_set.h"
#include "pipeline/channels.h"
#include "pipeline/view.h"
#include "render/line_parts.h"
#include "render/text_emitter.h"

namespace tracer::pipeline::views {

/// When lines carry the thread's id.
enum class ShowPid : std::uint8_t {
  never,
  when_several,  ///< `[pid  1234] ` while there is more than one thread
  bracketed,     ///< `[pid  1234] ` always
  column,        ///< `1234  ` always
};

struct TextViewOptions {
  render::PrefixOptions prefix;
  render::TextOptions calls;
  Abi native = Abi::x86_64;  ///< what a program runs in before its first call, and whose layout a raw siginfo has
  ShowPid show_pid = ShowPid::when_several;
  bool program_to_come = false;  ///< one is started beside those that are attached to, and counts from the start
  std::optional<unsigned> duration_digits;  ///< -T
  filter::NumberSet dump_reads;             ///< -e read=: descriptors
  filter::NumberSet dump_writes;
  /// Calls come out whole or not at all, when they have ended: some filter must know the end first.
  bool hold_calls = false;
  bool show_command = false;   ///< -Y: the prefix names the program, too
  bool show_context = false;   ///< --secontext: the prefix has the thread's
  unsigned indent = 0;         ///< --indent: columns for each function that is open around a line
  unsigned string_limit = 32;  ///< of what arguments of static probes point to
  /// Output is out before the tracee goes on: it may write to the same terminal.
  bool flush_each_event = false;
};

class TextView : public View {
 public:
  TextView(TextViewOptions options, const spec::Tables& tables, const decode::Decoder& decoder, decode::Names& names,
           Channels channels);

  void thread_appears(Thread& thread) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const trace::EventTime& time) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_nested(Thread& thread) override;
  void call_is_unwound(Thread& thread, const trace::EventTime& time) override;
  void function_returns_again(Thread& thread, const trace::EventTime& time, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread& thread, const trace::EventTime& time) override;
  void signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop, const trace::Memory& memory,
              std::span<const trace::StackFrame> stack) override;
  void probe(Thread& thread, const trace::EventTime& time, const trace::ProbeHit& hit, const trace::Memory& memory,
             std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const trace::EventTime& time, int signal,
                  std::span<const trace::StackFrame> stack) override;
  void attached(Thread& thread) override;
  void exec(Thread& thread, const trace::EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const trace::EventTime& time, bool quietly) override;
  void exits(Thread& thread, const trace::EventTime& time, int status) override;
  void detached(Thread& thread, const trace::EventTime& time) override;
  void flush() override;
  void event_done() override;
  void lost(std::uint64_t events) override;
  void raw(std::string_view text) override;

 protected:
  /// For who writes the same events in another tool's words.
  template <typename Other>
  Other& use_emitter(std::unique_ptr<Other> emitter) {
    Other& used = *emitter;
    emitter_ = std::move(emitter);
    return used;
  }
  void begin_line(Thread& thread, const trace::EventTime& time);
  void end_line(Thread& thread);
  void interrupt(Thread& owner);
  void take_emitter(Thread& thread);
  void leave_emitter(Thread& thread);
  void hand_over(Thread& thread);
  [[nodiscard]] const TextViewOptions& options() const { return options_; }
  [[nodiscard]] const decode::Decoder& decoder() const { return decoder_; }
  [[nodiscard]] Channels& channels() { return channels_; }
  [[nodiscard]] render::LinePrefix& prefix() { return prefix_; }
  [[nodiscard]] TextBuffer& scratch() { return scratch_; }

  // What a view in other words has to say itself.
  virtual void write_prefix(Thread& thread, const trace::EventTime& time);
  /// Where a call's line breaks because another one begins.
  [[nodiscard]] virtual std::string_view interruption() const { return " <unfinished ...>"; }
  /// Goes on with a call whose line was broken.
  virtual void resume_line(Thread& thread, const trace::EventTime& time);
  /// Below a line. The stack of a call that ends its thread comes when the thread goes.
  virtual void write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken taken);

 private:
  void ask_for_command(Thread& thread);
  [[nodiscard]] render::PidForm pid_form() const;

  TextViewOptions options_;
  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  decode::Names& names_;
  Channels channels_;
  render::LinePrefix prefix_;
  TextBuffer scratch_;
  std::unique_ptr<render::TextEmitter> emitter_;
  std::size_t threads_ = 0;
  bool program_to_come_ = false;  ///< from an attachment on until it has its program, or something ends
};

}  // namespace tracer::pipeline::views
