#include "pipeline/views/explain.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <string>

#include "decode/call_state.h"
#include "explain/text_search.h"
#include "render/line_parts.h"

namespace tracer::pipeline::views {

namespace {

constexpr std::size_t most_frames = 32;

/// Frequent calls whose success adds nothing to the story, so that it is not worth decoding.
constexpr std::string_view calls_of_interest_on_failure =
    "access faccessat faccessat2 stat lstat newfstatat fstatat64 stat64 lstat64 statx readlink readlinkat statfs mmap "
    "mmap2 mremap brk";

}  // namespace

ExplainView::Own& ExplainView::own(const Thread& thread) {
  const auto known = own_.find(thread.tid);
  return known != own_.end() ? known->second
                             : own_.try_emplace(thread.tid, tables_, decoder_.make_state()).first->second;
}

void ExplainView::thread_appears(Thread& thread, const Moment&) {
  story_.appeared(thread.tgid);
}

void ExplainView::thread_goes(Thread& thread) {
  own_.erase(thread.tid);
}

// ---------------------------------------------------------------------------------------------- calls

void ExplainView::call_begins(Thread& thread, const trace::Memory& memory) {
  if (thread.call.function != nullptr) {
    return;  // the story consists of system calls
  }
  Own& mine = own(thread);
  const spec::Call* call = tables_.find(thread.call.entry.abi, thread.call.entry.number);
  const std::string_view name = call != nullptr ? tables_.text(call->name) : std::string_view();
  // The memory of a thread that ptrace stops is as readable at the exit; what the kernel copied at the entry is not.
  mine.is_deferred =
      story_.live() && story_.alters_privileges() && explain::is_listed(name, calls_of_interest_on_failure);
  if (mine.is_deferred) {
    mine.emitter.call() = {};
    mine.emitter.call().name = name;
    story_.begin_call(thread.tgid, thread.tid, thread.call.entered.realtime, mine.emitter.call());
    return;
  }
  // The environment is read from /proc while the program is stopped. One that is not may be gone by then.
  const decode::Depth depth{
      .abbreviate = !(story_.live() && !story_.alters_privileges() && explain::is_listed(name, "execve execveat"))};
  decoder_.enter(*mine.state, thread.call.entry, depth, memory, mine.emitter);
  story_.begin_call(thread.tgid, thread.tid, thread.call.entered.realtime, mine.emitter.call());
}

void ExplainView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  if (thread.call.function != nullptr) {
    return;  // the story consists of system calls
  }
  Own& mine = own(thread);
  if (mine.is_deferred && end.outcome.known && !end.outcome.is_error) {
    mine.emitter.call().outcome = explain::CallOutcome::returned;
  } else {
    if (mine.is_deferred) {
      decoder_.enter(*mine.state, thread.call.entry, {}, memory, mine.emitter);
    }
    decoder_.exit(*mine.state, end.outcome, memory, mine.emitter);
  }
  SnapshotView system(memory.snapshot(), live_, roots_);
  story_.end_call(thread.tgid, {thread.tid, thread.call.entered.realtime, &system}, std::move(mine.emitter.call()));
}

// ---------------------------------------------------------------------------------------------- what else happens

void ExplainView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                         std::span<const trace::StackFrame> stack) {
  explain::SignalInfo signal;
  TextBuffer name;
  render::append_signal(name, stop.signal);
  signal.name = name.view();
  signal.instruction_pointer = stop.instruction_pointer;
  for (const trace::StackFrame& frame : stack) {
    if (frame.kind == trace::StackFrame::Kind::code && signal.stack.size() < most_frames) {
      // The nearest exported name before an address is not that of its function, if it is far away.
      constexpr std::uint64_t longest_function = 16384;
      const bool covers = !frame.source.empty() || frame.symbol_offset < longest_function;
      signal.stack.push_back({covers ? std::string(frame.symbol) : std::string(), std::string(frame.file),
                              std::string(frame.source), frame.line});
    }
  }
  if (!stop.siginfo.empty()) {
    explain::RecordEmitter alone(tables_);
    alone.begin_alone();
    decoder_.siginfo(stop.siginfo, native_, thread.tid, moment.memory, alone);
    signal.info = alone.take_alone();
  }
  SnapshotView system(moment.memory.snapshot(), live_, roots_);
  story_.signal(thread.tgid, {thread.tid, moment.time.realtime, &system}, std::move(signal));
}

void ExplainView::group_stop(Thread& thread, const Moment&, int signal, std::span<const trace::StackFrame>) {
  TextBuffer name;
  render::append_signal(name, signal);
  story_.stopped(thread.tgid, std::string(name.view()));
}

void ExplainView::fork(Thread& thread, const Moment& moment, const trace::Fork& fork) {
  story_.fork(thread.tgid, fork.child, fork.is_thread, moment.time.realtime);
}

void ExplainView::exec(Thread& thread, const Moment& moment) {
  story_.exec(thread.tgid, moment.time.realtime);
}

void ExplainView::superseded(Thread& leader, Thread& former, const Moment&, bool) {
  if (auto moved = own_.extract(former.tid); !moved.empty()) {
    own_.erase(leader.tid);
    moved.key() = leader.tid;
    own_.insert(std::move(moved));
  }
}

void ExplainView::exits(Thread& thread, const Moment& moment, int status) {
  explain::ExitInfo end;
  end.by_signal = WIFSIGNALED(status);
  end.status = end.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  if (end.by_signal) {
    TextBuffer name;
    render::append_signal(name, end.status);
    end.signal = name.view();
    end.core = WCOREDUMP(status);
  }
  story_.exited(thread.tgid, thread.tid, moment.time.realtime, std::move(end));
}

void ExplainView::note_living() {
  const auto living = std::count_if(story_.processes().begin(), story_.processes().end(),
                                    [](const auto& entry) { return !entry.second.exit && !entry.second.detached; });
  if (living != 0) {
    note_(fmt::format("{} has ended, and {} in the background; ^C explains the run, and so does --explain-after=TIME",
                      explain::printable(story_.first()->name()),
                      living == 1 ? "a process that it started runs on" : fmt::format("{} processes run on", living)));
  }
}

void ExplainView::detached(Thread& thread, const Moment&) {
  story_.detached(thread.tgid, thread.tid);
}

}  // namespace tracer::pipeline::views
