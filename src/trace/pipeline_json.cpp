#include "trace/pipeline_json.h"

#include <sys/wait.h>

#include <array>
#include <utility>

#include "decode/call_state.h"
#include "render/json_text.h"
#include "render/record.h"

namespace tracer::pipeline {

namespace {

constexpr int schema_version = 1;

}  // namespace

JsonView::JsonView(const spec::Tables& tables, const decode::Decoder& decoder, decode::Names& names, Channels channels,
                   JsonViewOptions options)
    : decoder_(decoder), names_(names), channels_(std::move(channels)), emitter_(tables, record_), options_(options) {}

void JsonView::thread_appears(Thread& thread) {
  channels_.assign(thread);
}

void JsonView::thread_goes(Thread& thread) {
  channels_.release(thread);
}

// ---------------------------------------------------------------------------------------------- records

std::string_view JsonView::command_of(Thread& thread) {
  if (thread.command.empty()) {
    thread.command = names_.process(thread.tid, thread.tid);
  }
  return thread.command;
}

void JsonView::begin_record(TextBuffer& text, Thread& thread, std::string_view type, const EventTime& time) {
  text.clear();
  text.append("{\"v\":");
  text.decimal(std::int64_t{schema_version});
  text.append(",\"type\":\"");
  text.append(type);
  text.append("\",\"ts\":");
  render::append_json_integer(text, std::int64_t{time.realtime.count()});
  text.append(",\"pid\":");
  text.decimal(std::int64_t{thread.tgid});
  text.append(",\"tid\":");
  text.decimal(std::int64_t{thread.tid});
  text.append(",\"comm\":");
  render::append_json_string(text, command_of(thread));
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

void JsonView::call_begins(Thread& thread, const Memory& memory) {
  TextBuffer& text = thread.line;
  begin_record(text, thread, "syscall", thread.call.entered);
  text.append(",\"abi\":\"");
  text.append(abi_names[index_of(thread.call.entry.abi)]);
  text.append("\",\"nr\":");
  render::append_json_integer(text, thread.call.entry.number);
  text.append(',');
  emitter_.set_buffer(text);
  emitter_.resume({});
  decoder_.enter(*thread.state, thread.call.entry, thread.call.depth, memory, emitter_);
  thread.json_progress = emitter_.progress();
}

void JsonView::call_ends(Thread& thread, const CallEnd& end, const Memory& memory) {
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
  end_record(thread.line, thread);
}

void JsonView::write_tampered(TextBuffer& text, const Tampered& tampered) {
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

void JsonView::close_unfinished(Thread& thread, std::string_view cause) {
  emitter_.set_buffer(thread.line);
  emitter_.resume(thread.json_progress);
  if (thread.state->argument_open) {
    emitter_.end_argument();
  }
  emitter_.end_arguments();
  emitter_.begin_result({render::CallResult::Kind::unknown, 0, 0});
  emitter_.end_result();
  thread.line.append(",\"unfinished\":\"");
  thread.line.append(cause);
  thread.line.append('"');
  end_record(thread.line, thread);
}

void JsonView::call_is_lost(Thread& thread, const EventTime&) {
  close_unfinished(thread, "exit");
}

void JsonView::call_is_dropped(Thread& thread) {
  thread.line.clear();
}

// ---------------------------------------------------------------------------------------------- what else happens

void JsonView::signal(Thread& thread, const EventTime& time, const SignalStop& stop, const Memory& memory) {
  begin_record(record_, thread, "signal", time);
  write_signal(stop.signal);
  if (!stop.siginfo.empty()) {
    record_.append(",\"info\":");
    emitter_.set_buffer(record_);
    emitter_.reset();
    decoder_.siginfo(stop.siginfo, options_.native, thread.tid, memory, emitter_);
  }
  end_record(record_, thread);
}

void JsonView::group_stop(Thread& thread, const EventTime& time, int signal) {
  begin_record(record_, thread, "stop", time);
  write_signal(signal);
  end_record(record_, thread);
}

void JsonView::fork(Thread& thread, const EventTime& time, const Fork& fork) {
  begin_record(record_, thread, "fork", time);
  record_.append(",\"child\":");
  record_.decimal(std::int64_t{fork.child});
  record_.append(fork.is_thread ? ",\"thread\":true" : ",\"thread\":false");
  end_record(record_, thread);
}

void JsonView::superseded(Thread&, Thread& former, const EventTime&, bool) {
  former_ = former.tid;
}

void JsonView::exec(Thread& thread, const EventTime& time) {
  thread.command.clear();
  begin_record(record_, thread, "exec", time);
  if (const pid_t former = std::exchange(former_, 0); former != 0) {
    record_.append(",\"former\":");
    record_.decimal(std::int64_t{former});
  }
  end_record(record_, thread);
}

void JsonView::exits(Thread& thread, const EventTime& time, int status) {
  begin_record(record_, thread, "exit", time);
  if (WIFSIGNALED(status)) {
    write_signal(WTERMSIG(status));
    record_.append(WCOREDUMP(status) ? ",\"core\":true" : ",\"core\":false");
  } else {
    record_.append(",\"status\":");
    record_.decimal(std::int64_t{WEXITSTATUS(status)});
  }
  end_record(record_, thread);
}

void JsonView::detached(Thread& thread, const EventTime& time) {
  if (thread.call.open && thread.call.shown) {
    close_unfinished(thread, "detach");
  }
  begin_record(record_, thread, "detach", time);
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

void JsonView::raw(std::string_view text) {
  channels_.write(channels_.common(), text);
}

}  // namespace tracer::pipeline
