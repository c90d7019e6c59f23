// Writes one JSON object in each line (--format=json). The record of a call is written when the call has ended.
//
// Every record has these members ("lost" has only the first two):
//   v       1; it grows when the meaning of a member changes (new members may be added at any time)
//   type    "syscall", "library", "return", "probe", "signal", "stop", "fork", "exec", "exit", "detach" or "lost"
//   ts      the time of the event in nanoseconds since 1970-01-01 UTC; for a call, that of its entry
//   pid     process (thread group)
//   tid     thread
//   comm    the command name of the thread (/proc/TID/comm) at its last execve, or at its first event
// "syscall":
//   dur     nanoseconds from the entry to the exit; absent if the call did not return
//   abi     "x86_64", "i386", "x32", "aarch64" or "arm"
//   nr      the number of the call in that ABI
//   name, args, ret, errno, note
//           the call itself; render/json_emitter.h describes the values. ret is null if there is no result
//   tampered
//           only if -e inject= changed the call: an array of "arguments", "result", "signal" and "delay"
//   unfinished
//           only if the call did not return: "exit" (the thread ended, or an execve replaced it) or "detach"
//   stack   with -k, also in "probe", "signal" and "stop": the frames, innermost first. Each frame has either
//           file, offset (in the file), address and, if known, symbol and symbol_offset (of the address in the symbol),
//           with -kk also source (file name) and line, and inlined: true if the function was inlined; or
//           address and unknown: true, if the address is not in a file (the last frame); or
//           end: "limit" (there are more frames) or "cycle" (the stack is a cycle)
// "library":  the call of a function: abi, name, args, ret, errno, dur, stack and unfinished as in "syscall"
//   (unfinished may be "unwound" as well: an exception or longjmp left the function), and
//   library   the library that defines it; "" if unknown
//   caller    the module that called it; absent with -e symbol=
//   depth     how many traced functions are open around the call
// "return":   a function returned a second time (setjmp, or fork in the child): name, library, caller, depth, ret
// "probe":    a static probe: provider, name, module, args (an array of objects with value, which is null if it could
//   not be read, and text, if the value points to text)
// "signal":   signal "SIGINT", info {…} (as siginfo_t; absent if unknown)
// "stop":     signal; the process is in a group-stop
// "fork":     child (its tid), thread (true or false)
// "exec":     former (the tid until now, if a thread other than the leader called execve)
// "exit":     status, or signal and core (true or false)
// "lost":     events: how many events the engine has lost here. With -ff there is no such record
//
// Readers may store numbers as doubles: an integer beyond 2^53 is a string of its digits, and so is ts always. Bytes
// that are not UTF-8 are {"bytes":"48e9…"}, in hexadecimal.
#pragma once

#include "decode/decoder.h"
#include "pipeline/channels.h"
#include "pipeline/view.h"
#include "render/json_emitter.h"

namespace tracer::pipeline::views {

struct JsonViewOptions {
  Abi native = Abi::x86_64;       ///< the layout of a raw siginfo
  bool flush_each_event = false;  ///< each line is flushed at once
};

class JsonView final : public View {
 public:
  JsonView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names, Channels channels,
           JsonViewOptions options);

  void thread_appears(Thread& thread, const Moment& moment) override;
  void thread_goes(Thread& thread) override;
  void call_begins(Thread& thread, const trace::Memory& memory) override;
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override;
  void call_is_lost(Thread& thread, const Moment& moment) override;
  void call_is_dropped(Thread& thread) override;
  void call_is_unwound(Thread& thread, const Moment& moment) override;
  void function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                              std::uint64_t value) override;
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
  void flush() override;
  void event_done() override;
  void lost(std::uint64_t events) override;
  void raw(std::string_view text) override;

 private:
  void begin_record(TextBuffer& text, Thread& thread, std::string_view type, const Moment& moment);
  void end_record(TextBuffer& text, Thread& thread);
  static void write_function(TextBuffer& text, const trace::LibraryFunction& function, std::size_t depth);
  static void write_tampered(TextBuffer& text, const trace::Tampered& tampered);
  static void write_stack(TextBuffer& text, std::span<const trace::StackFrame> stack);
  void close_unfinished(Thread& thread, std::string_view cause);
  void write_signal(int signal);
  [[nodiscard]] std::string_view command_of(Thread& thread, const Moment& moment);

  const decode::Decoder& decoder_;
  names::ProcessNames& names_;
  Channels channels_;
  render::JsonEmitter emitter_;
  TextBuffer record_;  ///< the record of an event
  JsonViewOptions options_;
  pid_t former_ = 0;  ///< of the Exec that is being handled
};

}  // namespace tracer::pipeline::views
