// Function calls. They contain other function calls and system calls.
#include <fmt/core.h>

#include <algorithm>

#include "pipeline/pipeline.h"

namespace tracer::pipeline {
namespace {

/// Returns the name of a function in the table of -c.
const std::string& summary_name(const trace::LibraryFunction& function, bool bare) {
  return bare ? function.name : function.label;
}

}  // namespace

void Pipeline::nest(Thread& thread) {
  if (records() && thread.call.shown) {
    view_.call_is_nested(thread);
  }
  if (thread.push_call(decoder_) && !std::exchange(depth_reported_, true)) {
    notes_.say(fmt::format("Thread {} is in more than {} calls of functions: the ends of the outermost are not shown",
                           thread.tid, trace::most_open_calls));
  }
}

trace::Verdict Pipeline::on(const trace::LibraryEnter& enter, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (thread.call.open) {
    nest(thread);
  }
  if (summary_ != nullptr) {
    summary_->count_function(event.abi, summary_name(*enter.function, options_.bare_function_names), 1);
  }
  OpenCall& call = thread.call;
  call.open = true;
  call.shown = true;
  call.entered = event.time;
  call.function = enter.function;
  call.function_call = enter.call;
  call.result_address = enter.result_address;
  call.instruction_pointer = enter.return_address;
  call.entry = {};
  call.entry.tid = event.tid;
  call.entry.abi = event.abi;
  call.entry.stack_pointer = enter.stack_pointer;
  std::copy_n(enter.integers.begin(), call.entry.args.size(), call.entry.args.begin());
  const spec::Call* described = prototypes_.find(*enter.function, event.tid);
  call.entry.function = described;
  call.entry.function_name = enter.function->label;
  if (described != nullptr && records()) {
    call.entry.values = prototypes_.arguments(*described, enter, event.abi, memory);
  }
  thread.abi = event.abi;
  if (records()) {
    view_.call_begins(thread, memory);
    if (options_.stacks != nullptr) {
      thread.entry_stack.keep(options_.stacks->frames(event, memory));
    }
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::LibraryExit& exit, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (exit.how == trace::LibraryExit::How::again) {
    // A second return of setjmp is never 0.
    if (summary_ != nullptr && options_.counts_as_ltrace && exit.integers[0] == 0) {
      summary_->count_function(event.abi, summary_name(*exit.function, options_.bare_function_names), 1);
    }
    if (records()) {
      view_.function_returns_again(thread, {event.time, memory}, exit, exit.integers[0]);
    }
    return trace::Verdict::go_on;
  }
  if (!thread.call.open || thread.call.function_call != exit.call) {
    const auto around = std::find_if(thread.outer.begin(), thread.outer.end(),
                                     [&](const CallRecord& record) { return record.call.function_call == exit.call; });
    if (around == thread.outer.end()) {
      return trace::Verdict::go_on;
    }
    if (exit.how == trace::LibraryExit::How::lost) {
      thread.outer.erase(around);  // it contains an execve, which has ended all open calls
      return trace::Verdict::go_on;
    }
    // The call is not the innermost one: a coroutine has been resumed.
    const auto index = static_cast<std::size_t>(around - thread.outer.begin());
    if (thread.call.open) {
      nest(thread);
    }
    thread.resume_call(index);
  }
  switch (exit.how) {
    case trace::LibraryExit::How::lost:
      end_call(thread, {event.time, memory});
      return trace::Verdict::go_on;
    case trace::LibraryExit::How::unwound:
      count_unreturned(thread, {event.time, memory});
      if (records()) {
        view_.call_is_unwound(thread, {event.time, memory});
      }
      thread.call.open = false;
      thread.pop_call();
      return trace::Verdict::go_on;
    default:
      break;
  }
  CallEnd end;
  end.time = event.time;
  end.outcome = prototypes_.outcome(thread.call.entry, thread.call.result_address, exit, memory);
  end.duration = event.time.monotonic - thread.call.entered.monotonic;
  if (summary_ != nullptr) {
    summary_->count_function_return(thread.call.entry.abi, summary_name(*exit.function, options_.bare_function_names),
                                    end.outcome.is_error, end.duration);
  }
  return finish(thread, end, &event, memory);
}

void Pipeline::count_unreturned(const Thread& thread, const Moment& moment) {
  const OpenCall& call = thread.call;
  if (summary_ == nullptr || moment.time.monotonic < call.entered.monotonic) {
    return;
  }
  const auto time = moment.time.monotonic - call.entered.monotonic;
  if (call.function != nullptr) {
    summary_->count_function_return(call.entry.abi, summary_name(*call.function, options_.bare_function_names), false,
                                    time);
  } else if (options_.counts_as_ltrace && call.shown) {
    summary_->count({call.entry.abi, call.number, false, {}, time});
  }
}

trace::Verdict Pipeline::on(const trace::LibraryCalls& calls, Thread&, const trace::Event& event,
                            const trace::Memory&) {
  if (summary_ != nullptr) {
    summary_->count_function(event.abi, summary_name(*calls.function, options_.bare_function_names), calls.count);
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::ProbeHit& hit, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  thread.call.instruction_pointer = hit.instruction_pointer;
  thread.abi = event.abi;
  if (summary_ != nullptr) {
    const std::string name = "usdt:" + *hit.provider + ':' + *hit.name;
    summary_->count_function(event.abi, name, hit.count);
    summary_->count_function_return(event.abi, name, false, std::chrono::nanoseconds(0));
  }
  if (records()) {
    view_.probe(thread, {event.time, memory}, hit, stack_now(event, memory));
  }
  return trace::Verdict::go_on;
}

}  // namespace tracer::pipeline
