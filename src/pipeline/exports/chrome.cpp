#include "pipeline/exports/chrome.h"

#include <fmt/core.h>

#include "pipeline/exports/history.h"

namespace tracer::pipeline::exports {

namespace {

/// Pids are below this (PID_MAX_LIMIT), so that this much more makes another number.
constexpr std::int64_t most_pids = std::int64_t{1} << 22;

json_t* text(std::string_view text) {
  json_t* json = json_stringn(text.data(), text.size());
  return json != nullptr ? json : json_string("?");  // it was not UTF-8
}

/// Microseconds with the nanoseconds behind the point; a double keeps them for three months.
json_t* microseconds(Time time) {
  constexpr double thousand = 1000.0;
  return json_real(static_cast<double>(std::max(time, Time{}).count()) / thousand);
}

Json arguments_of(const Call& call) {
  Json result = named_arguments(call.arguments());
  for (const char* member : {"ret", "errno", "note"}) {
    if (json_t* value = json_object_get(call.record, member); value != nullptr) {
      set(result, member, json_incref(value));
    }
  }
  if (call.end != Call::End::returned) {
    set(result, "unfinished", text(unfinished(call.end)));
  }
  if (!call.stack.empty()) {
    json_t* frames = json_array();
    for (const trace::StackFrame& frame : call.stack) {
      static_cast<void>(json_array_append_new(frames, text(frame_text(frame))));
    }
    set(result, "stack", frames);
  }
  return result;
}

}  // namespace

void Chrome::begins(const trace::EventTime& first) {
  start_ = first.monotonic;
  Json event(json_object());
  set(event, "ph", json_string("M"));
  set(event, "name", json_string("trace_start"));
  set(event, "pid", json_integer(0));
  Json arguments(json_object());
  set(arguments, "realtime_ns", json_string(std::to_string(first.realtime.count()).c_str()));
  set(event, "args", arguments.release());
  write_event(event);
}

std::int64_t Chrome::number_of(const Process& process) const {
  const auto known = numbers_.find(process.id);
  return known == numbers_.end() ? process.pid : known->second;
}

void Chrome::write_event(const Json& event) {
  write_(first_ ? "[\n" : ",\n");
  first_ = false;
  write_(to_json_text(event.get()));
}

Json Chrome::event(const char* phase, const Thread& thread, Time time) const {
  Json event(json_object());
  set(event, "ph", json_string(phase));
  set(event, "pid", json_integer(number_of(*thread.process)));
  set(event, "tid", json_integer(thread.tid));
  set(event, "ts", microseconds(time - start_));
  return event;
}

void Chrome::process_appears(const Process& process) {
  numbers_[process.id] = process.pid + static_cast<std::int64_t>(lives_[process.pid]++) * most_pids;
}

void Chrome::write_names(const Thread& thread) {
  for (const char* what : {"process_name", "thread_name"}) {
    Json event(json_object());
    set(event, "ph", json_string("M"));
    set(event, "name", json_string(what));
    set(event, "pid", json_integer(number_of(*thread.process)));
    set(event, "tid", json_integer(thread.tid));
    Json arguments(json_object());
    set(arguments, "name", text(*what == 'p' ? thread.process->command : thread.command));
    set(event, "args", arguments.release());
    write_event(event);
  }
}

void Chrome::thread_appears(const Thread& thread) {
  write_names(thread);
}

void Chrome::forks(const Thread& thread, pid_t child, bool is_thread, Time time) {
  const Json fork = event("i", thread, time);
  set(fork, "name", json_string(is_thread ? "new thread" : "fork"));
  set(fork, "cat", json_string("process"));
  set(fork, "s", json_string("t"));
  Json arguments(json_object());
  set(arguments, "child", json_integer(child));
  set(fork, "args", arguments.release());
  write_event(fork);
}

void Chrome::executes(const Thread& thread) {
  write_names(thread);
  const Json exec = event("i", thread, thread.process->execs.back().time);
  set(exec, "name", text("exec " + thread.command));
  set(exec, "cat", json_string("process"));
  set(exec, "s", json_string("p"));
  write_event(exec);
}

void Chrome::call(const Call& call) {
  const Json slice = event("X", *call.thread, call.start);
  set(slice, "dur", microseconds(call.duration));
  set(slice, "name", text(call.name));
  const std::string category = call.is_function ? "library" : "syscall";
  set(slice, "cat", text(call.failed ? category + ",failed" : category));
  set(slice, "args", arguments_of(call).release());
  write_event(slice);
}

void Chrome::signal(const Signal& signal) {
  const Json instant = event("i", *signal.thread, signal.time);
  set(instant, "name", text(signal.is_stop ? "stopped by " + std::string(signal.name) : std::string(signal.name)));
  set(instant, "cat", json_string("signal"));
  set(instant, "s", json_string("t"));
  if (signal.information != nullptr) {
    set(instant, "args", json_deep_copy(signal.information));
  }
  write_event(instant);
}

void Chrome::process_goes(const Process& process) {
  Json event(json_object());
  set(event, "ph", json_string("i"));
  set(event, "pid", json_integer(number_of(process)));
  set(event, "tid", json_integer(process.pid));
  set(event, "ts", microseconds(process.end.value_or(process.start) - start_));
  set(event, "name", text(ending(process)));
  set(event, "cat", json_string("process"));
  set(event, "s", json_string("p"));
  write_event(event);
  numbers_.erase(process.id);
}

void Chrome::lost(std::uint64_t events) {
  Json event(json_object());
  set(event, "ph", json_string("M"));
  set(event, "name", json_string("lost_events"));
  set(event, "pid", json_integer(0));
  Json arguments(json_object());
  set(arguments, "events", json_integer(static_cast<json_int_t>(events)));
  set(event, "args", arguments.release());
  write_event(event);
}

void Chrome::finish() {
  write_(first_ ? "[]\n" : "\n]\n");
}

}  // namespace tracer::pipeline::exports
