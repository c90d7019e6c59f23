#include "replay/fact_reader.h"

#include <algorithm>
#include <utility>

#include "replay/mark.h"

namespace tracer::replay {
namespace {

/// The kernel's own threads have the longest.
constexpr std::size_t most_command = 64;

std::string_view command_in(std::string_view text) {
  return text.substr(0, most_command);
}

std::size_t size_of(const FrameFact& frame) {
  return sizeof frame + frame.file.size() + frame.symbol.size() + frame.source.size();
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
  process.command = command_in(in.text());
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
      case 6:
        file.terminal = static_cast<std::uint32_t>(in.number());
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

void FactReader::begin() {
  clear();
  known_ = {};
  address_ = 0;
  of_block_ = 0;
  excessive_ = false;
}

void FactReader::clear() {
  known_places_ = 0;
  if (of_event_ != 0) {  // most events have no other facts
    facts_.clear();
    files_.clear();
    of_event_ = 0;
  }
}

bool FactReader::spend(std::size_t& spent, std::size_t bytes) {
  if (bytes > most_block_size - spent) {
    excessive_ = true;
    return false;
  }
  spent += bytes;
  return true;
}

const trace::OpenFile* FactReader::file(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const {
  const auto number = file_number(owner, pid, fd);
  if (!number) {
    return nullptr;
  }
  KnownFile& file = known_.files[static_cast<std::size_t>(*number)];
  if (file.read == nullptr) {
    file.read = std::make_unique<trace::OpenFile>(decode_file(Cursor(file.record)));
  }
  return file.read.get();
}

std::optional<std::uint64_t> FactReader::file_number(FileFact::Owner owner, std::int32_t pid, std::int32_t fd) const {
  for (const FileReference& reference : files_) {
    if (reference.owner == owner && reference.pid == pid && reference.fd == fd) {
      return reference.number;
    }
  }
  if (known_places_ != 0) {
    const auto place = KnownFiles::place_of(thread_->args, owner, fd);
    if (place && (known_places_ >> *place & 1U) != 0) {
      return known_.last_files.number_of(thread_->tgid, owner, fd);
    }
  }
  return std::nullopt;
}

const std::string& FactReader::take_text(Cursor& in) {
  static const std::string none;
  const std::uint64_t number = in.number();
  if (number == known_.texts.size()) {
    const std::string_view text = in.text();
    if (spend(of_block_, sizeof(std::string) + text.size())) {
      known_.texts.emplace_back(text);
    }
  }
  return number < known_.texts.size() ? known_.texts[static_cast<std::size_t>(number)] : none;
}

void FactReader::take(const Record& record, const ThreadMemory& thread) {
  Cursor in(record.payload);
  switch (record.tag) {
    case Tag::memory:
      take_memory(in, thread);
      break;
    case Tag::file:
      take_file(in, thread);
      break;
    case Tag::netlink_protocol: {
      const auto fd = in.as_signed<std::int32_t>();
      if (spend(of_event_, sizeof facts_.netlink_protocols[0])) {
        facts_.netlink_protocols.emplace_back(fd, in.as_signed<std::int32_t>());
      }
      break;
    }
    case Tag::drivers: {
      const auto fd = in.as_signed<std::int32_t>();
      if (spend(of_event_, sizeof facts_.drivers[0] + in.size())) {
        facts_.drivers.emplace_back(fd, in.rest());
      }
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
      if (spend(of_event_, most_command)) {
        facts_.command = std::string(command_in(in.rest()));
      }
      break;
    case Tag::frame:
      if (spend(of_block_, sizeof(FrameFact) + in.size())) {
        known_.frames.push_back(decode_frame(in));
      }
      break;
    case Tag::stack:
      take_stack(in);
      break;
    default:
      break;
  }
}

void FactReader::take_memory(Cursor in, const ThreadMemory& thread) {
  const std::uint64_t place = in.number();
  const std::uint64_t address =
      place < thread.args.size() ? thread.args[static_cast<std::size_t>(place)] : in.difference(address_);
  const std::string_view bytes = in.rest();
  address_ = address + bytes.size();
  constexpr std::size_t kept_of_range = 40;
  if (!bytes.empty() && spend(of_event_, kept_of_range)) {
    facts_.memory.add_view(address, bytes_of(bytes));
  }
}

void FactReader::take_file(Cursor in, const ThreadMemory& thread) {
  FileReference reference;
  reference.owner = static_cast<FileFact::Owner>(in.number() & 3U);
  reference.pid = in.as_signed<std::int32_t>();
  reference.fd = in.as_signed<std::int32_t>();
  reference.number = in.as<std::size_t>();
  if (reference.number == known_.files.size() && spend(of_block_, sizeof(KnownFile))) {
    known_.files.push_back({in.text(), nullptr});
  }
  constexpr std::size_t of_last = 64;  // what a hash table takes
  if (reference.number < known_.files.size() && spend(of_event_, sizeof reference) && spend(of_block_, of_last)) {
    files_.push_back(reference);
    known_.last_files.say(thread.tgid, reference.owner, reference.fd, reference.number);
  }
}

void FactReader::take_process(Cursor in) {
  const auto id = in.as_signed<std::int32_t>();
  trace::TaskSnapshot::Process process;
  process.id = in.as_signed<std::int32_t>();
  const std::uint64_t flags = in.number();
  process.is_thread = (flags & 1U) != 0;
  process.is_group = (flags & 2U) != 0;
  process.command = command_in(take_text(in));
  if (spend(of_event_, sizeof facts_.processes[0] + process.command.size())) {
    facts_.processes.emplace_back(id, std::move(process));
  }
}

void FactReader::take_name(Cursor in) {
  NameFact fact;
  fact.kind = static_cast<NameFact::Kind>(in.number());
  fact.number = in.number();
  const std::string& name = take_text(in);
  if (spend(of_event_, sizeof fact + name.size())) {
    fact.name = name;
    facts_.names.push_back(std::move(fact));
  }
}

void FactReader::take_register(Cursor in) {
  RegisterFact fact;
  fact.kind = static_cast<RegisterFact::Kind>(in.number());
  fact.index = in.as<unsigned>();
  take_raw(in, fact.value);
  if (spend(of_event_, sizeof fact)) {
    facts_.registers.push_back(fact);
  }
}

void FactReader::take_stack(Cursor in) {
  constexpr std::size_t most_frames = 4096;
  const std::uint64_t stack = in.number();
  if (stack == known_.stacks.size() && spend(of_block_, sizeof(std::string_view))) {
    known_.stacks.push_back(in.text());
  }
  if (stack >= known_.stacks.size()) {
    return;
  }
  Cursor numbers(known_.stacks[static_cast<std::size_t>(stack)]);
  while (!numbers.at_end() && facts_.frames.size() < most_frames) {
    const std::uint64_t number = numbers.number();
    if (number < known_.frames.size()) {
      const FrameFact& frame = known_.frames[static_cast<std::size_t>(number)];
      if (!spend(of_event_, size_of(frame))) {
        break;
      }
      facts_.frames.push_back(frame);
    }
  }
}

}  // namespace tracer::replay
