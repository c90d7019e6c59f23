#include "replay/event_reader.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "replay/mark.h"

namespace tracer::replay {
namespace {

trace::Tampered tampered_of(std::uint64_t bits) {
  trace::Tampered what;
  what.arguments = (bits & 1U) != 0;
  what.result = (bits & 2U) != 0;
  what.signal = (bits & 4U) != 0;
  what.delayed = (bits & 8U) != 0;
  what.poke_failed = (bits & 16U) != 0;
  return what;
}

/// The sum wraps where a file says what cannot be.
std::chrono::nanoseconds plus(std::chrono::nanoseconds time, std::int64_t more) {
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(time.count()) + static_cast<std::uint64_t>(more)));
}

std::chrono::nanoseconds since(std::chrono::nanoseconds start, std::chrono::nanoseconds end) {
  return plus(end, static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(start.count())));
}

/// What follows the facts that an event has among the events.
bool ends_event(Tag tag) {
  return has_head(tag) || tag == Tag::lost || tag == Tag::call_name;
}

Tag take_tag(Cursor& in) {
  const std::uint64_t tag = in.number();
  return tag <= 0xff ? static_cast<Tag>(tag) : Tag{0xff};
}

}  // namespace

void EventReader::begin(std::string_view block, std::uint32_t events_size) {
  const std::size_t end = std::min<std::size_t>(events_size, block.size());
  columns_.begin(block.substr(0, end));
  is_version_3_ = columns_.at(Column::time_lows).at_end();
  rest_of_facts_ = Cursor(block.substr(end));
  damaged_ = end < events_size;
  has_facts_ = end < block.size();  // each event has a byte of them
  state_ = {};
  thread_ = &state_.threads[state_.tid];
  known_ = {};
  facts_.begin();
}

std::string_view EventReader::call_name(Abi abi, std::uint64_t number) const {
  const auto name = known_.call_names.find(BlockState::key_of(abi, number));
  return name == known_.call_names.end() ? std::string_view{} : name->second;
}

// What is called for each event, from one place, is inline.

EventReader::Found EventReader::next() {
  facts_.clear();
  bool found = false;
  Cursor& tags = columns_.at(Column::tags);
  while (!damaged_ && !tags.at_end()) {
    if (found && ends_event(static_cast<Tag>(tags.peek()))) {  // they all take one byte
      return Found::event;
    }
    const Tag tag = take_tag(tags);
    if (has_head(tag)) {
      found = take_event(tag);
    } else {
      const Record record{tag, columns_.at(Column::others).text()};
      damaged_ = damaged_ || columns_.failed();
      if (tag == Tag::lost && !damaged_) {
        lost_ = Cursor(record.payload).number();
        return Found::lost;
      }
      take_fact(record);
    }
  }
  return found ? Found::event : damaged_ ? Found::damage : Found::end;
}

inline void EventReader::take_facts(bool wanted) {
  std::uint64_t size = rest_of_facts_.number();
  if (!is_version_3_) {
    const std::uint64_t places = size % 2 != 0 ? rest_of_facts_.number() : 0;
    facts_.take_known_files(wanted ? places : 0, *thread_);
    size /= 2;
  }
  Cursor facts(rest_of_facts_.take(size));
  while (wanted && !facts.at_end()) {
    const Tag tag = take_tag(facts);
    const std::string_view payload = facts.text();
    facts_.take({tag, payload}, *thread_);
  }
  damaged_ = damaged_ || facts.failed() || rest_of_facts_.failed() || facts_.is_excessive();
}

/// Events and names of calls take a byte at least, and a block ends where it reaches its size.
inline bool EventReader::remember() {
  damaged_ = damaged_ || ++known_.count > block_size;
  return !damaged_;
}

// ---------------------------------------------------------------------------------------------- events

/// Eight bits, which are a byte since version 4.
inline unsigned EventReader::take_bits(Column column) {
  Cursor& bits = columns_.at(column);
  return is_version_3_ ? static_cast<unsigned>(bits.number() & 0xffU) : bits.byte();
}

inline void EventReader::take_head() {
  flags_ = take_bits(Column::flags);
  Cursor& threads = columns_.at(Column::threads);
  if ((flags_ & same_thread) == 0) {
    state_.tid = threads.as_signed<pid_t>();
    thread_ = &state_.threads[state_.tid];
    thread_->tgid = static_cast<pid_t>(state_.tid + threads.signed_number());
  }
  ThreadMemory& thread = *thread_;
  if ((flags_ & same_abi) == 0) {
    thread.abi = static_cast<Abi>(threads.number() % abi_count);
  }
  Cursor& times = columns_.at(Column::times);
  std::uint64_t since = times.number();
  if (!is_version_3_) {
    since = since << 8U | columns_.at(Column::time_lows).byte();
  }
  state_.monotonic = plus(state_.monotonic, from_zigzag(since));
  if ((flags_ & same_offset) == 0) {
    state_.offset = plus(state_.offset, times.signed_number());
  }
  event_.tid = state_.tid;
  event_.tgid = thread.tgid;
  event_.abi = thread.abi;
  event_.time.monotonic = state_.monotonic;
  event_.time.realtime = plus(state_.monotonic, state_.offset.count());
}

inline bool EventReader::take_event(Tag tag) {
  if (!remember()) {
    return false;
  }
  take_head();
  if (tag == Tag::syscall_enter) {
    take_syscall_enter();
  } else if (tag == Tag::syscall_exit) {
    take_syscall_exit();
  } else {
    Cursor in(columns_.at(Column::others).text());
    if (is_event(tag)) {
      take_other_event(tag, in);
    }
    damaged_ = damaged_ || in.failed();
  }
  damaged_ = damaged_ || columns_.failed() || facts_.is_excessive();
  if (damaged_) {
    return false;
  }
  if (has_facts_) {
    take_facts(is_event(tag));
  }
  return is_event(tag);  // else it is of a later version
}

void EventReader::take_other_event(Tag tag, Cursor& in) {
  switch (tag) {
    case Tag::signal_stop: {
      trace::SignalStop stop;
      stop.signal = in.as_signed<int>();
      stop.instruction_pointer = in.number();
      stop.siginfo = bytes_of(in.rest());
      event_.what = stop;
      break;
    }
    case Tag::group_stop:
      event_.what = trace::GroupStop{in.as_signed<int>()};
      break;
    case Tag::exec: {
      trace::Exec exec;
      exec.former_tid = in.as_signed<pid_t>();
      const std::uint64_t abi = in.number();
      exec.abi = abi == 0 || abi > abi_count ? std::nullopt : std::optional(static_cast<Abi>(abi - 1));
      event_.what = exec;
      break;
    }
    case Tag::fork: {
      const auto child = in.as_signed<pid_t>();
      event_.what = trace::Fork{child, in.flag()};
      break;
    }
    case Tag::attached: {
      trace::Attached attached;
      attached.by_request = in.flag();
      attached.threads = in.as<unsigned>();
      attached.command = in.rest();
      event_.what = attached;
      break;
    }
    case Tag::detached:
      event_.what = trace::Detached{};
      break;
    case Tag::exited:
      event_.what = trace::Exited{in.as_signed<int>()};
      break;
    case Tag::library_enter:
      event_.what = library_enter(in);
      break;
    case Tag::library_exit:
      event_.what = library_exit(in);
      break;
    case Tag::library_calls: {
      const trace::LibraryFunction* function = take_function(in);
      event_.what = trace::LibraryCalls{function, in.number()};
      break;
    }
    case Tag::probe_hit:
      event_.what = probe_hit(in);
      break;
    default:
      event_.what = trace::SyscallLost{};
      break;
  }
}

inline void EventReader::take_syscall_enter() {
  const std::uint64_t number = columns_.at(Column::calls).number();
  CallMemory& before = state_.calls[BlockState::key_of(event_.abi, number)];
  ThreadMemory& thread = *thread_;
  for (unsigned changed = take_bits(Column::changes); changed != 0; changed &= changed - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(changed));
    before.registers[index] = columns_.at(register_column(index)).difference(before.registers[index]);
  }
  const auto& known = before.registers;
  auto& enter = event_.what.emplace<trace::SyscallEnter>(trace::SyscallEnter{
      number, {known[0], known[1], known[2], known[3], known[4], known[5]}, known[6], known[7], {}, std::nullopt});
  if ((flags_ & tampered) != 0) {
    enter.tampered = tampered_of(columns_.at(Column::others).number());
  }
  if ((flags_ & has_more) != 0) {
    enter.interrupted = columns_.at(Column::others).number();
  }
  thread.call = &before;
  thread.entered = event_.time.monotonic;
  thread.instruction_pointer = enter.instruction_pointer;
  thread.args = enter.args;
}

inline void EventReader::take_syscall_exit() {
  auto& exit = event_.what.emplace<trace::SyscallExit>();
  const ThreadMemory& thread = *thread_;
  CallMemory& before = state_.entered_by(thread);
  before.value = columns_.at(Column::results).difference(before.value);
  exit.value = static_cast<std::int64_t>(before.value);
  exit.is_error = (flags_ & failed) != 0;
  exit.instruction_pointer =
      (flags_ & same_pointer) != 0 ? thread.instruction_pointer : columns_.at(Column::instruction_pointers).number();
  if ((flags_ & tampered) != 0) {
    exit.tampered = tampered_of(columns_.at(Column::others).number());
  }
  if ((flags_ & never_off_cpu) != 0) {
    exit.cpu_time = since(thread.entered, event_.time.monotonic);
  } else if ((flags_ & has_more) != 0) {
    exit.cpu_time = std::chrono::nanoseconds(columns_.at(Column::others).signed_number());
  }
}

const trace::LibraryFunction* EventReader::take_function(Cursor& in) {
  static const trace::LibraryFunction unknown;
  const std::uint64_t index = in.number();
  if (index == known_.functions.size()) {
    add_function(Cursor(in.text()));
  }
  damaged_ = damaged_ || index >= known_.functions.size();
  return index < known_.functions.size() ? known_.functions[static_cast<std::size_t>(index)] : &unknown;
}

void EventReader::add_function(Cursor text) {
  const std::size_t bytes = sizeof(trace::LibraryFunction) + text.size();
  trace::LibraryFunction function;
  function.number = text.as<std::uint32_t>();
  auto known = functions_.all.find(function.number);
  if (known == functions_.all.end()) {
    constexpr std::size_t most = 4 * most_block_size;  // of all blocks
    if (bytes > most - functions_.bytes) {
      return;
    }
    functions_.bytes += bytes;
    const std::uint64_t flags = text.number();
    function.in_program = (flags & 1U) != 0;
    function.of_program = (flags & 2U) != 0;
    function.name = text.text();
    function.library = text.text();
    function.caller = text.text();
    function.label = text.text();
    for (trace::MappedFile* file : {&function.defined_in, &function.called_from}) {
      file->path = text.text();
      file->inode = text.number();
    }
    function.address = text.number();
    const std::uint32_t number = function.number;
    known = functions_.all.emplace(number, std::move(function)).first;
  }
  known_.functions.push_back(&known->second);
}

trace::LibraryEnter EventReader::library_enter(Cursor& in) {
  trace::LibraryEnter enter;
  enter.function = take_function(in);
  CallMemory& before = state_.calls[BlockState::key_of_function(enter.function->number)];
  enter.call = in.number();
  for (std::size_t i = 0; i < enter.integers.size(); ++i) {
    before.registers[i] = in.difference(before.registers[i]);
    enter.integers[i] = before.registers[i];
  }
  before.stack_pointer = in.difference(before.stack_pointer);
  before.return_address = in.difference(before.return_address);
  enter.stack_pointer = before.stack_pointer;
  enter.return_address = before.return_address;
  enter.stack_arguments = in.difference(enter.stack_pointer);
  enter.result_address = in.number();
  enter.context = &context_;
  return enter;
}

trace::LibraryExit EventReader::library_exit(Cursor& in) {
  trace::LibraryExit exit;
  exit.function = take_function(in);
  CallMemory& before = state_.calls[BlockState::key_of_function(exit.function->number)];
  exit.call = in.number();
  exit.how = static_cast<trace::LibraryExit::How>(in.number() & 3U);
  before.value = in.difference(before.value);
  exit.integers[0] = before.value;
  exit.integers[1] = in.number();
  exit.context = in.flag() ? &context_ : nullptr;
  return exit;
}

trace::ProbeHit EventReader::probe_hit(Cursor& in) {
  constexpr std::uint64_t most_values = 64;
  trace::ProbeHit hit;
  hit.provider = &facts_.take_text(in);
  hit.name = &facts_.take_text(in);
  hit.module = &facts_.take_text(in);
  hit.instruction_pointer = in.number();
  values_.resize(static_cast<std::size_t>(std::min(in.number(), most_values)));
  for (trace::ProbeValue& value : values_) {
    const std::uint64_t flags = in.number();
    value.known = (flags & 1U) != 0;
    value.is_signed = (flags & 2U) != 0;
    value.is_floating = (flags & 4U) != 0;
    value.size = static_cast<unsigned>(flags >> 3U);
    value.bits = in.number();
  }
  hit.arguments = values_;
  return hit;
}

void EventReader::take_fact(const Record& record) {
  if (record.tag == Tag::call_name) {
    if (!remember()) {
      return;
    }
    Cursor in(record.payload);
    const std::uint64_t abi = in.number() % abi_count;
    const std::uint64_t number = in.number();
    known_.call_names[BlockState::key_of(static_cast<Abi>(abi), number)] = in.rest();
  } else {
    facts_.take(record, *thread_);
    damaged_ = damaged_ || facts_.is_excessive();
  }
}

}  // namespace tracer::replay
