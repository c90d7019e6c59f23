#include "pipeline/exports/html.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "pipeline/exports/gzip.h"
#include "pipeline/exports/report/report.h"
#include "pipeline/exports/shell_words.h"

namespace tracer::pipeline::exports {

namespace {

constexpr std::size_t most_texts = 500'000;
constexpr std::size_t most_text_bytes = std::size_t{128} << 20;
constexpr std::size_t most_threads = 100'000;
constexpr std::size_t most_marks = 10'000;

json_t* integer(std::uint64_t number) {
  return ::json_integer(static_cast<json_int_t>(number));
}

json_t* nanoseconds(Time time) {
  return ::json_integer(time.count());
}

json_t* string(std::string_view text) {
  json_t* made = ::json_stringn(text.data(), text.size());
  return made != nullptr ? made : ::json_string("");  // it was not UTF-8
}

/// Makes an array of what the references hold.
json_t* array(std::initializer_list<json_t*> elements) {
  json_t* made = ::json_array();
  for (json_t* element : elements) {
    ::json_array_append_new(made, element);
  }
  return made;
}

/// The call's own facts as JSON: name, type and value of each argument, the result, and the note.
std::string arguments_text(const Call& call) {
  std::string text = "[[";
  const json_t* arguments = call.arguments();
  for (std::size_t i = 0; i < ::json_array_size(arguments); ++i) {
    const json_t* each = ::json_array_get(arguments, i);
    text += i == 0 ? "" : ",";
    for (const char* member : {"name", "type", "value"}) {
      text += to_json_text(::json_object_get(each, member)) + ',';
    }
    text.pop_back();
  }
  text += ']';
  for (const char* member : {"ret", "note"}) {
    const json_t* value = ::json_object_get(call.record, member);
    text += ',' + (value == nullptr ? std::string("null") : to_json_text(value));
  }
  return text + ']';
}

/// Without the offset, so that calls from several places of a function are one frame.
std::string frame_name(const trace::StackFrame& frame) {
  switch (frame.kind) {
    case trace::StackFrame::Kind::unknown:
      return fmt::format("{:#x}", frame.address);
    case trace::StackFrame::Kind::limit:
      return "(limit)";
    case trace::StackFrame::Kind::cycle:
      return "(cycle)";
    case trace::StackFrame::Kind::code:
      break;
  }
  const std::string file = printable(frame.file.substr(frame.file.rfind('/') + 1));
  const std::string source =
      frame.source.empty() ? std::string() : fmt::format(" {}:{}", printable(frame.source), frame.line);
  return (frame.symbol.empty() ? fmt::format("{}+{:#x}", file, frame.file_offset)
                               : printable(frame.symbol) + ' ' + file) +
         source;
}

std::string name_beside(const json_t* value) {
  return std::string(text_of(::json_object_get(value, "name")));
}

}  // namespace

// ---------------------------------------------------------------------------------------------- sums

void NamedCalls::add(const Call& call) {
  ++calls;
  errors += call.failed ? 1 : 0;
  if (call.end == Call::End::returned) {
    total += call.duration;
    longest = std::max(longest, call.duration);
    ++latencies[latency_bucket_of(static_cast<unsigned long long>(std::max(Time(0), call.duration).count()))];
  }
}

Time NamedCalls::percentile(unsigned percent) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : latencies) {
    all += count;
  }
  const std::uint64_t rank = (all * percent + 99) / 100;
  if (rank == all) {
    return longest;  // which is known exactly
  }
  std::uint64_t below = 0;
  for (unsigned bucket = 0; bucket < latency_buckets; ++bucket) {
    below += latencies[bucket];
    if (below >= rank && below != 0) {
      return std::min(longest, Time(latency_bucket_start(bucket)));
    }
  }
  return longest;
}

std::uint32_t StackTree::add(std::span<const trace::StackFrame> stack, TextTable& texts, Time duration) {
  std::uint32_t node = 0;
  for (std::size_t i = stack.size(); i-- > 0;) {
    const std::uint32_t frame = texts.add(frame_name(stack[i]));
    const auto [child, is_new] = children_.try_emplace({node, frame}, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new && nodes_.size() == most) {
      children_.erase(child);
      break;
    }
    if (is_new) {
      nodes_.push_back({node, frame, 0, {}});
    }
    node = child->second;
  }
  ++nodes_[node].calls;
  nodes_[node].time += duration;
  return node;
}

// ---------------------------------------------------------------------------------------------- facts

Html::Html(Write write, Verdict verdict, std::size_t calls_to_keep)
    : write_(std::move(write)),
      verdict_(std::move(verdict)),
      texts_(most_texts, most_text_bytes),
      calls_(calls_to_keep) {}

void Html::begins(const trace::EventTime& first) {
  first_ = first;
  last_ = first.monotonic;
}

void Html::thread_appears(const Thread& thread) {
  history_.thread_appears(thread);
  if (threads_.size() < most_threads) {
    threads_.push_back({thread.tid, thread.process->id, thread.start, thread.last, thread.command});
  }
}

void Html::thread_goes(const Thread& thread) {
  if (thread.id <= threads_.size()) {
    threads_[thread.id - 1].last = thread.last;
    threads_[thread.id - 1].command = thread.command;
  }
  last_ = std::max(last_, thread.last);
}

void Html::executes(const Thread& thread) {
  history_.executes(thread);
  mark(thread, thread.last, "execve " + thread.process->command);
}

void Html::signal(const Signal& signal) {
  mark(*signal.thread, signal.time, (signal.is_stop ? "stopped by " : "") + std::string(signal.name));
}

void Html::mark(const Thread& thread, Time time, std::string_view text) {
  if (marks_.size() < most_marks) {
    marks_.push_back({thread.id, time, texts_.add(text)});
  }
}

/// Returns the name of the descriptor that it returned or got, or its path; empty: it is about neither.
std::string Html::object_of(const Call& call) const {
  if (call.result_is_descriptor) {
    if (std::string name = name_beside(::json_object_get(call.record, "ret")); !name.empty()) {
      return name;
    }
  }
  const json_t* descriptor = descriptor_argument(call.arguments());
  std::string of_descriptor = name_beside(descriptor);
  if (std::string address = name_with_address(of_descriptor, call.name, call.arguments()); !address.empty()) {
    of_descriptor = std::move(address);
  }
  bool cut = false;
  const json_t* argument = path_argument(call.arguments());
  const std::string path = argument == nullptr ? std::string() : printable(bytes_of(bare(argument), cut));
  if (path.empty()) {
    return text_of(bare(descriptor)) == "AT_FDCWD" ? std::string() : of_descriptor;
  }
  return path.front() == '/' || of_descriptor.empty() ? path : of_descriptor + '/' + path;
}

void Html::call(const Call& call) {
  last_ = std::max(last_, call.start + call.duration);
  CallRow row;
  row.start = (call.start - first_.monotonic).count();
  row.duration = std::max(Time(0), call.duration).count();
  row.result = call.result;
  row.thread = static_cast<std::uint32_t>(call.thread->id);
  row.name = texts_.add(call.is_function ? fmt::format("{}@{}", printable(call.name), printable(call.module))
                                         : printable(call.name));
  row.error = texts_.add(call.error);
  row.object = texts_.add(object_of(call));
  row.end = static_cast<std::uint32_t>(call.end);
  if (!call.stack.empty()) {
    row.stack = stacks_.add(call.stack, texts_, call.duration);
  }
  named_[row.name].add(call);
  if (row.object != 0) {
    ObjectCalls& object = objects_[row.object];
    ++object.calls;
    object.total += call.duration;
    if (call.failed) {
      ++object.errors;
      object.error = row.error;
    } else if (call.result > 0) {
      const int direction = byte_direction(call.name);
      object.received += direction > 0 ? static_cast<std::uint64_t>(call.result) : 0;
      object.sent += direction < 0 ? static_cast<std::uint64_t>(call.result) : 0;
    }
  }
  calls_.add(row, arguments_text(call));
}

// ---------------------------------------------------------------------------------------------- the file

std::vector<std::pair<std::string_view, std::string>> Html::columns() const {
  std::vector<std::pair<std::string_view, std::string>> result;
  const auto add = [&](std::string_view name, auto value_of) {
    std::string bytes;
    for (const CallRow& row : calls_.rows()) {
      append_varint(bytes, value_of(row));
    }
    result.emplace_back(name, std::move(bytes));
  };
  std::int64_t before = 0;
  add("start", [&before](const CallRow& row) { return zigzag(row.start - std::exchange(before, row.start)); });
  add("duration", [](const CallRow& row) { return static_cast<std::uint64_t>(row.duration); });
  add("thread", [](const CallRow& row) { return row.thread; });
  add("name", [](const CallRow& row) { return row.name; });
  add("error", [](const CallRow& row) { return row.error; });
  add("object", [](const CallRow& row) { return row.object; });
  add("end", [](const CallRow& row) { return row.end; });
  add("stack", [](const CallRow& row) { return row.stack; });
  add("arguments", [](const CallRow& row) { return row.arguments; });
  std::string lengths;
  std::string all;
  for (const std::string_view text : calls_.arguments()) {
    append_varint(lengths, text.size());
    all += text;
  }
  result.emplace_back("lengths", std::move(lengths));
  result.emplace_back("texts", std::move(all));
  return result;
}

Json Html::processes() const {
  Json result(::json_array());
  for (const History::Node& node : history_.nodes()) {
    const Process& process = node.process;
    json_t* execs = ::json_array();
    for (const Exec& exec : process.execs) {
      ::json_array_append_new(
          execs, array({nanoseconds(exec.time - first_.monotonic),
                        string((exec.arguments.empty() ? printable(exec.path) : shell_words(exec.arguments)) +
                               (exec.cut ? " …" : ""))}));
    }
    const Time end = process.end.value_or(last_);
    ::json_array_append_new(
        result.get(),
        array({integer(process.id), integer(process.parent), ::json_integer(process.pid), string(process.command),
               nanoseconds(process.start - first_.monotonic), nanoseconds(end - first_.monotonic),
               string(ending(process)), integer(node.threads), execs}));
  }
  return result;
}

Json Html::head(const std::vector<std::pair<std::string_view, std::string>>& columns) const {
  Json head(::json_object());
  const auto set = [&](const char* member, json_t* value) { ::json_object_set_new(head.get(), member, value); };
  const auto list_of = [](const auto& all, auto make) {
    json_t* list = ::json_array();
    for (const auto& each : all) {
      ::json_array_append_new(list, make(each));
    }
    return list;
  };
  set("v", ::json_integer(1));
  set("started", nanoseconds(first_.realtime));
  set("lasted", nanoseconds(last_ - first_.monotonic));
  set("lost", integer(lost_));
  set("calls", integer(calls_.total()));
  set("rows", integer(calls_.rows().size()));
  set("all_arguments", json_boolean(calls_.arguments_are_complete()));
  set("left_out_processes", integer(history_.left_out()));
  set("processes", processes().release());
  set("threads", list_of(threads_, [this](const ThreadSpan& thread) {
        return array({::json_integer(thread.tid), integer(thread.process), nanoseconds(thread.start - first_.monotonic),
                      nanoseconds(thread.last - first_.monotonic), string(thread.command)});
      }));
  set("marks", list_of(marks_, [this](const Mark& mark) {
        return array({integer(mark.thread), nanoseconds(mark.time - first_.monotonic), integer(mark.text)});
      }));
  set("strings", list_of(texts_.texts(), [](std::string_view text) { return string(text); }));
  set("names", list_of(named_, [](const auto& entry) {
        const NamedCalls& named = entry.second;
        return array({integer(entry.first), integer(named.calls), integer(named.errors), nanoseconds(named.total),
                      nanoseconds(named.percentile(50)), nanoseconds(named.percentile(95)),
                      nanoseconds(named.percentile(99)), nanoseconds(named.longest)});
      }));
  set("objects", list_of(objects_, [](const auto& entry) {
        const ObjectCalls& object = entry.second;
        return array({integer(entry.first), integer(object.calls), integer(object.errors), integer(object.error),
                      integer(object.received), integer(object.sent), nanoseconds(object.total)});
      }));
  set("stacks", list_of(stacks_.nodes(), [](const StackTree::Node& node) {
        return array({integer(node.parent), integer(node.frame), integer(node.calls), nanoseconds(node.time)});
      }));
  const Json verdict = read_json(verdict_ ? verdict_() : std::string());
  if (verdict) {
    ::json_object_set(head.get(), "verdict", verdict.get());
  }
  set("columns", list_of(columns, [](const auto& column) {
        return array({string(column.first), integer(column.second.size())});
      }));
  return head;
}

void Html::finish() {
  calls_.sort();
  const auto all = columns();
  const std::string json = to_json_text(head(all).get());
  write_(report::start());
  GzipBase64 data(write_);
  std::string length;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    length.push_back(static_cast<char>(json.size() >> shift));
  }
  data.write(length);
  data.write(json);
  for (const auto& [name, bytes] : all) {
    data.write(bytes);
  }
  data.finish();
  write_(report::end());
}

}  // namespace tracer::pipeline::exports
