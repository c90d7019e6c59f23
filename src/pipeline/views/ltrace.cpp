#include "pipeline/views/ltrace.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <cstring>
#include <utility>

#include "base/printable.h"
#include "spec/signal_names.h"

namespace tracer::pipeline::views {

namespace {

std::string signal_of(int number) {
  const std::string_view name = spec::signal_name(static_cast<std::uint64_t>(number));
  return name.empty() ? fmt::format("SIG{}", number) : std::string(name);
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

LtraceView::LtraceView(TextViewOptions text, LtraceViewOptions options, const spec::Tables& tables,
                       const decode::Decoder& decoder, const names::Names& names, Channels channels)
    : TextView(std::move(text), tables, decoder, names, std::move(channels)),
      options_(std::move(options)),
      emitter_(use_emitter(std::make_unique<render::LtraceEmitter>(tables, scratch(), TextView::options().calls,
                                                                   options_.most_elements, options_.shows_utf8))),
      launch_seen_(!options_.launched) {}

// ---------------------------------------------------------------------------------------------- lines

void LtraceView::write_prefix(Thread& thread, const Moment& moment) {
  TextBuffer& line = thread.line;
  if (options_.show_pid != LtraceViewOptions::ShowPid::never) {
    const bool bracketed = options_.show_pid == LtraceViewOptions::ShowPid::bracketed;
    line.append(bracketed ? "[pid " : "");
    line.decimal(std::int64_t{thread.tid});
    line.append(bracketed ? "] " : " ");
  }
  prefix().write_times(line, moment.time.realtime, moment.time.monotonic);
  if (TextView::options().prefix.instruction_pointer) {
    line.append('[');
    line.hex_padded(thread.call.instruction_pointer.value_or(~std::uint64_t{0}), 1);
    line.append("] ");
  }
}

std::string_view LtraceView::interruption() const {
  return no_return_ ? " <no return ...>" : " <unfinished ...>";
}

void LtraceView::write_resumed(Thread& thread, std::string_view name) const {
  thread.line.append("<... ");
  thread.line.append(name);
  thread.line.append(" resumed> ");
}

void LtraceView::resume_line(Thread& thread, const Moment& moment) {
  begin_line(thread, moment);
  const trace::LibraryFunction* function = thread.call.function;
  if (function == nullptr) {
    write_resumed(thread, decoder().name_of(*thread.state));
  } else {
    write_resumed(thread, options_.demangle ? options_.demangle(function->name) : function->name);
  }
  thread.interrupted = false;
}

void LtraceView::write_event(Thread& thread, const Moment& moment, std::string_view text) {
  no_return_ = true;
  begin_line(thread, moment);
  no_return_ = false;
  thread.line.append(text);
  end_line(thread);
}

// ---------------------------------------------------------------------------------------------- calls

std::string LtraceView::name_of(const trace::LibraryFunction& function) const {
  const std::string name = options_.demangle ? options_.demangle(function.name) : function.name;
  if (function.caller.empty()) {
    return function.in_program || function.library.empty() ? name : name + '@' + function.library;
  }
  return options_.show_callers ? function.caller + "->" + name : name;
}

void LtraceView::call_begins(Thread& thread, const trace::Memory& memory) {
  name_ = thread.call.function != nullptr ? name_of(*thread.call.function) : std::string();
  emitter_.set_function(name_);
  TextView::call_begins(thread, memory);
}

void LtraceView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  // `--- Called exec() ---` has said that it did not return to the program.
  const bool is_exec = thread.interrupted && end.outcome.value == 0 && thread.call.function == nullptr &&
                       decoder().name_of(*thread.state).starts_with("execve");
  if (!end.outcome.known || is_exec) {
    call_is_lost(thread, {end.time, memory});
    return;
  }
  emitter_.set_is_syscall(thread.call.function == nullptr);
  TextView::call_ends(thread, end, memory);
}

void LtraceView::call_is_lost(Thread& thread, const Moment&) {
  if (!thread.interrupted) {
    no_return_ = true;
    interrupt(thread);
    no_return_ = false;
  }
}

/// A call that longjmp or an exception left stays unfinished.
void LtraceView::call_is_unwound(Thread& thread, const Moment&) {
  if (!thread.interrupted) {
    interrupt(thread);
  }
}

void LtraceView::function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                                        std::uint64_t value) {
  begin_line(thread, moment);
  write_resumed(thread, options_.demangle ? options_.demangle(exit.function->name) : exit.function->name);
  const auto progress = thread.text_progress;
  take_emitter(thread);
  emitter_.end_arguments();
  leave_emitter(thread);
  thread.text_progress = progress;
  thread.line.decimal(static_cast<std::int64_t>(value));
  end_line(thread);
}

// ---------------------------------------------------------------------------------------------- other lines

void LtraceView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                        std::span<const trace::StackFrame>) {
  if (options_.show_signals) {
    const char* words = ::strsignal(stop.signal);
    write_event(thread, moment, "--- " + signal_of(stop.signal) + " (" + (words != nullptr ? words : "") + ") ---");
  }
}

void LtraceView::group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame>) {
  if (options_.show_signals) {
    write_event(thread, moment, "--- stopped by " + signal_of(signal) + " ---");
  }
}

void LtraceView::exec(Thread& thread, const Moment& moment) {
  if (std::exchange(launch_seen_, true)) {
    write_event(thread, moment, "--- Called exec() ---");
  }
}

void LtraceView::superseded(Thread&, Thread& former, const Moment&, bool) {
  if (former.channel->owner == &former) {
    no_return_ = true;
    interrupt(former);
    no_return_ = false;
  }
}

void LtraceView::exits(Thread& thread, const Moment& moment, int status) {
  if (options_.show_pid == LtraceViewOptions::ShowPid::never && thread.tid != thread.tgid) {
    return;  // of a thread alone; the line would say that the program ends
  }
  if (!launch_seen_) {
    return;  // it could not be started, which has been said
  }
  thread.call.instruction_pointer.reset();
  write_event(thread, moment,
              WIFSIGNALED(status) ? "+++ killed by " + signal_of(WTERMSIG(status)) + " +++"
                                  : fmt::format("+++ exited (status {}) +++", WEXITSTATUS(status)));
}

/// -w: writes one line for each frame, and an empty line.
void LtraceView::write_stack(Thread& thread, std::span<const trace::StackFrame> stack, StackTaken) {
  if (stack.empty()) {
    return;
  }
  TextBuffer text;
  for (const trace::StackFrame& frame : stack) {
    if (frame.kind == trace::StackFrame::Kind::limit || frame.kind == trace::StackFrame::Kind::cycle) {
      text.append(" > [...]\n");
      continue;
    }
    text.append(" > ");
    append_printable(text, frame.file.empty() ? std::string_view("[unknown]") : file_name(frame.file));
    text.append('(');
    append_printable(text, frame.symbol.empty() ? std::string_view("[unknown]") : frame.symbol);
    text.append('+');
    text.hex_padded(frame.symbol_offset, 1);
    text.append(") [");
    TextBuffer address;
    address.hex_padded(frame.address, 1);
    text.append(address.view().substr(2));
    text.append("]\n");
    if (!frame.source.empty()) {
      text.append('\t');
      append_printable(text, frame.source);
      text.append(':');
      text.decimal(std::uint64_t{frame.line});
      text.append('\n');
    }
  }
  text.append('\n');
  channels().write(*thread.channel, text.view());
}

}  // namespace tracer::pipeline::views
