#include "pipeline/exports/perfetto.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "pipeline/exports/history.h"
#include "pipeline/exports/shell_words.h"

namespace tracer::pipeline::exports {

namespace {

// Fields of the messages in protos/perfetto/trace.
namespace trace_file {
constexpr unsigned packet = 1;
}
namespace packet_field {
constexpr unsigned clock_snapshot = 6;
constexpr unsigned timestamp = 8;
constexpr unsigned sequence_id = 10;
constexpr unsigned track_event = 11;
constexpr unsigned interned_data = 12;
constexpr unsigned sequence_flags = 13;
constexpr unsigned defaults = 59;
constexpr unsigned track_descriptor = 60;
constexpr unsigned first_on_sequence = 87;
}  // namespace packet_field
namespace event_field {
constexpr unsigned category_iids = 3;
constexpr unsigned annotations = 4;
constexpr unsigned type = 9;
constexpr unsigned name_iid = 10;
constexpr unsigned track = 11;
constexpr unsigned name = 23;
constexpr unsigned counter_value = 30;
constexpr unsigned flow_ids = 47;
constexpr unsigned terminating_flow_ids = 48;
}  // namespace event_field
namespace annotation_field {
constexpr unsigned name_iid = 1;
constexpr unsigned bool_value = 2;
constexpr unsigned int_value = 4;
constexpr unsigned double_value = 5;
constexpr unsigned string_value = 6;
constexpr unsigned pointer_value = 7;
constexpr unsigned name = 10;
constexpr unsigned dict_entries = 11;
constexpr unsigned array_values = 12;
}  // namespace annotation_field
namespace interned_field {
constexpr unsigned categories = 1;
constexpr unsigned names = 2;
constexpr unsigned annotation_names = 3;
}  // namespace interned_field
namespace track_field {
constexpr unsigned uuid = 1;
constexpr unsigned name = 2;
constexpr unsigned process = 3;
constexpr unsigned thread = 4;
constexpr unsigned parent = 5;
constexpr unsigned counter = 8;
}  // namespace track_field

constexpr std::uint64_t sequence = 1;
// BuiltinClock; 64 and above are clocks of a sequence.
constexpr std::uint64_t realtime_clock = 1;
constexpr std::uint64_t monotonic_clock = 3;
constexpr std::uint64_t boottime_clock = 6;
constexpr std::uint64_t own_clock = 64;

constexpr std::size_t most_born = 10'000;  // children that are not followed never appear
constexpr unsigned deepest = 64;

/// SplitMix64, which mixes all bits.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

Message clock(std::uint64_t id, Time time) {
  Message message;
  message.number(1, id);
  message.integer(2, time.count());
  return message;
}

Message interned(std::uint64_t number, std::string_view text) {
  Message message;
  message.number(1, number);
  message.text(2, text);
  return message;
}

}  // namespace

std::uint64_t Interned::number_of(std::string_view text, bool& added) {
  added = false;
  if (const auto known = numbers_.find(std::string(text)); known != numbers_.end()) {
    return known->second;
  }
  if (numbers_.size() == most) {
    return 0;
  }
  added = true;
  return numbers_[std::string(text)] = numbers_.size() + 1;
}

// ---------------------------------------------------------------------------------------------- packets

void Perfetto::write_packet(Message& packet) {
  constexpr std::uint64_t cleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED
  constexpr std::uint64_t needs = 2;    // SEQ_NEEDS_INCREMENTAL_STATE
  packet.number(packet_field::sequence_id, sequence);
  packet.number(packet_field::sequence_flags, first_ ? cleared : needs);
  if (first_) {
    packet.number(packet_field::first_on_sequence, 1);
    Message defaults;
    defaults.number(58, own_clock);  // timestamp_clock_id
    packet.message(packet_field::defaults, defaults);
    first_ = false;
  }
  if (!interned_.empty()) {
    packet.message(packet_field::interned_data, interned_);
    interned_.clear();
  }
  Message whole;
  whole.message(trace_file::packet, packet);
  write_(whole.bytes());
}

void Perfetto::write_event(const Message& event, Time time) {
  Message packet;
  last_ = std::max(last_, time);
  packet.integer(packet_field::timestamp, std::max(time - start_, Time{}).count());
  packet.message(packet_field::track_event, event);
  write_packet(packet);
}

void Perfetto::begins(const trace::EventTime& first) {
  start_ = first.monotonic;
  seed_ = mixed(static_cast<std::uint64_t>(first.realtime.count()));
  Message snapshot;
  snapshot.message(1, clock(own_clock, Time{}));
  // Every reader must find a way to the clock of boot time; it stands still during suspend as the monotonic clock does.
  snapshot.message(1, clock(boottime_clock, first.monotonic));
  snapshot.message(1, clock(monotonic_clock, first.monotonic));
  snapshot.message(1, clock(realtime_clock, first.realtime));
  Message packet;
  packet.message(packet_field::clock_snapshot, snapshot);
  write_packet(packet);
}

// ---------------------------------------------------------------------------------------------- tracks

std::uint64_t Perfetto::track(const Process& process) const {
  return mixed(seed_ + process.id * 8);
}

std::uint64_t Perfetto::track(const Thread& thread) const {
  return mixed(seed_ + thread.id * 8 + 1);
}

std::uint64_t Perfetto::track(const Process& process, Counter counter) const {
  return mixed(seed_ + process.id * 8 + 2 + static_cast<std::uint64_t>(counter));
}

void Perfetto::describe(const Process& process) {
  Message details;
  details.integer(1, process.pid);
  if (!process.execs.empty()) {
    for (const std::string& word : process.execs.back().arguments) {
      details.text(2, shell_word(word));
    }
  }
  details.text(6, process.command);
  details.integer(7, process.start.count());  // start_timestamp_ns, of the clock of boot time
  Message descriptor;
  descriptor.number(track_field::uuid, track(process));
  descriptor.message(track_field::process, details);
  Message packet;
  packet.message(packet_field::track_descriptor, descriptor);
  write_packet(packet);
}

void Perfetto::describe(const Thread& thread) {
  Message details;
  details.integer(1, thread.process->pid);
  details.integer(2, thread.tid);
  details.text(5, thread.command);
  Message descriptor;
  descriptor.number(track_field::uuid, track(thread));
  descriptor.number(track_field::parent, track(*thread.process));
  descriptor.message(track_field::thread, details);
  Message packet;
  packet.message(packet_field::track_descriptor, descriptor);
  write_packet(packet);
}

void Perfetto::describe(const Process& process, Counter counter) {
  constexpr std::array<std::string_view, 3> names = {"descriptors opened and not closed", "bytes received",
                                                     "bytes sent"};
  Message details;
  details.number(3, counter == Counter::descriptors ? 2 : 3);  // UNIT_COUNT, UNIT_SIZE_BYTES
  Message descriptor;
  descriptor.number(track_field::uuid, track(process, counter));
  descriptor.number(track_field::parent, track(process));
  descriptor.text(track_field::name, names[static_cast<std::size_t>(counter)]);
  descriptor.message(track_field::counter, details);
  Message packet;
  packet.message(packet_field::track_descriptor, descriptor);
  write_packet(packet);
}

void Perfetto::process_appears(const Process& process) {
  describe(process);
  for (const Counter counter : {Counter::descriptors, Counter::received, Counter::sent}) {
    describe(process, counter);
  }
  descriptors_.process_appears(process);
}

void Perfetto::thread_appears(const Thread& thread) {
  describe(thread);
  if (auto flow = born_.extract(thread.tid); !flow.empty()) {
    Message start = event(Phase::instant, track(thread));
    name(start, "start");
    categorize(start, "process");
    start.fixed(event_field::terminating_flow_ids, flow.mapped());
    write_event(start, thread.start);
  }
}

void Perfetto::thread_goes(const Thread& thread) {
  unfinished_.erase(thread.id);
}

void Perfetto::process_goes(const Process& process) {
  Message end = event(Phase::instant, track(process));
  name(end, ending(process));
  categorize(end, "process");
  write_event(end, process.end.value_or(process.start));
  descriptors_.process_goes(process);
  bytes_.erase(process.id);
}

// ---------------------------------------------------------------------------------------------- events

Message Perfetto::event(Phase phase, std::uint64_t track) {
  Message event;
  event.number(event_field::type, static_cast<std::uint64_t>(phase));
  event.number(event_field::track, track);
  return event;
}

void Perfetto::name(Message& event, std::string_view name) {
  bool added = false;
  const std::uint64_t number = names_.number_of(name, added);
  if (number == 0) {
    event.text(event_field::name, name);
    return;
  }
  if (added) {
    interned_.message(interned_field::names, interned(number, name));
  }
  event.number(event_field::name_iid, number);
}

void Perfetto::categorize(Message& event, std::string_view category) {
  bool added = false;
  const std::uint64_t number = categories_.number_of(category, added);
  if (added) {
    interned_.message(interned_field::categories, interned(number, category));
  }
  event.number(event_field::category_iids, number);
}

void Perfetto::set_annotation_name(Message& annotation, std::string_view name) {
  bool added = false;
  const std::uint64_t number = annotation_names_.number_of(name, added);
  if (number == 0) {
    annotation.text(annotation_field::name, name);
    return;
  }
  if (added) {
    interned_.message(interned_field::annotation_names, interned(number, name));
  }
  annotation.number(annotation_field::name_iid, number);
}

void Perfetto::set_value(Message& annotation, const json_t* value, unsigned depth) {
  if (value == nullptr || json_is_null(value) || depth > deepest) {
    annotation.text(annotation_field::string_value, json_is_null(value) ? "NULL" : "...");
  } else if (json_is_integer(value)) {
    annotation.integer(annotation_field::int_value, json_integer_value(value));
  } else if (json_is_real(value)) {
    annotation.real(annotation_field::double_value, json_real_value(value));
  } else if (json_is_boolean(value)) {
    annotation.number(annotation_field::bool_value, json_is_true(value) ? 1 : 0);
  } else if (json_is_array(value)) {
    for (std::size_t i = 0; i < json_array_size(value); ++i) {
      Message element;
      set_value(element, json_array_get(value, i), depth + 1);
      annotation.message(annotation_field::array_values, element);
    }
  } else if (json_is_object(value)) {
    auto* object = const_cast<json_t*>(value);
    for (void* at = json_object_iter(object); at != nullptr; at = json_object_iter_next(object, at)) {
      Message entry;
      entry.text(annotation_field::name, json_object_iter_key(at));
      set_value(entry, json_object_iter_value(at), depth + 1);
      annotation.message(annotation_field::dict_entries, entry);
    }
  } else {
    const std::string_view text = text_of(value);
    std::uint64_t address = 0;
    const char* end = text.data() + text.size();
    const bool is_address =
        text.starts_with("0x") && std::from_chars(text.data() + 2, end, address, 16).ptr == end && text.size() > 2;
    if (is_address) {
      annotation.number(annotation_field::pointer_value, address);
    } else {
      annotation.text(annotation_field::string_value, text);
    }
  }
}

void Perfetto::annotate(Message& event, std::string_view name, const json_t* value) {
  Message annotation;
  set_annotation_name(annotation, name);
  set_value(annotation, value, 0);
  event.message(event_field::annotations, annotation);
}

void Perfetto::annotate(Message& event, std::string_view name, std::string_view value) {
  Message annotation;
  set_annotation_name(annotation, name);
  annotation.text(annotation_field::string_value, value);
  event.message(event_field::annotations, annotation);
}

void Perfetto::end_open(const Thread& thread) {
  if (const auto open = unfinished_.extract(thread.id); !open.empty()) {
    write_event(event(Phase::end, track(thread)), open.mapped());  // the thread has gone on with another program
  }
}

void Perfetto::call(const Call& call) {
  end_open(*call.thread);
  Message begin = event(Phase::begin, track(*call.thread));
  name(begin, call.name.empty() ? "?" : call.name);
  categorize(begin, call.is_function ? "library" : "syscall");
  if (call.failed) {
    categorize(begin, "failed");
  }
  const json_t* arguments = call.arguments();
  for (std::size_t i = 0; i < json_array_size(arguments); ++i) {
    const json_t* each = json_array_get(arguments, i);
    const std::string_view given = text_of(json_object_get(each, "name"));
    annotate(begin, given.empty() ? "argument " + std::to_string(i + 1) : std::string(given),
             json_object_get(each, "value"));
  }
  for (const char* member : {"ret", "errno", "note"}) {
    if (const json_t* value = json_object_get(call.record, member); value != nullptr) {
      annotate(begin, member, value);
    }
  }
  if (!call.module.empty()) {
    annotate(begin, "library", call.module);
  }
  if (call.end != Call::End::returned) {
    annotate(begin, "unfinished", unfinished(call.end));
  }
  if (!call.stack.empty()) {
    Message stack;
    set_annotation_name(stack, "stack");
    for (const trace::StackFrame& frame : call.stack) {
      Message line;
      line.text(annotation_field::string_value, frame_text(frame));
      stack.message(annotation_field::array_values, line);
    }
    begin.message(event_field::annotations, stack);
  }
  write_event(begin, call.start);
  const Time end = call.start + call.duration;
  if (call.end == Call::End::exit || call.end == Call::End::detach) {
    unfinished_[call.thread->id] = end;
  } else {
    write_event(event(Phase::end, track(*call.thread)), end);
  }
  if (descriptors_.follow(call)) {
    count(*call.thread->process, Counter::descriptors,
          static_cast<std::int64_t>(descriptors_.count(*call.thread->process)), end);
  }
  count_bytes(call, end);
}

void Perfetto::count_bytes(const Call& call, Time time) {
  const int direction = call.is_function || call.failed || call.result <= 0 ? 0 : byte_direction(call.name);
  if (direction == 0 || call.end != Call::End::returned) {
    return;
  }
  Bytes& bytes = bytes_[call.thread->process->id];
  std::int64_t& total = direction > 0 ? bytes.received : bytes.sent;
  total += call.result;
  count(*call.thread->process, direction > 0 ? Counter::received : Counter::sent, total, time);
}

void Perfetto::count(const Process& process, Counter counter, std::int64_t value, Time time) {
  Message sample = event(Phase::counter, track(process, counter));
  sample.integer(event_field::counter_value, value);
  write_event(sample, time);
}

void Perfetto::instant(const Thread& thread, Time time, std::string_view what, std::string_view category) {
  Message instant = event(Phase::instant, track(thread));
  name(instant, what);
  categorize(instant, category);
  write_event(instant, time);
}

void Perfetto::forks(const Thread& thread, pid_t child, bool is_thread, Time time) {
  Message fork = event(Phase::instant, track(thread));
  name(fork, is_thread ? "new thread" : "fork");
  categorize(fork, "process");
  Message annotation;
  set_annotation_name(annotation, "child");
  annotation.integer(annotation_field::int_value, child);
  fork.message(event_field::annotations, annotation);
  fork.fixed(event_field::flow_ids, mixed(seed_ + ++last_flow_ * 8 + 7));
  write_event(fork, time);
  if (born_.size() < most_born) {
    born_[child] = mixed(seed_ + last_flow_ * 8 + 7);
  }
  if (!is_thread) {
    descriptors_.forks(*thread.process, child);
  }
}

void Perfetto::executes(const Thread& thread) {
  describe(*thread.process);
  describe(thread);
  const Time time = thread.process->execs.back().time;
  instant(thread, time, "exec " + thread.command, "process");
  if (descriptors_.executes(*thread.process)) {
    count(*thread.process, Counter::descriptors, static_cast<std::int64_t>(descriptors_.count(*thread.process)), time);
  }
}

void Perfetto::signal(const Signal& signal) {
  Message instant = event(Phase::instant, track(*signal.thread));
  name(instant, signal.is_stop ? "stopped by " + std::string(signal.name) : std::string(signal.name));
  categorize(instant, "signal");
  if (signal.information != nullptr) {
    annotate(instant, "info", signal.information);
  }
  write_event(instant, signal.time);
}

void Perfetto::lost(std::uint64_t events) {
  // An instant on the track of the whole trace.
  Message instant = event(Phase::instant, 0);
  name(instant, std::to_string(events) + " events lost here");
  categorize(instant, "lost");
  write_event(instant, last_);
}

void Perfetto::finish() {
  unfinished_.clear();
}

}  // namespace tracer::pipeline::exports
