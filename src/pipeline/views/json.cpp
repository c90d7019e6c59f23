#include "pipeline/views/json.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <array>
#include <utility>

#include "decode/call_state.h"
#include "format/json_text.h"
#include "pipeline/probe.h"
#include "render/line_parts.h"

namespace tracer::pipeline::views {

namespace {

constexpr int schema_version = 1;

}  // namespace

JsonView::JsonView(const spec::Tables& tables, const decode::Decoder& decoder, names::ProcessNames& names,
                   Channels channels, JsonViewOptions options)
    : decoder_(decoder), names_(names), channels_(std::move(channels)), emitter_(tables, record_), options_(options) {}

void JsonView::thread_appears(Thread& thread, const Moment&) {
  channels_.assign(thread);
}

void JsonView::thread_goes(Thread& thread) {
  channels_.release(thread);
}

// ---------------------------------------------------------------------------------------------- records

std::string_view JsonView::command_of(Thread& thread, const Moment& moment) {
  if (thread.command.empty()) {
    thread.command = names_.command(moment.task(thread));
  }
  return thread.command;
}

void JsonView::begin_record(TextBuffer& text, Thread& thread, std::string_view type, const Moment& moment) {
  text.clear();
  text.append("{\"v\":");
  text.decimal(std::int64_t{schema_version});
  text.append(",\"type\":\"");
  text.append(type);
  text.append("\",\"ts\":");
  format::append_json_integer(text, std::int64_t{moment.time.realtime.count()});
  text.append(",\"pid\":");
  text.decimal(std::int64_t{thread.tgid});
  text.append(",\"tid\":");
  text.decimal(std::int64_t{thread.tid});
  text.append(",\"comm\":");
  format::append_json_string(text, command_of(thread, moment));
}

void JsonView::end_record(TextBuffer& text, Thread& thread) {
  text.append("}\n");
  channels_.write(*thread.channel, text.view());
  text.clear();
}

void JsonView::write_signal(int signal) {
  record_.append(",\"signal\":\"");
  render::append_signal(record_, signal);
  record_.append('"');
}

// ---------------------------------------------------------------------------------------------- calls

void JsonView::call_begins(Thread& thread, const trace::Memory& memory) {
  TextBuffer& text = thread.line;
  const trace::LibraryFunction* function = thread.call.function;
  begin_record(text, thread, function != nullptr ? "library" : "syscall", {thread.call.entered, memory});
  text.append(",\"abi\":\"");
  text.append(abi_names[index_of(thread.call.entry.abi)]);
  if (function == nullptr) {
    text.append("\",\"nr\":");
    format::append_json_integer(text, thread.call.entry.number);
  } else {
    text.append('"');
    write_function(text, *function, thread.outer.size());
    thread.call.entry.function_name = function->name;
  }
  text.append(',');
  emitter_.set_buffer(text);
  emitter_.resume({});
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, emitter_);
  thread.json_progress = emitter_.progress();
}

void JsonView::call_ends(Thread& thread, const CallEnd& end, const trace::Memory& memory) {
  emitter_.set_buffer(thread.line);
  emitter_.resume(thread.json_progress);
  decoder_.exit(*thread.state, end.outcome, memory, emitter_);
  if (end.tampered.any()) {
    write_tampered(thread.line, end.tampered);
  }
  if (end.outcome.known) {
    thread.line.append(",\"dur\":");
    thread.line.decimal(std::int64_t{end.duration.count()});
  } else {
    thread.line.append(",\"unfinished\":\"exit\"");
  }
  write_stack(thread.line, end.stack);
  thread.entry_stack.clear();
  end_record(thread.line, thread);
}

void JsonView::write_function(TextBuffer& text, const trace::LibraryFunction& function, std::size_t depth) {
  text.append(",\"library\":");
  format::append_json_string(text, function.library);
  if (!function.caller.empty()) {
    text.append(",\"caller\":");
    format::append_json_string(text, function.caller);
  }
  text.append(",\"depth\":");
  text.decimal(static_cast<std::uint64_t>(depth));
}

void JsonView::call_is_unwound(Thread& thread, const Moment&) {
  close_unfinished(thread, "unwound");
}

void JsonView::function_returns_again(Thread& thread, const Moment& moment, const trace::LibraryExit& exit,
                                      std::uint64_t value) {
  begin_record(record_, thread, "return", moment);
  write_function(record_, *exit.function, thread.outer.size());
  record_.append(",\"name\":");
  format::append_json_string(record_, exit.function->name);
  record_.append(",\"ret\":");
  format::append_json_integer(record_, static_cast<std::int64_t>(value));
  end_record(record_, thread);
}

void JsonView::write_tampered(TextBuffer& text, const trace::Tampered& tampered) {
  const std::array<std::pair<bool, std::string_view>, 4> kinds = {{{tampered.arguments, "\"arguments\""},
                                                                   {tampered.result, "\"result\""},
                                                                   {tampered.signal, "\"signal\""},
                                                                   {tampered.delayed, "\"delay\""}}};
  text.append(",\"tampered\":[");
  bool first = true;
  for (const auto& [done, name] : kinds) {
    if (done) {
      text.append(std::exchange(first, false) ? "" : ",");
      text.append(name);
    }
  }
  text.append(']');
}

void JsonView::write_stack(TextBuffer& text, std::span<const trace::StackFrame> stack) {
  if (!stack.empty()) {
    text.append(",\"stack\":");
    append_json_stack(text, stack);
  }
}

void JsonView::close_unfinished(Thread& thread, std::string_view cause) {
  emitter_.set_buffer(thread.line);
  emitter_.resume(thread.json_progress);
  if (thread.state->argument_open) {
    emitter_.end_unread_argument();
  }
  emitter_.end_arguments();
  emitter_.begin_result({render::CallResult::Kind::unknown, 0, 0});
  emitter_.end_result();
  thread.line.append(",\"unfinished\":\"");
  thread.line.append(cause);
  thread.line.append('"');
  end_record(thread.line, thread);
}

void JsonView::call_is_lost(Thread& thread, const Moment&) {
  close_unfinished(thread, thread.call.end_is_lost ? "lost" : "exit");
}

void JsonView::call_is_dropped(Thread& thread) {
  thread.line.clear();
}

// ---------------------------------------------------------------------------------------------- what else happens

void JsonView::signal(Thread& thread, const Moment& moment, const trace::SignalStop& stop,
                      std::span<const trace::StackFrame> stack) {
  begin_record(record_, thread, "signal", moment);
  write_signal(stop.signal);
  if (!stop.siginfo.empty()) {
    record_.append(",\"info\":");
    emitter_.set_buffer(record_);
    emitter_.reset();
    decoder_.siginfo(stop.siginfo, options_.native, thread.tid, moment.memory, emitter_);
  }
  write_stack(record_, stack);
  end_record(record_, thread);
}

void JsonView::probe(Thread& thread, const Moment& moment, const trace::ProbeHit& hit,
                     std::span<const trace::StackFrame> stack) {
  begin_record(record_, thread, "probe", moment);
  append_json_probe(record_, hit, moment.memory);
  write_stack(record_, stack);
  end_record(record_, thread);
}

void JsonView::group_stop(Thread& thread, const Moment& moment, int signal, std::span<const trace::StackFrame> stack) {
  begin_record(record_, thread, "stop", moment);
  write_signal(signal);
  write_stack(record_, stack);
  end_record(record_, thread);
}

void JsonView::fork(Thread& thread, const Moment& moment, const trace::Fork& fork) {
  begin_record(record_, thread, "fork", moment);
  record_.append(",\"child\":");
  record_.decimal(std::int64_t{fork.child});
  record_.append(fork.is_thread ? ",\"thread\":true" : ",\"thread\":false");
  end_record(record_, thread);
}

void JsonView::superseded(Thread&, Thread& former, const Moment&, bool) {
  former_ = former.tid;
}

void JsonView::exec(Thread& thread, const Moment& moment) {
  thread.command.clear();
  begin_record(record_, thread, "exec", moment);
  if (const pid_t former = std::exchange(former_, 0); former != 0) {
    record_.append(",\"former\":");
    record_.decimal(std::int64_t{former});
  }
  end_record(record_, thread);
}

void JsonView::exits(Thread& thread, const Moment& moment, int status) {
  begin_record(record_, thread, "exit", moment);
  if (WIFSIGNALED(status)) {
    write_signal(WTERMSIG(status));
    record_.append(WCOREDUMP(status) ? ",\"core\":true" : ",\"core\":false");
  } else {
    record_.append(",\"status\":");
    record_.decimal(std::int64_t{WEXITSTATUS(status)});
  }
  end_record(record_, thread);
}

void JsonView::detached(Thread& thread, const Moment& moment) {
  if (thread.call.open && thread.call.shown) {
    close_unfinished(thread, "detach");
  }
  begin_record(record_, thread, "detach", moment);
  end_record(record_, thread);
}

void JsonView::flush() {
  channels_.flush([](Thread&) {});
}

void JsonView::event_done() {
  if (options_.flush_each_event) {
    flush();
  }
}

void JsonView::lost(std::uint64_t events) {
  raw(fmt::format("{{\"v\":1,\"type\":\"lost\",\"events\":{}}}\n", events));
}

void JsonView::raw(std::string_view text) {
  channels_.write_common(text);
}

}  // namespace tracer::pipeline::views
