// The text format of strace: one line for each call, started at the entry and ended at the exit. A line of another
// thread in between splits it.
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
  when_several,         ///< `[pid  1234] ` while there is more than one thread
  bracketed,            ///< `[pid  1234] ` always
  column,               ///< `1234  ` always
  column_once_several,  ///< from the time when there is more than one thread
};

struct TextViewOptions {
  render::PrefixOptions prefix;
  render::TextOptions calls;
  Abi native = Abi::x86_64;  ///< the ABI before the first call of a program, and that of a raw siginfo
  ShowPid show_pid = ShowPid::when_several;
  bool program_to_come = false;  ///< a program is started beside those of -p, and counts as a thread from the start
  std::optional<unsigned> duration_digits;  ///< -T
  filter::NumberSet dump_reads;             ///< -e read=: descriptors
  filter::NumberSet dump_writes;
  /// Calls are written when they have ended, as some filter needs the exit.
  bool hold_calls = false;
  bool show_command = false;   ///< -Y: the prefix names the program, too
  bool show_context = false;   ///< --secontext: the prefix has the thread's
  unsigned indent = 0;         ///< --indent: columns for each open function
  unsigned string_limit = 32;  ///< for the arguments of static probes
  /// Output is flushed before the tracee is resumed, as it may write to the same terminal.
  bool flush_each_event = false;
};

class TextView : public View {
 public:
  TextView(TextViewOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
           const names::Names& names, Channels channels);

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_nested(Thread& thread) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void abi_changes(Thread& thread, const Moment& moment) override;
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override;
  void probe(Thread& thread, const Moment& moment, const trace::ProbeHit& hit,
             std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override;
  void attached(Thread& thread) override;
  void exec(Thread& thread, const Moment& moment) override;
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override;
  void exits(Thread& thread, const Moment& moment, int status) override;
  void detached(Thread& thread, const Moment& moment) override;
  void flush() override;
  void event_done() override;
  void lost(std::uint64_t events) override;
  void raw(std::string_view text) override;

 protected:
  /// For a view that writes the same events in the format of another tool.
  template <typename Other>
  Other& use_emitter(std::unique_ptr<Other> emitter) {
    Other& used = *emitter;
    emitter_ = std::move(emitter);
    return used;
  }
  void begin_line(Thread& thread, const Moment& moment);
  void end_line(Thread& thread);
  /// Writes what is known of a call at its entry into the thread's line, and splits no line for it. Returns the length
  /// of the prefix.
  std::size_t begin_held_line(Thread& thread, const trace::Memory& memory);
  /// Makes that line the last of its channel, which splits the line of another thread.
  void show_held_line(Thread& thread);
  /// Adds to the line what is known of the call at its exit.
  void complete_line(Thread& thread, const CallEnd& end, const trace::Memory& memory);
  /// Splits the unfinished line of whichever thread has the channel.
  void interrupt_owner(const Channel& channel);
  void interrupt(Thread& owner);
  void take_emitter(Thread& thread);
  void leave_emitter(Thread& thread);
  void hand_over(Thread& thread);
  [[nodiscard]] const TextViewOptions& options() const { return options_; }
  [[nodiscard]] const spec::Tables& tables() const { return tables_; }
  [[nodiscard]] const decode::Decoder& decoder() const { return decoder_; }
  [[nodiscard]] Channels& channels() { return channels_; }
  [[nodiscard]] render::LinePrefix& prefix() { return prefix_; }
  [[nodiscard]] TextBuffer& scratch() { return scratch_; }

  // These are overridden by the format of another tool.
  virtual void write_prefix(Thread& thread, const Moment& moment);
  /// Returns the text that ends the line of a call if another line follows.
  [[nodiscard]] virtual std::string_view interruption() const { return " <unfinished ...>"; }
  /// Starts the second line of a call whose line was split.
  virtual void resume_line(Thread& thread, const Moment& moment);
  /// Writes a stack below a line. The stack of a call that ends its thread is written when the thread has ended.
  virtual void write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken taken);

 private:
  void ask_for_command(Thread& thread, const Moment& moment);
  [[nodiscard]] bool are_several() const { return threads_ + (program_to_come_ ? 1 : 0) > 1; }
  [[nodiscard]] render::PidForm pid_form() const;

  TextViewOptions options_;
  const spec::Tables& tables_;
  const decode::Decoder& decoder_;
  names::Names names_;
  Channels channels_;
  render::LinePrefix prefix_;
  TextBuffer scratch_;
  std::unique_ptr<render::TextEmitter> emitter_;
  std::size_t threads_ = 0;
  bool were_several_ = false;
  bool program_to_come_ = false;  ///< set from the attaching until the program has started or a thread has ended
};

}  // namespace tracer::pipeline::views
