#include "pipeline/views/text.h"

#include "decode/call_state.h"
#include "pipeline/probe.h"
#include "pipeline/views/dump.h"

namespace tracer::pipeline::views {

namespace {

bool all_arguments_shown(const decode::CallState& state) {
  return state.call == nullptr || (!state.half_emitted && state.next_param >= state.signature->params.count);
}

}  // namespace

TextView::TextView(TextViewOptions options, const spec::Tables& tables, const decode::Decoder& decoder,
                   const names::Names& names, Channels channels)
    : options_(std::move(options)),
      tables_(tables),
      decoder_(decoder),
      names_(names),
      channels_(std::move(channels)),
      prefix_(options_.prefix),
      emitter_(std::make_unique<render::TextEmitter>(tables, scratch_, options_.calls)) {}

void TextView::thread_appears(Thread& thread, const Moment& moment) {
  channels_.assign(thread);
  ++threads_;
  were_several_ = were_several_ || are_several();
  ask_for_command(thread, moment);
}

void TextView::thread_goes(Thread& thread) {
  hand_over(thread);
  write_stack(thread, thread.entry_stack.frames(), StackTaken::at_entry);
  channels_.release(thread);
  --threads_;
  program_to_come_ = false;
}

// ---------------------------------------------------------------------------------------------- lines

render::PidForm TextView::pid_form() const {
  switch (options_.show_pid) {
    case ShowPid::never:
      return render::PidForm::none;
    case ShowPid::when_several:
      return are_several() ? render::PidForm::bracketed : render::PidForm::none;
    case ShowPid::bracketed:
      return render::PidForm::bracketed;
    case ShowPid::column:
      return render::PidForm::column;
    case ShowPid::column_once_several:
      return were_several_ ? render::PidForm::column : render::PidForm::none;
  }
  return render::PidForm::none;
}

/// Called early, as the line of the thread's exit needs the command name.
void TextView::ask_for_command(Thread& thread, const Moment& moment) {
  if (options_.show_command && !thread.gone) {
    thread.command = names_.processes.command(moment.task(thread));
  }
}

void TextView::interrupt_owner(const Channel& channel) {
  if (channel.owner != nullptr) {
    interrupt(*channel.owner);
  }
}

void TextView::begin_line(Thread& thread, const Moment& moment) {
  interrupt_owner(*thread.channel);
  thread.line.clear();
  thread.handed_over = 0;
  write_prefix(thread, moment);
  thread.line.append(options_.indent * thread.outer.size(), ' ');
}

void TextView::write_prefix(Thread& thread, const Moment& moment) {
  const render::PidForm pid = pid_form();
  const bool with_command = options_.show_command && pid != render::PidForm::none;
  if (with_command) {
    ask_for_command(thread, moment);
  }
  const bool with_context = options_.show_context && !thread.gone;
  prefix_.write(thread.line, {.tid = thread.tid,
                              .pid = pid,
                              .command = with_command ? std::string_view(thread.command) : std::string_view(),
                              .security_context = with_context ? names_.kernel.process_context(moment.task(thread), 0)
                                                               : std::string_view(),
                              .realtime = moment.time.realtime,
                              .monotonic = moment.time.monotonic,
                              .number = thread.call.entry.number,
                              .instruction_pointer = thread.call.instruction_pointer,
                              .word_size = word_size(thread.abi.value_or(options_.native))});
}

void TextView::resume_line(Thread& thread, const Moment& moment) {
  begin_line(thread, moment);
  thread.line.append("<... ");
  thread.line.append(decoder_.name_of(*thread.state));
  thread.line.append(" resumed>");
  thread.interrupted = false;
}

void TextView::end_line(Thread& thread) {
  thread.line.append('\n');
  hand_over(thread);
  thread.line.clear();
  thread.handed_over = 0;
  if (thread.channel->owner == &thread) {
    thread.channel->owner = nullptr;
  }
}

void TextView::interrupt(Thread& owner) {
  owner.line.append(interruption());
  owner.interrupted = true;
  end_line(owner);
}

void TextView::hand_over(Thread& thread) {
  if (thread.handed_over < thread.line.size()) {
    channels_.write(*thread.channel, thread.line.view().substr(thread.handed_over));
    thread.handed_over = thread.line.size();
  }
}

// ---------------------------------------------------------------------------------------------- calls

void TextView::take_emitter(Thread& thread) {
  emitter_->set_buffer(thread.line);
  emitter_->resume(thread.text_progress);
}

void TextView::leave_emitter(Thread& thread) {
  thread.text_progress = emitter_->progress();
  emitter_->set_buffer(scratch_);
}

std::size_t TextView::begin_held_line(Thread& thread, const trace::Memory& memory) {
  Thread* const owner = std::exchange(thread.channel->owner, nullptr);
  begin_line(thread, {thread.call.entered, memory});
  thread.channel->owner = owner;
  const std::size_t prefix = thread.line.size();
  thread.interrupted = false;
  thread.text_progress = {};
  take_emitter(thread);
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, *emitter_);
  leave_emitter(thread);
  return prefix;
}

void TextView::show_held_line(Thread& thread) {
  interrupt_owner(*thread.channel);
  thread.channel->owner = &thread;
  channels_.touch(*thread.channel);
}

void TextView::call_begins(Thread& thread, const trace::Memory& memory) {
  begin_held_line(thread, memory);
  if (!options_.hold_calls) {
    show_held_line(thread);
  }
}

void TextView::complete_line(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  take_emitter(thread);
  decoder_.exit(*thread.state, end.outcome, memory, *emitter_);
  leave_emitter(thread);
  render::append_tampered(thread.line, end.tampered.arguments, end.tampered.result, end.tampered.delayed);
  if (options_.duration_digits && end.outcome.known) {
    render::append_duration(thread.line, end.duration, *options_.duration_digits);
  }
}

void TextView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  if (thread.interrupted) {
    resume_line(thread, {end.time, memory});
  }
  complete_line(thread, end, memory);
  end_line(thread);
  if (end.outcome.known) {
    if (!options_.dump_reads.empty() || !options_.dump_writes.empty()) {
      scratch_.clear();
      dump_call(scratch_, {tables_, *thread.state, end.outcome, memory}, options_.dump_reads, options_.dump_writes);
      channels_.write(*thread.channel, scratch_.view());
    }
    write_stack(thread, end.stack, end.stack_taken);
  }
}

void TextView::write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken taken) {
  if (!stack.empty()) {
    scratch_.clear();
    append_stack(scratch_, stack, taken);
    channels_.write(*thread.channel, scratch_.view());
  }
}

void TextView::call_is_lost(Thread& thread, const Moment& moment) {
  if (thread.call.function != nullptr) {
    // There is no second line: the function has no result.
    if (!thread.interrupted) {
      interrupt(thread);
    }
    return;
  }
  if (thread.interrupted) {
    resume_line(thread, moment);
  }
  if (!all_arguments_shown(*thread.state)) {
    thread.line.append(interruption());
  }
  take_emitter(thread);
  emitter_->end_arguments();
  emitter_->begin_result({render::CallResult::Kind::unknown, 0, 0});
  emitter_->end_result();
  leave_emitter(thread);
  if (thread.call.end_is_lost) {
    thread.line.append(" <lost>");
  }
  end_line(thread);
}

void TextView::call_is_nested(Thread& thread) {
  if (thread.channel->owner == &thread) {
    interrupt(thread);
  }
}

void TextView::call_is_unwound(Thread& thread, const Moment& moment) {
  if (thread.interrupted) {
    resume_line(thread, moment);
  }
  take_emitter(thread);
  emitter_->end_arguments();
  leave_emitter(thread);
  thread.line.append("<unwound>");
  end_line(thread);
}

void TextView::function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                                      std::uint64_t value) {
  begin_line(thread, moment);
  thread.line.append("<... ");
  thread.line.append(exit.function->label);
  thread.line.append(" resumed>");
  emitter_->reset();
  emitter_->set_buffer(thread.line);
  emitter_->end_arguments();
  emitter_->set_buffer(scratch_);
  thread.line.decimal(static_cast<std::int64_t>(value));
  end_line(thread);
}

void TextView::call_is_dropped(Thread& thread) {
  thread.line.clear();
}

// ---------------------------------------------------------------------------------------------- other lines

void TextView::abi_changes(Thread& thread, const Moment& moment) {
  begin_line(thread, moment);
  thread.line.append("[ Process PID=");
  thread.line.decimal(std::int64_t{thread.tid});
  thread.line.append(" runs in ");
  thread.line.append(render::mode_name(*thread.abi));
  thread.line.append(" mode. ]");
  end_line(thread);
}

void TextView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                      std::span<const trace::StackFrame> stack) {
  begin_line(thread, moment);
  thread.line.append("--- ");
  render::append_signal(thread.line, stop.signal);
  thread.line.append(' ');
  if (!stop.siginfo.empty()) {
    emitter_->reset();
    emitter_->set_buffer(thread.line);
    decoder_.siginfo(stop.siginfo, options_.native, thread.tid, moment.memory, *emitter_);
    emitter_->set_buffer(scratch_);
    thread.line.append(' ');
  }
  thread.line.append("---");
  end_line(thread);
  write_stack(thread, stack, StackTaken::now);
}

void TextView::probe(Thread& thread, const Moment& moment, const trace::ProbeHit& hit,
                     std::span<const trace::StackFrame> stack) {
  begin_line(thread, moment);
  append_probe(thread.line, hit, moment.memory, options_.string_limit);
  end_line(thread);
  write_stack(thread, stack, StackTaken::now);
}

void TextView::group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) {
  begin_line(thread, moment);
  thread.line.append("--- stopped by ");
  render::append_signal(thread.line, signal);
  thread.line.append(" ---");
  end_line(thread);
  write_stack(thread, stack, StackTaken::now);
}

void TextView::attached(Thread&) {
  program_to_come_ = options_.program_to_come;
  were_several_ = were_several_ || are_several();
}

void TextView::exec(Thread& thread, const Moment& moment) {
  program_to_come_ = false;
  ask_for_command(thread, moment);
}

void TextView::superseded(Thread& leader, Thread& former, const Moment& moment, bool quietly) {
  const bool begun = former.call.open && former.call.shown;
  if (begun && !options_.hold_calls && (channels_.separate() || former.channel->owner == &former)) {
    former.line.append(" <pid changed to ");
    former.line.decimal(std::int64_t{leader.tid});
    former.line.append(" ...>");
    end_line(former);
  }
  if (!quietly) {
    --threads_;  // The leader's thread has ended already.
    begin_line(leader, moment);
    ++threads_;
    leader.line.append("+++ superseded by execve in pid ");
    leader.line.decimal(std::int64_t{former.tid});
    leader.line.append(" +++");
    end_line(leader);
  }
  // The call continues under the other id.
  former.interrupted = begun;
}

void TextView::exits(Thread& thread, const Moment& moment, int status) {
  thread.call.instruction_pointer.reset();
  begin_line(thread, moment);
  render::append_exit(thread.line, status);
  end_line(thread);
}

void TextView::detached(Thread& thread, const Moment&) {
  const bool begun = thread.call.open && thread.call.shown;
  if (thread.channel->owner == &thread || (options_.hold_calls && begun)) {
    thread.line.append(" <detached ...>");
    end_line(thread);
  }
}

void TextView::flush() {
  channels_.flush([this](Thread& owner) { hand_over(owner); });
}

void TextView::event_done() {
  if (options_.flush_each_event) {
    flush();
  }
}

void TextView::lost(std::uint64_t events) {
  if (Thread* owner = channels_.common_owner(); owner != nullptr) {
    interrupt(*owner);
  }
  View::lost(events);
}

void TextView::raw(std::string_view text) {
  channels_.write_common(text);
}

}  // namespace tracer::pipeline::views
