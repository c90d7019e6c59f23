#include "pipeline/views/explain.h"

#include <sys/wait.h>

#include "decode/call_state.h"
#include "render/line_parts.h"

namespace tracer::pipeline::views {

namespace {

constexpr std::size_t most_frames = 32;

}  // namespace

ExplainView::Own& ExplainView::own(const Thread& thread) {
  const auto known = own_.find(thread.tid);
  return known != own_.end() ? known->second
                             : own_.try_emplace(thread.tid, tables_, decoder_.make_state()).first->second;
}

void ExplainView::thread_appears(Thread& thread) {
  story_.appeared(thread.tgid);
}

void ExplainView::thread_goes(Thread& thread) {
  own_.erase(thread.tid);
}

// ---------------------------------------------------------------------------------------------- calls

void ExplainView::call_begins(Thread& thread, const trace::Memory& memory) {
  if (thread.call.function != nullptr) {
    return;  // the story is one of system calls
  }
  Own& mine = own(thread);
  decoder_.enter(*mine.state, thread.call.entry, {}, memory, mine.emitter);
  surroundings_.turn_to(thread.circumstances);
  story_.begin_call(thread.tgid, thread.tid, thread.call.entered.realtime, mine.emitter.call());
}

void ExplainView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  if (thread.call.function != nullptr) {
    return;  // the story is one of system calls
  }
  Own& mine = own(thread);
  decoder_.exit(*mine.state, end.outcome, memory, mine.emitter);
  surroundings_.turn_to(thread.circumstances);
  story_.end_call(thread.tgid, thread.tid, thread.call.entered.realtime, std::move(mine.emitter.call()));
}

// ---------------------------------------------------------------------------------------------- what else happens

void ExplainView::signal(Thread& thread, const trace::EventTime& time, const trace::SignalStop& stop,
                         const trace::Memory& memory, std::span<const trace::StackFrame> stack) {
  explain::SignalInfo signal;
  TextBuffer name;
  render::append_signal(name, stop.signal);
  signal.name = name.view();
  signal.instruction_pointer = stop.instruction_pointer;
  for (const trace::StackFrame& frame : stack) {
    if (frame.kind == trace::StackFrame::Kind::code && signal.stack.size() < most_frames) {
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
  surroundings_.turn_to(thread.circumstances);
  story_.signal(thread.tgid, thread.tid, time.realtime, std::move(signal));
}

void ExplainView::group_stop(Thread& thread, const trace::EventTime&, int signal, std::span<const trace::StackFrame>) {
  TextBuffer name;
  render::append_signal(name, signal);
  story_.stopped(thread.tgid, std::string(name.view()));
}

void ExplainView::fork(Thread& thread, const trace::EventTime& time, const trace::Fork& fork) {
  story_.fork(thread.tgid, fork.child, fork.is_thread, time.realtime);
}

void ExplainView::exec(Thread& thread, const trace::EventTime& time) {
  story_.exec(thread.tgid, time.realtime);
}

void ExplainView::superseded(Thread& leader, Thread& former, const trace::EventTime&, bool) {
  if (auto moved = own_.extract(former.tid); !moved.empty()) {
    own_.erase(leader.tid);
    moved.key() = leader.tid;
    own_.insert(std::move(moved));
  }
}

void ExplainView::exits(Thread& thread, const trace::EventTime& time, int status) {
  explain::ExitInfo end;
  end.by_signal = WIFSIGNALED(status);
  end.status = end.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  if (end.by_signal) {
    TextBuffer name;
    render::append_signal(name, end.status);
    end.signal = name.view();
    end.core = WCOREDUMP(status);
  }
  story_.exited(thread.tgid, thread.tid, time.realtime, std::move(end));
}

void ExplainView::detached(Thread& thread, const trace::EventTime&) {
  story_.detached(thread.tgid, thread.tid);
}

}  // namespace tracer::pipeline::views
