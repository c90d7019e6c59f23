#include "explain/json_trace.h"

#include <fmt/core.h>
#include <jansson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/signal_names.h"

namespace tracer::explain {

namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20;

struct Release {
  void operator()(json_t* json) const { json_decref(json); }
};
using Document = std::unique_ptr<json_t, Release>;

std::string text_of(const json_t* json) {
  return json_is_string(json) ? std::string(json_string_value(json), json_string_length(json)) : std::string();
}

/// Returns an integer. Numbers beyond 2^53 are strings in the trace.
std::int64_t number_of(const json_t* json) {
  return json_is_string(json) ? std::strtoll(json_string_value(json), nullptr, 0) : json_integer_value(json);
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::strtoul(digits.substr(i, 2).c_str(), nullptr, 16)));
  }
  return bytes;
}

/// `is_text`: a string holds bytes of the tracee, not the name of a number.
Value value_of(const json_t* json, bool is_text, unsigned depth = 0) {
  constexpr unsigned deepest = 64;
  Value value;
  if (depth > deepest || json == nullptr || json_is_null(json)) {
    return value;
  }
  if (json_is_integer(json)) {
    value.kind = Value::Kind::number;
    value.number = json_integer_value(json);
  } else if (json_is_string(json)) {
    value.kind = is_text ? Value::Kind::text : Value::Kind::words;
    value.text = text_of(json);
  } else if (json_is_array(json)) {
    value.kind = Value::Kind::list;
    for (std::size_t i = 0; i < json_array_size(json); ++i) {
      value.members.push_back({"", value_of(json_array_get(json, i), is_text, depth + 1)});
    }
  } else if (const json_t* after = json_object_get(json, "after"); after != nullptr) {
    return value_of(after, is_text, depth + 1);
  } else if (const json_t* inner = json_object_get(json, "value"); inner != nullptr) {
    value = value_of(inner, is_text, depth + 1);
    value.name = text_of(json_object_get(json, "name"));
  } else if (json_object_get(json, "bytes") != nullptr || json_object_get(json, "truncated") != nullptr) {
    value.kind = Value::Kind::text;
    value.text = json_object_get(json, "bytes") != nullptr ? from_hex(text_of(json_object_get(json, "bytes")))
                                                           : text_of(json_object_get(json, "string"));
    value.cut = json_is_true(json_object_get(json, "truncated"));
  } else if (json_is_object(json)) {
    value.kind = Value::Kind::object;
    for (void* at = json_object_iter(const_cast<json_t*>(json)); at != nullptr;
         at = json_object_iter_next(const_cast<json_t*>(json), at)) {
      const std::string name = json_object_iter_key(at);
      const bool member_is_text = is_text || name == "sun_path" || name == "iov_base";
      value.members.push_back({name, value_of(json_object_iter_value(at), member_is_text, depth + 1)});
    }
  }
  return value;
}

bool holds_text(const std::string& type) {
  return type.find("path") != std::string::npos || type.find("str") != std::string::npos ||
         type.find("bytes") != std::string::npos;
}

Call call_of(const json_t* record) {
  Call call;
  call.name = text_of(json_object_get(record, "name"));
  const json_t* args = json_object_get(record, "args");
  for (std::size_t i = 0; i < json_array_size(args); ++i) {
    const json_t* one = json_array_get(args, i);
    Argument& argument = call.args.emplace_back();
    argument.name = text_of(json_object_get(one, "name"));
    argument.type = text_of(json_object_get(one, "type"));
    argument.raw = static_cast<std::uint64_t>(number_of(json_object_get(one, "raw")));
    argument.value = value_of(json_object_get(one, "value"), holds_text(argument.type));
  }
  const json_t* result = json_object_get(record, "ret");
  if (const json_t* error = json_object_get(record, "errno"); error != nullptr) {
    call.outcome = CallOutcome::failed;
    call.error = json_is_string(error) ? text_of(error) : std::to_string(json_integer_value(error));
  } else if (result != nullptr && !json_is_null(result)) {
    call.outcome = CallOutcome::returned;
    call.result_value = value_of(result, false);
    call.result = json_is_object(result) ? call.result_value.number : number_of(result);
  }
  call.note = text_of(json_object_get(record, "note"));
  return call;
}

int number_of_signal(std::string_view name) {
  constexpr std::uint64_t last = 64;
  std::uint64_t number = 1;
  while (number <= last && spec::signal_name(number) != name) {
    ++number;
  }
  return number <= last ? static_cast<int>(number) : 0;
}

ExitInfo exit_of(const json_t* record) {
  ExitInfo exit;
  exit.signal = text_of(json_object_get(record, "signal"));
  exit.by_signal = !exit.signal.empty();
  exit.status =
      exit.by_signal ? number_of_signal(exit.signal) : static_cast<int>(number_of(json_object_get(record, "status")));
  exit.core = json_is_true(json_object_get(record, "core"));
  return exit;
}

std::vector<Frame> stack_of(const json_t* record) {
  constexpr std::size_t max_frames = 32;
  std::vector<Frame> stack;
  const json_t* frames = json_object_get(record, "stack");
  for (std::size_t i = 0; i < std::min(json_array_size(frames), max_frames); ++i) {
    const json_t* one = json_array_get(frames, i);
    Frame& frame = stack.emplace_back();
    frame.function = text_of(json_object_get(one, "symbol"));
    frame.file = text_of(json_object_get(one, "file"));
    frame.source = text_of(json_object_get(one, "source"));
    frame.line = static_cast<unsigned>(number_of(json_object_get(one, "line")));
  }
  return stack;
}

void add_record(const json_t* record, Story& story) {
  const std::string type = text_of(json_object_get(record, "type"));
  const auto pid = static_cast<pid_t>(number_of(json_object_get(record, "pid")));
  const auto tid = static_cast<pid_t>(number_of(json_object_get(record, "tid")));
  const Time time(number_of(json_object_get(record, "ts")));
  story.command(pid, text_of(json_object_get(record, "comm")));
  if (type == "lost") {
    story.lost(static_cast<std::uint64_t>(number_of(json_object_get(record, "events"))));
  } else if (type == "syscall" && text_of(json_object_get(record, "unfinished")) == "lost") {
    return;  // whether it returned is not known
  } else if (type == "syscall") {
    Call call = call_of(record);
    const bool left_inside = call.outcome == CallOutcome::unfinished;
    story.begin_call(pid, tid, time, call);
    if (!left_inside) {
      story.end_call(pid, {tid, time}, std::move(call));
    }
  } else if (type == "signal") {
    SignalInfo signal;
    signal.name = text_of(json_object_get(record, "signal"));
    signal.info = value_of(json_object_get(record, "info"), false);
    signal.stack = stack_of(record);
    story.signal(pid, {tid, time}, std::move(signal));
  } else if (type == "fork") {
    story.fork(pid, static_cast<pid_t>(number_of(json_object_get(record, "child"))),
               json_is_true(json_object_get(record, "thread")), time);
  } else if (type == "exec") {
    story.exec(pid, time);
  } else if (type == "exit") {
    story.exited(pid, tid, time, exit_of(record));
  } else if (type == "detach") {
    story.detached(pid, tid);
  }
}

/// Adds the record in `line` to the story; returns false if it is not a record.
bool add_line(std::string_view line, Story& story) {
  json_error_t error;
  const Document record(json_loadb(line.data(), line.size(), JSON_ALLOW_NUL, &error));
  if (record == nullptr || json_object_get(record.get(), "type") == nullptr) {
    return false;
  }
  add_record(record.get(), story);
  return true;
}

}  // namespace

Status read_json_trace(int fd, Story& story) {
  std::vector<char> chunk(std::size_t{64} << 10);
  std::string unread;  // an incomplete line
  std::size_t number = 1;
  for (bool ended = false; !ended;) {
    const ssize_t size = ::read(fd, chunk.data(), chunk.size());
    if (size < 0) {
      if (errno == EINTR) {
        continue;
      }
      return Error{errno, std::strerror(errno)};
    }
    ended = size == 0;
    const std::size_t searched = unread.size();
    unread.append(chunk.data(), static_cast<std::size_t>(size));
    std::string_view lines = unread;
    for (std::size_t end = lines.find('\n', searched); !lines.empty(); end = lines.find('\n'), ++number) {
      if (end == std::string_view::npos && !ended && lines.size() <= longest_line) {
        break;
      }
      const std::string_view line = lines.substr(0, end);
      if (line.size() > longest_line || (!line.empty() && !add_line(line, story))) {
        return Error{0, fmt::format("line {} is no record of --format=json", number)};
      }
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
    unread.erase(0, unread.size() - lines.size());
  }
  return Done{};
}

}  // namespace tracer::explain
