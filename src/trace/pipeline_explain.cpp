#include "trace/pipeline_explain.h"

#include <sys/wait.h>

#include "decode/call_state.h"
#include "render/record.h"

namespace tracer::pipeline {

namespace {

constexpr std::size_t most_frames = 32;

}  // namespace

ExplainView::ExplainView(const spec::Tables& tables, const decode::Decoder& decoder, explain::Story& story, Abi native,
                         View* trace)
    : tables_(tables), decoder_(decoder), story_(story), native_(native), trace_(trace) {}

ExplainView::Own& ExplainView::own(const Thread& thread) {
  std::unique_ptr<Own>& known = own_[thread.tid];
  if (known == nullptr) {
    known = std::make_unique<Own>(tables_, decoder_.make_state());
  }
  return *known;
}

void ExplainView::thread_appears(Thread& thread) {
  story_.appeared(thread.tgid);
  if (trace_ != nullptr) {
    trace_->thread_appears(thread);
  }
}

void ExplainView::thread_goes(Thread& thread) {
  own_.erase(thread.tid);
  if (trace_ != nullptr) {
    trace_->thread_goes(thread);
  }
}

// ---------------------------------------------------------------------------------------------- calls

void ExplainView::call_begins(Thread& thread, const Memory& memory) {
  if (trace_ != nullptr) {
    trace_->call_begins(thread, memory);
  }
  if (thread.call.function != nullptr) {
    return;  // the story is one of system calls
  }
  explain::RecordEmitter& emitter = own(thread).emitter;
  decoder_.enter(state_of(thread), thread.call.entry, {}, memory, emitter);
  story_.begin_call(thread.tgid, thread.tid, thread.call.entered.realtime, emitter.call());
}

void ExplainView::call_ends(Thread& thread, const CallEnd& end, const Memory& memory) {
  if (trace_ != nullptr) {
    trace_->call_ends(thread, end, memory);
  }
  if (thread.call.function != nullptr) {
    return;  // the story is one of system calls
  }
  explain::RecordEmitter& emitter = own(thread).emitter;
  decoder_.exit(state_of(thread), end.outcome, memory, emitter);
  story_.end_call(thread.tgid, thread.tid, thread.call.entered.realtime, std::move(emitter.call()));
}

void ExplainView::call_is_lost(Thread& thread, const EventTime& time) {
  if (trace_ != nullptr) {
    trace_->call_is_lost(thread, time);
  }
}

void ExplainView::call_is_dropped(Thread& thread) {
  if (trace_ != nullptr) {
    trace_->call_is_dropped(thread);
  }
}

void ExplainView::call_is_nested(Thread& thread) {
  if (trace_ != nullptr) {
    trace_->call_is_nested(thread);
  }
}

void ExplainView::call_is_unwound(Thread& thread, const EventTime& time) {
  if (trace_ != nullptr) {
    trace_->call_is_unwound(thread, time);
  }
}

void ExplainView::function_returns_again(Thread& thread, const EventTime& time, const LibraryExit& exit,
                                         std::uint64_t value) {
  if (trace_ != nullptr) {
    trace_->function_returns_again(thread, time, exit, value);
  }
}

// ---------------------------------------------------------------------------------------------- what else happens

void ExplainView::abi_changes(Thread& thread, const EventTime& time) {
  if (trace_ != nullptr) {
    trace_->abi_changes(thread, time);
  }
}

void ExplainView::signal(Thread& thread, const EventTime& time, const SignalStop& stop, const Memory& memory,
                         std::span<const StackFrame> stack) {
  explain::SignalInfo signal;
  TextBuffer name;
  render::append_signal(name, stop.signal);
  signal.name = name.view();
  signal.instruction_pointer = stop.instruction_pointer;
  for (const StackFrame& frame : stack) {
    if (frame.kind == StackFrame::Kind::code && signal.stack.size() < most_frames) {
      signal.stack.push_back(
          {std::string(frame.symbol), std::string(frame.file), std::string(frame.source), frame.line});
    }
  }
  if (!stop.siginfo.empty()) {
    explain::RecordEmitter alone(tables_);
    alone.begin_alone();
    decoder_.siginfo(stop.siginfo, native_, thread.tid, memory, alone);
    signal.info = alone.take_alone();
  }
  story_.signal(thread.tgid, thread.tid, time.realtime, std::move(signal));
  if (trace_ != nullptr) {
    trace_->signal(thread, time, stop, memory, stack);
  }
}

void ExplainView::group_stop(Thread& thread, const EventTime& time, int signal, std::span<const StackFrame> stack) {
  if (trace_ != nullptr) {
    trace_->group_stop(thread, time, signal, stack);
  }
}

void ExplainView::fork(Thread& thread, const EventTime& time, const Fork& fork) {
  story_.fork(thread.tgid, fork.child, fork.is_thread, time.realtime);
  if (trace_ != nullptr) {
    trace_->fork(thread, time, fork);
  }
}

void ExplainView::exec(Thread& thread, const EventTime& time) {
  story_.exec(thread.tgid, time.realtime);
  if (trace_ != nullptr) {
    trace_->exec(thread, time);
  }
}

void ExplainView::superseded(Thread& leader, Thread& former, const EventTime& time, bool quietly) {
  const auto from = own_.find(former.tid);
  if (from != own_.end()) {
    std::unique_ptr<Own> moved = std::move(from->second);
    own_.erase(from);
    own_.insert_or_assign(leader.tid, std::move(moved));
  }
  if (trace_ != nullptr) {
    trace_->superseded(leader, former, time, quietly);
  }
}

void ExplainView::exits(Thread& thread, const EventTime& time, int status) {
  explain::End end;
  end.by_signal = WIFSIGNALED(status);
  end.status = end.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  if (end.by_signal) {
    TextBuffer name;
    render::append_signal(name, end.status);
    end.signal = name.view();
    end.core = WCOREDUMP(status);
  }
  story_.exited(thread.tgid, thread.tid, time.realtime, std::move(end));
  if (trace_ != nullptr) {
    trace_->exits(thread, time, status);
  }
}

void ExplainView::detached(Thread& thread, const EventTime& time) {
  story_.detached(thread.tgid, thread.tid);
  if (trace_ != nullptr) {
    trace_->detached(thread, time);
  }
}

void ExplainView::flush() {
  if (trace_ != nullptr) {
    trace_->flush();
  }
}

void ExplainView::event_done() {
  if (trace_ != nullptr) {
    trace_->event_done();
  }
}

void ExplainView::raw(std::string_view text) {
  if (trace_ != nullptr) {
    trace_->raw(text);
  }
}

}  // namespace tracer::pipeline
