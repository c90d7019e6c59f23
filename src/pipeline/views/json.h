// One JSON object a line (--format=json). The record of a call comes out when the call has ended, whole.
//
// Every record:
//   v       1; grows when the meaning of a member changes (new members may come at any time)
//   type    "syscall", "library", "return", "signal", "stop", "fork", "exec", "exit" or "detach"
//   ts      time of the event in nanoseconds since 1970-01-01 UTC; of a syscall: of its entry
//   pid     process (thread group)
//   tid     thread
//   comm    name of the thread's program, as in /proc/TID/comm, when it was last started or first seen
// "syscall":
//   dur     nanoseconds from the entry to the exit; absent where the call did not return
//   abi     "x86_64", "i386", "x32", "aarch64" or "arm"
//   nr      number of the call in that ABI
//   name, args, ret, errno, note
//           the call itself; render/json_emitter.h says how values look. ret is null where there is no result
//   tampered
//           only where -e inject= changed the call: what of it, some of "arguments", "result", "signal" and "delay"
//   unfinished
//           only where the call did not return: "exit", "exec" or "detach" says what ended it
//   stack   with -k, on "signal" and "stop" as well: the frames, innermost first. Each has either
//           file, offset (in it), address, and if known symbol and symbol_offset (address is so far behind it); or
//           with -kk, source (file name) and line, if known, and inlined: true where the function has no frame of its
//           own; address and unknown: true, where there is no file (the last frame); or end: "limit" (there are more),
//           "cycle" (the stack leads back into itself)
// "library":  a function's call: abi, name, args, ret, errno, dur and unfinished as of a syscall (unfinished may be
//   "unwound": an exception or longjmp left it), and
//   library   where it is defined; "" if unknown
//   caller    the module that called it; absent where the function itself was asked for
//   depth     how many traced functions are open around it
// "return":   a function returned a second time (setjmp, or fork in the child): name, library, caller, depth, ret
// "signal":   signal "SIGINT", info {…} (as siginfo_t; absent if unknown)
// "stop":     signal: the process is stopped (job control)
// "fork":     child (its tid), thread (true or false)
// "exec":     former (only if another thread than the leader called execve: its tid until now)
// "exit":     status, or signal and core (true or false)
//
// Nothing is lost to a reader that keeps numbers as doubles: an integer beyond 2^53 is a string of its digits (ts
// always is one). Bytes that are not UTF-8 are {"bytes":"48e9…"}, in hexadecimal.
#pragma once

#include "decode/decoder.h"
#include "pipeline/channels.h"
#include "pipeline/view.h"
#include "render/json_emitter.h"

namespace tracer::pipeline::views {

struct JsonViewOptions {
  Abi native = Abi::x86_64;       ///< whose layout a raw siginfo has
  bool flush_each_event = false;  ///< a line goes out as soon as it is there
};

class JsonView final : public View {
 public:
  JsonView(const spec::Tables& tables, const decode::Decoder& decoder, decode::Names& names, Channels channels,
           JsonViewOptions options);

  void thread_appears(Thread& thread) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const trace::EventTime& time) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_unwound(Thread& thread, const trace::EventTime& time) override;
  void function_returns_again(Thread& thread, const trace::EventTime& time, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
  void signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop, const trace::Memory& memory,
              std::span<const trace::StackFrame> stack) override;
  void probe(Thread& thread, const trace::EventTime& time, const trace::ProbeHit& hit, const trace::Memory& memory,
             std::span<const trace::StackFrame> stack) override;
  void group_stop(Thread& thread, const trace::EventTime& time, int signal,
                  std::span<const trace::StackFrame> stack) override;
  void fork(Thread& thread, const trace::EventTime& time, const trace::Fork& fork) override;
  void exec(Thread& thread, const trace::EventTime& time) override;
  void superseded(Thread& leader, Thread& former, const trace::EventTime& time, bool quietly) override;
  void exits(Thread& thread, const trace::EventTime& time, int status) override;
  void detached(Thread& thread, const trace::EventTime& time) override;
  void flush() override;
  void event_done() override;
  void lost(std::uint64_t events) override;
  void raw(std::string_view text) override;

 private:
  void begin_record(TextBuffer& text, Thread& thread, std::string_view type, const trace::EventTime& time);
  void end_record(TextBuffer& text, Thread& thread);
  static void write_function(TextBuffer& text, const trace::LibraryFunction& function, std::size_t depth);
  static void write_tampered(TextBuffer& text, const trace::Tampered& tampered);
  static void write_stack(TextBuffer& text, std::span<const trace::StackFrame> stack);
  void close_unfinished(Thread& thread, std::string_view cause);
  void write_signal(int signal);
  [[nodiscard]] std::string_view command_of(Thread& thread);

  const decode::Decoder& decoder_;
  decode::Names& names_;
  Channels channels_;
  render::JsonEmitter emitter_;
  TextBuffer record_;  ///< of what is no call
  JsonViewOptions options_;
  pid_t former_ = 0;  ///< of an Exec that is being told
};

}  // namespace tracer::pipeline::views
