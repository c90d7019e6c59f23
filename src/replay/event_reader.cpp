#include "replay/event_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

/// Reads that many bytes.
template <typename Bytes>
void take_raw(Cursor& in, Bytes& into) {
  for (std::byte& byte : into) {
    byte = static_cast<std::byte>(in.byte());
  }
}

std::optional<trace::SocketEndpoint> decode_endpoint(Cursor& in) {
  const std::uint64_t kind = in.number();
  if (kind == 0) {
    return std::nullopt;
  }
  trace::SocketEndpoint end;
  end.is_v6 = kind == 2;
  take_raw(in, end.address);
  end.port = in.as<std::uint16_t>();
  return end;
}

trace::SocketFacts decode_socket(Cursor& in) {
  trace::SocketFacts socket;
  socket.protocol = in.text();
  socket.inode = in.number();
  socket.local = decode_endpoint(in);
  socket.remote = decode_endpoint(in);
  socket.peer = in.number();
  socket.name = in.text();
  socket.netlink_family = in.as<std::uint32_t>();
  socket.port_id = in.as<std::uint32_t>();
  return socket;
}

trace::DeviceNumber decode_device(Cursor& in) {
  trace::DeviceNumber device;
  device.is_block = in.flag();
  device.major = in.as<std::uint32_t>();
  device.minor = in.as<std::uint32_t>();
  return device;
}

trace::PidfdProcess decode_process(Cursor& in) {
  trace::PidfdProcess process;
  process.id = in.as_signed<std::int32_t>();
  process.command = in.text();
  return process;
}

trace::EventCounter decode_counter(Cursor& in) {
  trace::EventCounter counter;
  counter.count = in.number();
  if (const std::uint64_t id = in.number(); id != 0) {
    counter.id = static_cast<std::uint32_t>(id - 1);
  }
  if (const std::uint64_t semaphore = in.number(); semaphore != 0) {
    counter.is_semaphore = semaphore == 2;
  }
  return counter;
}

/// The inverse of encode_file() in event_writer.cpp. What is behind a part of a later version stays unknown.
trace::OpenFile decode_file(Cursor in) {
  trace::OpenFile file;
  file.link = in.text();
  file.deleted = in.flag();
  for (std::uint64_t part = in.number(); part != 0 && !in.failed(); part = in.number()) {
    switch (part) {
      case 1:
        file.device = decode_device(in);
        break;
      case 2:
        file.process = decode_process(in);
        break;
      case 3:
        file.counter = decode_counter(in);
        break;
      case 4:
        file.signals = in.number();
        break;
      case 5:
        file.socket = decode_socket(in);
        break;
      default:
        return file;
    }
  }
  return file;
}

FrameFact decode_frame(Cursor in) {
  FrameFact frame;
  frame.kind = static_cast<trace::StackFrame::Kind>(in.number() & 3U);
  frame.file = in.text();
  frame.symbol = in.text();
  frame.source = in.text();
  frame.symbol_offset = in.number();
  frame.file_offset = in.number();
  frame.address = in.number();
  frame.inlined = in.flag();
  frame.line = in.as<unsigned>();
  return frame;
}

/// Returns the text with the number that comes next; a new one follows. Empty if there is none.
std::string_view take_known(Cursor& in, std::vector<std::string_view>& known) {
  const std::uint64_t number = in.number();
  if (number == known.size()) {
    known.push_back(in.text());
  }
  return number < known.size() ? known[static_cast<std::size_t>(number)] : std::string_view{};
}

/// Whether there is something in a record of a fact that events need: names, or texts that both have by their numbers.
bool says_more_than_facts(Tag tag) {
  return tag == Tag::command || tag == Tag::call_name || tag == Tag::process || tag == Tag::name;
}

}  // namespace

std::optional<int> ReplayedContext::error_number() const {
  const auto value = find(RegisterFact::Kind::error_number, 0);
  if (!value) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (unsigned i = 0; i < sizeof number; ++i) {
    number |= std::to_integer<std::uint32_t>((*value)[i]) << (8 * i);
  }
  return static_cast<int>(number);
}

std::optional<trace::CallContext::Value> ReplayedContext::find(RegisterFact::Kind kind, unsigned index) const {
  const RegisterFact* fact = facts_.find_register(kind, index);
  return fact == nullptr ? std::nullopt : std::optional(fact->value);
}

void EventReader::begin(std::string_view block) {
  rest_ = Cursor(block);
  has_record_ = false;
  damaged_ = false;
  state_ = {};
  thread_ = &state_.threads[state_.tid];
  known_ = {};
}

std::string_view EventReader::call_name(Abi abi, std::uint64_t number) const {
  const auto name = known_.call_names.find(BlockState::key_of(abi, number));
  return name == known_.call_names.end() ? std::string_view{} : name->second;
}

bool EventReader::has_record() {
  if (has_record_ || rest_.at_end()) {
    return has_record_;
  }
  const std::uint64_t tag = rest_.number();
  record_.tag = tag <= 0xff ? static_cast<Tag>(tag) : Tag{};
  record_.payload = rest_.text();
  damaged_ = damaged_ || rest_.failed();
  has_record_ = !damaged_;
  return has_record_;
}

EventReader::Found EventReader::next() {
  facts_.clear();
  files_.clear();
  bool found = false;
  while (has_record()) {
    const Tag tag = record_.tag;
    const bool is_start = is_event(tag);
    if (found && (is_start || tag == Tag::lost || tag == Tag::call_name)) {
      return Found::event;
    }
    pass_record();
    if (is_start) {
      take_event(tag, Cursor(record_.payload));
      if (damaged_) {
        rest_ = Cursor({});
        return Found::damage;
      }
      found = true;
    } else if (tag == Tag::lost) {
      lost_ = Cursor(record_.payload).number();
      return Found::lost;
    } else if (facts_wanted_ || says_more_than_facts(tag)) {
      take_fact(record_);
    }
  }
  return found ? Found::event : damaged_ ? Found::damage : Found::end;
}

const trace::OpenFile* EventReader::file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const {
  for (const FileReference& reference : files_) {
    if (reference.owner == owner && reference.pid == pid && reference.fd == fd) {
      KnownFile& file = known_.files[reference.number];
      if (file.read == nullptr) {
        file.read = std::make_unique<trace::OpenFile>(decode_file(Cursor(file.record)));
      }
      return file.read.get();
    }
  }
  return nullptr;
}

// ---------------------------------------------------------------------------------------------- events

void EventReader::take_head(Cursor& in) {
  flags_ = in.as<unsigned>();
  if ((flags_ & same_thread) == 0) {
    state_.tid = in.as_signed<pid_t>();
    thread_ = &state_.threads[state_.tid];
    thread_->tgid = static_cast<pid_t>(state_.tid + in.signed_number());
  }
  ThreadMemory& thread = *thread_;
  if ((flags_ & same_abi) == 0) {
    thread.abi = static_cast<Abi>(in.number() % abi_count);
  }
  state_.monotonic = std::chrono::nanoseconds(
      static_cast<std::int64_t>(in.difference(static_cast<std::uint64_t>(state_.monotonic.count()))));
  if ((flags_ & same_offset) == 0) {
    state_.offset = std::chrono::nanoseconds(
        static_cast<std::int64_t>(in.difference(static_cast<std::uint64_t>(state_.offset.count()))));
  }
  event_.tid = state_.tid;
  event_.tgid = thread.tgid;
  event_.abi = thread.abi;
  event_.time.monotonic = state_.monotonic;
  event_.time.realtime = std::chrono::nanoseconds(static_cast<std::int64_t>(
      static_cast<std::uint64_t>(state_.monotonic.count()) + static_cast<std::uint64_t>(state_.offset.count())));
}

void EventReader::take_event(Tag tag, Cursor in) {
  take_head(in);
  if (tag == Tag::syscall_enter) {
    take_syscall_enter(in);
  } else if (tag == Tag::syscall_exit) {
    take_syscall_exit(in);
  } else {
    take_other_event(tag, in);
  }
  damaged_ = damaged_ || in.failed();
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

void EventReader::take_syscall_enter(Cursor& in) {
  auto& enter = event_.what.emplace<trace::SyscallEnter>();
  enter.number = in.number();
  CallMemory& before = state_.calls[BlockState::key_of(event_.abi, enter.number)];
  ThreadMemory& thread = *thread_;
  const std::uint64_t changed = in.number();
  for (unsigned i = 0; i < enter.args.size(); ++i) {
    if ((changed & 1U << i) != 0) {
      before.args[i] = in.difference(before.args[i]);
    }
    enter.args[i] = before.args[i];
  }
  if ((changed & 1U << 6U) != 0) {
    before.instruction_pointer = in.difference(before.instruction_pointer);
  }
  if ((changed & 1U << 7U) != 0) {
    before.stack_pointer = in.difference(before.stack_pointer);
  }
  enter.instruction_pointer = before.instruction_pointer;
  enter.stack_pointer = before.stack_pointer;
  if ((flags_ & tampered) != 0) {
    enter.tampered = tampered_of(in.number());
  }
  if (!in.at_end()) {
    enter.interrupted = in.number();
  }
  thread.call = &before;
  thread.instruction_pointer = enter.instruction_pointer;
  thread.args = enter.args;
}

void EventReader::take_syscall_exit(Cursor& in) {
  auto& exit = event_.what.emplace<trace::SyscallExit>();
  const ThreadMemory& thread = *thread_;
  CallMemory& before = state_.entered_by(thread);
  before.value = in.difference(before.value);
  exit.value = static_cast<std::int64_t>(before.value);
  exit.is_error = (flags_ & failed) != 0;
  exit.instruction_pointer = (flags_ & same_pointer) != 0 ? thread.instruction_pointer : in.number();
  if ((flags_ & tampered) != 0) {
    exit.tampered = tampered_of(in.number());
  }
  if (!in.at_end()) {
    exit.cpu_time = std::chrono::nanoseconds(in.signed_number());
  }
}

const trace::LibraryFunction* EventReader::take_function(Cursor& in) {
  static const trace::LibraryFunction unknown;
  const std::uint64_t index = in.number();
  if (index == known_.functions.size()) {
    Cursor text(in.text());
    trace::LibraryFunction function;
    function.number = text.as<std::uint32_t>();
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
    known_.functions.push_back(&all_functions_.try_emplace(number, std::move(function)).first->second);
  }
  damaged_ = damaged_ || index >= known_.functions.size();
  return index < known_.functions.size() ? known_.functions[static_cast<std::size_t>(index)] : &unknown;
}

trace::LibraryEnter EventReader::library_enter(Cursor& in) {
  trace::LibraryEnter enter;
  enter.function = take_function(in);
  CallMemory& before = state_.calls[BlockState::key_of_function(enter.function->number)];
  enter.call = in.number();
  for (std::size_t i = 0; i < enter.integers.size(); ++i) {
    before.args[i] = in.difference(before.args[i]);
    enter.integers[i] = before.args[i];
  }
  before.stack_pointer = in.difference(before.stack_pointer);
  before.instruction_pointer = in.difference(before.instruction_pointer);
  enter.stack_pointer = before.stack_pointer;
  enter.return_address = before.instruction_pointer;
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

const std::string& EventReader::take_text(Cursor& in) {
  static const std::string none;
  const std::uint64_t number = in.number();
  if (number == known_.texts.size()) {
    known_.texts.emplace_back(in.text());
  }
  return number < known_.texts.size() ? known_.texts[static_cast<std::size_t>(number)] : none;
}

trace::ProbeHit EventReader::probe_hit(Cursor& in) {
  constexpr std::uint64_t most_values = 64;
  trace::ProbeHit hit;
  hit.provider = &take_text(in);
  hit.name = &take_text(in);
  hit.module = &take_text(in);
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

// ---------------------------------------------------------------------------------------------- facts

void EventReader::take_fact(const Record& record) {
  Cursor in(record.payload);
  switch (record.tag) {
    case Tag::memory:
      take_memory(in);
      break;
    case Tag::file:
      take_file(in);
      break;
    case Tag::netlink_protocol: {
      const auto fd = in.as_signed<std::int32_t>();
      facts_.netlink_protocols.emplace_back(fd, in.as_signed<std::int32_t>());
      break;
    }
    case Tag::drivers: {
      const auto fd = in.as_signed<std::int32_t>();
      facts_.drivers.emplace_back(fd, in.rest());
      break;
    }
    case Tag::process:
      take_process(in);
      break;
    case Tag::name:
      take_name(in);
      break;
    case Tag::value:
      take_register(in);
      break;
    case Tag::command:
      facts_.command = std::string(in.rest());
      break;
    case Tag::frame:
      known_.frames.push_back(decode_frame(in));
      break;
    case Tag::stack:
      take_stack(in);
      break;
    case Tag::call_name: {
      const std::uint64_t abi = in.number() % abi_count;
      const std::uint64_t number = in.number();
      known_.call_names[BlockState::key_of(static_cast<Abi>(abi), number)] = in.rest();
      break;
    }
    default:
      break;
  }
}

void EventReader::take_memory(Cursor in) {
  const ThreadMemory& thread = *thread_;
  const std::uint64_t place = in.number();
  const std::uint64_t address =
      place < thread.args.size() ? thread.args[static_cast<std::size_t>(place)] : in.difference(state_.address);
  const std::string_view bytes = in.rest();
  state_.address = address + bytes.size();
  facts_.memory.add_view(address, bytes_of(bytes));
}

void EventReader::take_file(Cursor in) {
  FileReference reference;
  reference.owner = static_cast<FileFact::Owner>(in.number() & 3U);
  reference.pid = in.as_signed<std::int32_t>();
  reference.fd = in.as_signed<std::int32_t>();
  reference.number = in.as<std::size_t>();
  if (reference.number == known_.files.size()) {
    known_.files.push_back({in.text(), nullptr});
  }
  if (reference.number < known_.files.size()) {
    files_.push_back(reference);
  }
}

void EventReader::take_process(Cursor in) {
  const auto id = in.as_signed<std::int32_t>();
  trace::TaskSnapshot::Process process;
  process.id = in.as_signed<std::int32_t>();
  const std::uint64_t flags = in.number();
  process.is_thread = (flags & 1U) != 0;
  process.is_group = (flags & 2U) != 0;
  process.command = take_text(in);
  facts_.processes.emplace_back(id, std::move(process));
}

void EventReader::take_name(Cursor in) {
  NameFact fact;
  fact.kind = static_cast<NameFact::Kind>(in.number());
  fact.number = in.number();
  fact.name = take_text(in);
  facts_.names.push_back(std::move(fact));
}

void EventReader::take_register(Cursor in) {
  RegisterFact fact;
  fact.kind = static_cast<RegisterFact::Kind>(in.number());
  fact.index = in.as<unsigned>();
  take_raw(in, fact.value);
  facts_.registers.push_back(fact);
}

void EventReader::take_stack(Cursor in) {
  constexpr std::size_t most_frames = 4096;
  Cursor numbers(take_known(in, known_.stacks));
  while (!numbers.at_end() && facts_.frames.size() < most_frames) {
    const std::uint64_t number = numbers.number();
    if (number < known_.frames.size()) {
      facts_.frames.push_back(known_.frames[static_cast<std::size_t>(number)]);
    }
  }
}

}  // namespace tracer::replay
