#include "pipeline/pipeline.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <string>

namespace tracer::pipeline {

namespace {

/// The longest time that output of a busy tracee is buffered.
constexpr std::chrono::seconds oldest_output(1);

/// Member by member: a copy of one that was just made is read wider than that was written, and so waits for it.
void fill_entry(decode::Entry& entry, const trace::Event& event, const trace::SyscallEnter& enter) {
  entry.tid = event.tid;
  entry.abi = event.abi;
  entry.number = enter.number;
  entry.args = enter.args;
  entry.function = nullptr;
  entry.values = {};
  entry.stack_pointer = enter.stack_pointer;
  entry.function_name = {};
  entry.interrupted = enter.interrupted;
}

decode::Entry entry_of(const trace::Event& event, const trace::SyscallEnter& enter) {
  decode::Entry entry;
  fill_entry(entry, event, enter);
  return entry;
}

/// Counts a call that an event reports where no system calls are traced.
void count_implied(render::Summary* summary, const PipelineOptions& options, Abi abi, std::string_view call) {
  if (summary != nullptr && options.counts_as_ltrace && options.filter.calls.empty()) {
    summary->count_function(abi, call, 1);
    summary->count_function_return(abi, call, false, std::chrono::nanoseconds(0));
  }
}

bool is_exec(std::string_view call) {
  return call == "execve" || call == "execveat";
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
                   names::DescriptorNames& names, View& view, render::Summary* summary, Note note)
    : options_(std::move(options)),
      prototypes_(tables, options_.summary_only ? nullptr : options_.prototypes),
      filter_(options_.filter, tables, decoder, names),
      tamper_rules_(std::move(options_.tampering), tables),
      decoder_(decoder),
      view_(view),
      summary_(summary),
      notes_(std::move(note), view) {}

trace::Verdict Pipeline::handle(const trace::Event& event, const trace::Memory& memory) {
  if (options_.stacks != nullptr) {
    options_.stacks->observe(event, memory);
  }
  Thread& thread = thread_of(event, memory);
  const trace::Verdict verdict =
      std::visit([&](const auto& what) { return on(what, thread, event, memory); }, event.what);
  view_.event_done();
  if (event.time.monotonic - last_flush_ >= oldest_output) {
    last_flush_ = event.time.monotonic;
    view_.flush();
  }
  return verdict;
}

void Pipeline::lost(std::uint64_t events) {
  counts_.lost += events;
  if (records()) {
    view_.lost(events);
  }
}

void Pipeline::totals(std::span<const trace::CallTotals> calls) {
  if (summary_ == nullptr) {
    return;
  }
  for (const trace::CallTotals& call : calls) {
    const auto times_of = [](const trace::TimeTotals& times) {
      return render::SummaryTimes{times.total, times.shortest, times.longest};
    };
    summary_->add(
        {call.abi, call.number, call.calls, call.errors, times_of(call.cpu), times_of(call.wall), call.latencies});
  }
}

void Pipeline::idle() {
  view_.show_all();
}

trace::Verdict Pipeline::on_alarm() {
  view_.flush();
  return options_.on_alarm();
}

Thread& Pipeline::thread_of(const trace::Event& event, const trace::Memory& memory) {
  if (Thread* known = threads_.find(event.tid); known != nullptr) {
    return *known;
  }
  auto thread = std::make_unique<Thread>(decoder_.make_state());
  thread->tid = event.tid;
  thread->tgid = event.tgid;
  view_.thread_appears(*thread, {event.time, memory});
  return threads_.add(std::move(thread));
}

void Pipeline::forget(Thread& thread) {
  view_.thread_goes(thread);
  threads_.take(thread.tid);
}

// ---------------------------------------------------------------------------------------------- calls

bool Pipeline::wants(std::uint64_t number, const decode::Entry& entry, const trace::Memory& memory) const {
  return filter_.wants(entry.abi, number) && filter_.wants_arguments(entry, memory);
}

const trace::Tampering* Pipeline::tamper(const trace::Event& event, const trace::Memory& memory) {
  if (tamper_rules_.empty()) {
    return nullptr;
  }
  const decode::Entry entry = entry_of(event, std::get<trace::SyscallEnter>(event.what));
  const std::uint64_t number = filter_.number_of(entry, memory);
  if (!tamper_rules_.mention(event.abi, number) || !wants(number, entry, memory)) {
    return nullptr;
  }
  Thread& thread = thread_of(event, memory);
  const TamperRules::Choice choice = tamper_rules_.choose(event.abi, number, thread.call_counts);
  if (choice.what == nullptr) {
    return nullptr;
  }
  thread.call.tampering = choice;
  notes_.missing(*choice.missing_at_entry, choice, event.tid, number == entry.number);
  return choice.what;
}

trace::Verdict Pipeline::on(const trace::SyscallEnter& enter, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (thread.call.open && thread.call.function == nullptr) {
    end_call(thread, {event.time, memory});
  }
  const TamperRules::Choice tampering = std::exchange(thread.call.tampering, {});
  const bool chosen = tampering.what != nullptr;
  notes_.poked(event.tid, enter.tampered);
  if (thread.call.open) {
    // The call is inside a function. If it is not shown, it does not split the line of the function.
    const decode::Entry entry = entry_of(event, enter);
    if (!chosen && !wants(filter_.number_of(entry, memory), entry, memory)) {
      thread.in_hidden_call = true;
      return trace::Verdict::go_on;
    }
    nest(thread);
  }
  OpenCall& call = thread.call;
  call.instruction_pointer = enter.instruction_pointer;
  note_abi(thread, event.abi, {event.time, memory});
  call.open = true;
  call.shown = false;
  call.function = nullptr;
  call.function_call = 0;
  call.entered = event.time;
  call.lost_before = counts_.lost;
  fill_entry(call.entry, event, enter);
  call.number = filter_.number_of(call.entry, memory);
  const bool is_launch = options_.hide_launch && options_.launched && !launch_seen_;
  if (is_launch || (!chosen && !wants(call.number, call.entry, memory))) {
    return trace::Verdict::go_on;
  }
  call.shown = true;
  if (records()) {
    call.depth.abbreviate = options_.abbreviate.contains(event.abi, call.number);
    call.depth.dereference = options_.dereference.contains(event.abi, call.number);
    call.depth.raw = options_.raw.contains(event.abi, call.number);
    view_.call_begins(thread, memory);
    keep_stack(thread, event, memory);
    if (never_returns(thread)) {
      exiting_[thread.tgid] = thread.tid;
    }
  }
  if (chosen) {
    notes_.missing(*tampering.missing_at_exit, tampering, event.tid, call.number == call.entry.number);
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::SyscallExit& exit, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  OpenCall& call = thread.call;
  if (std::exchange(thread.in_hidden_call, false) || !call.open || call.function != nullptr) {
    return trace::Verdict::go_on;
  }
  call.instruction_pointer = exit.instruction_pointer;
  if (!call.shown) {
    call.open = false;
    thread.pop_call();
    return trace::Verdict::go_on;
  }
  CallEnd end;
  end.time = event.time;
  end.outcome.value = exit.value;
  end.outcome.is_error = exit.is_error;
  end.tampered = exit.tampered;
  end.duration = event.time.monotonic - call.entered.monotonic;
  if (summary_ != nullptr && filter_.wants_end(end.outcome, end.duration)) {
    summary_->count({call.entry.abi, call.number, exit.is_error, exit.cpu_time, end.duration});
  }
  notes_.poked(event.tid, exit.tampered);
  const trace::Verdict verdict = finish(thread, end, &event, memory);
  if (thread.abi_of_new_program) {
    note_abi(thread, *thread.abi_of_new_program, {event.time, memory});
  }
  return verdict;
}

void Pipeline::note_abi(Thread& thread, Abi abi, const Moment& moment) {
  const Abi previous = thread.abi.value_or(options_.native);
  thread.abi = abi;
  thread.abi_of_new_program.reset();
  if (abi != previous && !options_.quiet.has(filter::Quiet::personality)) {
    view_.abi_changes(thread, moment);
  }
}

trace::Verdict Pipeline::finish(Thread& thread, CallEnd& end, const trace::Event* event, const trace::Memory& memory) {
  thread.call.open = false;
  if (!filter_.wants_end(end.outcome, end.duration)) {
    if (records()) {
      view_.call_is_dropped(thread);
    }
    thread.entry_stack.clear();
    thread.pop_call();
    return trace::Verdict::go_on;
  }
  const auto count_to_limit = [&] {
    if (event == nullptr || ++counts_.completed != options_.syscall_limit) {
      return trace::Verdict::go_on;
    }
    if (!options_.quiet.has(filter::Quiet::attach)) {
      notes_.limit_reached();
    }
    return trace::Verdict::detach_all;
  };
  if (!records()) {
    thread.pop_call();
    return count_to_limit();
  }
  if (!thread.entry_stack.empty()) {
    end.stack = thread.entry_stack.frames();
  } else if (event != nullptr) {
    end.stack = stack_now(*event, memory);
    end.stack_taken = is_exec(decoder_.name_of(*thread.state)) ? StackTaken::now : StackTaken::at_entry;
  }
  view_.call_ends(thread, end, memory);
  if (end.outcome.known) {
    thread.entry_stack.clear();
  }
  thread.pop_call();
  return count_to_limit();
}

void Pipeline::keep_stack(Thread& thread, const trace::Event& event, const trace::Memory& memory) {
  if (options_.stacks == nullptr) {
    return;
  }
  // The execve that starts the program has no caller in the program.
  const bool launch = options_.launched && !launch_seen_;
  if ((is_exec(decoder_.name_of(*thread.state)) && !launch) || never_returns(thread)) {
    thread.entry_stack.keep(options_.stacks->frames(event, memory));
  }
}

std::span<const trace::StackFrame> Pipeline::stack_now(const trace::Event& event, const trace::Memory& memory) const {
  return options_.stacks == nullptr ? std::span<const trace::StackFrame>{} : options_.stacks->frames(event, memory);
}

void Pipeline::end_call(Thread& thread, const Moment& moment) {
  if (!thread.call.open) {
    return;
  }
  count_unreturned(thread, moment);
  if (thread.call.shown && records()) {
    if (never_returns(thread)) {
      CallEnd end;
      end.time = moment.time;
      end.outcome.known = false;
      // The thread has ended, so that a verdict has no effect.
      static_cast<void>(finish(thread, end, nullptr, moment.memory));
      return;
    }
    thread.call.end_is_lost = thread.call.lost_before != counts_.lost;
    if (filter_.wants_status(thread.call.end_is_lost ? filter::CallStatus::unavailable
                                                     : filter::CallStatus::unfinished)) {
      view_.call_is_lost(thread, moment);
    } else {
      view_.call_is_dropped(thread);
    }
  }
  thread.call.open = false;
  thread.pop_call();
}

bool Pipeline::never_returns(const Thread& thread) const {
  const spec::Call* described = decoder_.call_of(*thread.state);
  return described != nullptr && described->never_returns;
}

/// Ends the line of an exit_group before those of the calls that it interrupted in other threads.
void Pipeline::end_exit_of(pid_t tgid, pid_t tid, const Moment& moment) {
  const auto exiting = exiting_.find(tgid);
  if (exiting == exiting_.end()) {
    return;
  }
  Thread* thread = threads_.find(exiting->second);
  exiting_.erase(exiting);
  if (thread != nullptr && thread->tid != tid && never_returns(*thread)) {
    end_call(*thread, moment);
  }
}

trace::Verdict Pipeline::on(const trace::SyscallLost&, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  end_exit_of(thread.tgid, event.tid, {event.time, memory});
  if (!std::exchange(thread.in_hidden_call, false) && thread.call.function == nullptr) {
    thread.gone = true;
    end_call(thread, {event.time, memory});
    thread.gone = false;  // the thread may live on with another program
  }
  return trace::Verdict::go_on;
}

// ---------------------------------------------------------------------------------------------- what else happens

trace::Verdict Pipeline::on(const trace::SignalStop& stop, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (stop.instruction_pointer != 0) {
    thread.call.instruction_pointer = stop.instruction_pointer;
  }
  if (records() && filter_.wants_signal(stop.signal)) {
    view_.signal(thread, {event.time, memory}, stop, stack_now(event, memory));
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::GroupStop& stop, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (!thread.call.open) {
    note_abi(thread, event.abi, {event.time, memory});
  }
  if (records() && filter_.wants_signal(stop.signal)) {
    view_.group_stop(thread, {event.time, memory}, stop.signal, stack_now(event, memory));
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::Exec& exec, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  Thread* former = exec.former_tid == event.tid ? nullptr : threads_.find(exec.former_tid);
  if (former != nullptr) {
    end_call(thread, {event.time, memory});
    if (records()) {
      view_.superseded(thread, *former, {event.time, memory}, options_.quiet.has(filter::Quiet::thread_execve));
    }
    thread.abi = former->abi;
    std::swap(thread.call_counts, former->call_counts);
    std::swap(static_cast<CallRecord&>(thread), static_cast<CallRecord&>(*former));
    former->call.open = false;
    former->line.clear();
    former->handed_over = 0;
    forget(*former);
  }
  if (records()) {
    view_.exec(thread, {event.time, memory});
  }
  if (thread.call.open && thread.call.shown) {
    thread.abi_of_new_program = exec.abi;  // a note would split the line of the execve
  } else if (exec.abi) {
    note_abi(thread, *exec.abi, {event.time, memory});
  }
  const bool launch = options_.launched && !launch_seen_;
  launch_seen_ = true;
  if (!launch) {
    count_implied(summary_, options_, event.abi, "execve");
  }
  return options_.detach_on_execve && !launch ? trace::Verdict::detach : trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::Fork& fork, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (records()) {
    view_.fork(thread, {event.time, memory}, fork);
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::Attached& attached, Thread& thread, const trace::Event& event,
                            const trace::Memory&) {
  thread.abi = event.abi;
  if (attached.by_request) {
    view_.attached(thread);
  }
  if (options_.quiet.has(filter::Quiet::attach)) {
    return trace::Verdict::go_on;
  }
  if (attached.threads == 1) {
    notes_.process(event.tid, "attached");
  } else if (attached.threads > 1) {
    notes_.process(event.tid, fmt::format("attached with {} threads", attached.threads));
  }
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::Detached&, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  if (!options_.quiet.has(filter::Quiet::attach)) {
    notes_.process(event.tid, "detached");
  }
  if (records()) {
    if (thread.call.open && thread.call.shown && !filter_.wants_status(filter::CallStatus::detached)) {
      view_.call_is_dropped(thread);
      thread.call.open = false;
    }
    view_.detached(thread, {event.time, memory});
  }
  forget(thread);
  return trace::Verdict::go_on;
}

trace::Verdict Pipeline::on(const trace::Exited& exited, Thread& thread, const trace::Event& event,
                            const trace::Memory& memory) {
  thread.gone = true;
  if (thread.tid == thread.tgid) {
    exiting_.erase(thread.tgid);
  }
  end_call(thread, {event.time, memory});
  if (thread.tid == thread.tgid && WIFEXITED(exited.status)) {
    count_implied(summary_, options_, event.abi, "exit_group");
  }
  // The filter of signals applies to deaths by signal; -q only to exits.
  const bool wanted = WIFSIGNALED(exited.status) ? filter_.wants_signal(WTERMSIG(exited.status))
                                                 : !options_.quiet.has(filter::Quiet::exit);
  if (records() && wanted) {
    view_.exits(thread, {event.time, memory}, exited.status);
  }
  forget(thread);
  return trace::Verdict::go_on;
}

}  // namespace tracer::pipeline
