// Two views of one run: a trace, and what is made of the same calls besides.
#pragma once

#include "pipeline/view.h"

namespace tracer::pipeline::views {

/// Tells each of two views everything. Both outlive it.
class TeeView final : public View {
 public:
  TeeView(View& first, View& second) : first_(first), second_(second) {}

  void thread_appears(Thread& thread) override { tell(&View::thread_appears, thread); }
  void thread_goes(Thread& thread) override { tell(&View::thread_goes, thread); }
  void call_begins(Thread& thread, const trace::Memory& memory) override { tell(&View::call_begins, thread, memory); }
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override {
    tell(&View::call_ends, thread, end, memory);
  }
  void call_is_lost(Thread& thread, const trace::EventTime& time) override { tell(&View::call_is_lost, thread, time); }
  void call_is_dropped(Thread& thread) override { tell(&View::call_is_dropped, thread); }
  void call_is_nested(Thread& thread) override { tell(&View::call_is_nested, thread); }
  void call_is_unwound(Thread& thread, const trace::EventTime& time) override {
    tell(&View::call_is_unwound, thread, time);
  }
  void function_returns_again(Thread& thread, const trace::EventTime& time, const trace::LibraryExit& exit,
                              std::uint64_t value) override {
    tell(&View::function_returns_again, thread, time, exit, value);
  }
  void abi_changes(Thread& thread, const trace::EventTime& time) override { tell(&View::abi_changes, thread, time); }
  void signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop, const trace::Memory& memory,
              std::span<const trace::StackFrame> stack) override {
    tell(&View::signal, thread, time, stop, memory, stack);
  }
  void group_stop(Thread& thread, const trace::EventTime& time, int signal,
                  std::span<const trace::StackFrame> stack) override {
    tell(&View::group_stop, thread, time, signal, stack);
  }
  void fork(Thread& thread, const trace::EventTime& time, const trace::Fork& fork) override {
    tell(&View::fork, thread, time, fork);
  }
  void exec(Thread& thread, const trace::EventTime& time) override { tell(&View::exec, thread, time); }
  void superseded(Thread& leader, Thread& former, const trace::EventTime& time, bool quietly) override {
    tell(&View::superseded, leader, former, time, quietly);
  }
  void exits(Thread& thread, const trace::EventTime& time, int status) override {
    tell(&View::exits, thread, time, status);
  }
  void detached(Thread& thread, const trace::EventTime& time) override { tell(&View::detached, thread, time); }
  void lost(std::uint64_t events) override { tell(&View::lost, events); }
  void flush() override { tell(&View::flush); }
  void event_done() override { tell(&View::event_done); }
  void finish() override { tell(&View::finish); }
  void raw(std::string_view text) override { tell(&View::raw, text); }

 private:
  template <typename... Parameters, typename... Arguments>
  void tell(void (View::*what)(Parameters...), Arguments&&... arguments) {
    (first_.*what)(arguments...);
    (second_.*what)(arguments...);
  }

  View& first_;
  View& second_;
};

}  // namespace tracer::pipeline::views
