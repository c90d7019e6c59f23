// Two views of one run: the trace, and the explanation.
#pragma once

#include "pipeline/view.h"

namespace tracer::pipeline::views {

/// Passes everything to each of two views. Both outlive it.
class TeeView final : public View {
 public:
  TeeView(View& first, View& second) : first_(first), second_(second) {}

  void thread_appears(Thread& thread, const Moment& moment) override { both(&View::thread_appears, thread, moment); }
  void thread_goes(Thread& thread) override { both(&View::thread_goes, thread); }
  void call_begins(Thread& thread, const trace::Memory& memory) override { both(&View::call_begins, thread, memory); }
  void call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) override {
    both(&View::call_ends, thread, end, memory);
  }
  void call_is_lost(Thread& thread, const Moment& moment) override { both(&View::call_is_lost, thread, moment); }
  void call_is_dropped(Thread& thread) override { both(&View::call_is_dropped, thread); }
  void call_is_nested(Thread& thread) override { both(&View::call_is_nested, thread); }
  void call_is_unwound(Thread& thread, const Moment& moment) override { both(&View::call_is_unwound, thread, moment); }
  void function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                              std::uint64_t value) override {
    both(&View::function_returns_again, thread, moment, exit, value);
  }
  void abi_changes(Thread& thread, const Moment& moment) override { both(&View::abi_changes, thread, moment); }
  void signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
              std::span<const trace::StackFrame> stack) override {
    both(&View::signal, thread, moment, stop, stack);
  }
  void group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) override {
    both(&View::group_stop, thread, moment, signal, stack);
  }
  void fork(Thread& thread, const Moment& moment, const trace::Fork& fork) override {
    both(&View::fork, thread, moment, fork);
  }
  void exec(Thread& thread, const Moment& moment) override { both(&View::exec, thread, moment); }
  void superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) override {
    both(&View::superseded, leader, former, moment, quietly);
  }
  void exits(Thread& thread, const Moment& moment, int status) override { both(&View::exits, thread, moment, status); }
  void detached(Thread& thread, const Moment& moment) override { both(&View::detached, thread, moment); }
  void lost(std::uint64_t events) override { both(&View::lost, events); }
  void flush() override { both(&View::flush); }
  void show_all() override { both(&View::show_all); }
  void event_done() override { both(&View::event_done); }
  void finish() override { both(&View::finish); }
  void raw(std::string_view text) override { both(&View::raw, text); }

 private:
  template <typename... Parameters, typename... Arguments>
  void both(void (View::*what)(Parameters...), Arguments&&... arguments) {
    (first_.*what)(arguments...);
    (second_.*what)(arguments...);
  }

  View& first_;
  View& second_;
};

}  // namespace tracer::pipeline::views
