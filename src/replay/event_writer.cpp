#include "replay/event_writer.h"

#include <algorithm>
#include <utility>

namespace tracer::replay {
namespace {

constexpr std::uint8_t all_arguments = 6;

std::uint8_t used_by(const spec::Tables& tables, spec::Index signature, Abi abi, unsigned depth) {
  if (signature == spec::none || depth == 0) {
    return 0;
  }
  const spec::Signature& form = tables.signatures[signature];
  std::uint8_t used = 0;
  for (const spec::Param& param : spec::Tables::slice(tables.params, form.params)) {
    const bool is_wide = param.wide && register_size(abi) == 4;
    used = std::max<std::uint8_t>(used, static_cast<std::uint8_t>(param.slot[index_of(abi)] + (is_wide ? 2 : 1)));
  }
  used = std::max(used, used_by(tables, form.otherwise, abi, depth - 1));
  for (const spec::SignatureRow& row : spec::Tables::slice(tables.signature_rows, form.rows)) {
    used = std::max(used, used_by(tables, row.signature, abi, depth - 1));
  }
  return std::min(used, all_arguments);
}

std::uint8_t bits_of(const trace::Tampered& what) {
  return static_cast<std::uint8_t>((what.arguments ? 1U : 0U) | (what.result ? 2U : 0U) | (what.signal ? 4U : 0U) |
                                   (what.delayed ? 8U : 0U) | (what.poke_failed ? 16U : 0U));
}

void encode_socket(Encoder& out, const trace::SocketFacts& socket) {
  const auto endpoint = [&out](const std::optional<trace::SocketEndpoint>& end) {
    out.number(!end ? 0U : end->is_v6 ? 2U : 1U);
    if (end) {
      out.raw(std::span(end->address));
      out.number(end->port);
    }
  };
  out.text(socket.protocol);
  out.number(socket.inode);
  endpoint(socket.local);
  endpoint(socket.remote);
  out.number(socket.peer);
  out.text(socket.name);
  out.number(socket.netlink_family);
  out.number(socket.port_id);
}

/// Each part that is there has its number before it; 0 ends them.
void encode_file(Encoder& out, const trace::OpenFile& file) {
  out.text(file.link);
  out.number(file.deleted ? 1 : 0);
  if (file.device) {
    out.number(1);
    out.number(file.device->is_block ? 1 : 0);
    out.number(file.device->major);
    out.number(file.device->minor);
  }
  if (file.process) {
    out.number(2);
    out.signed_number(file.process->id);
    out.text(file.process->command);
  }
  if (file.counter) {
    out.number(3);
    out.number(file.counter->count);
    out.number(file.counter->id ? std::uint64_t{*file.counter->id} + 1 : 0);
    out.number(!file.counter->is_semaphore ? 0U : *file.counter->is_semaphore ? 2U : 1U);
  }
  if (file.signals) {
    out.number(4);
    out.number(*file.signals);
  }
  if (file.socket) {
    out.number(5);
    encode_socket(out, *file.socket);
  }
  if (file.terminal) {
    out.number(6);
    out.number(*file.terminal);
  }
  out.number(0);
}

void encode_frame(Encoder& out, const FrameFact& frame) {
  out.number(static_cast<unsigned>(frame.kind));
  out.text(frame.file);
  out.text(frame.symbol);
  out.text(frame.source);
  out.number(frame.symbol_offset);
  out.number(frame.file_offset);
  out.number(frame.address);
  out.number(frame.inlined ? 1 : 0);
  out.number(frame.line);
}

}  // namespace

std::uint8_t used_arguments(const spec::Tables& tables, Abi abi, std::uint64_t number) {
  constexpr unsigned deepest = 4;
  const spec::Call* call = tables.find(abi, number);
  if (call == nullptr || call->redirects.count != 0) {
    return all_arguments;
  }
  return used_by(tables, call->signature, abi, deepest);
}

std::pair<std::uint64_t, bool> EventWriter::Seen::number_of(std::string_view text) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) {
    return {known->second, false};
  }
  const std::uint64_t number = numbers_.size();
  numbers_.emplace(text, number);
  return {number, true};
}

void EventWriter::Seen::write(Encoder& out, std::string_view text) {
  const auto [number, is_new] = number_of(text);
  out.number(number);
  if (is_new) {
    out.text(text);
  }
}

void EventWriter::end_record(Tag tag) {
  Encoder facts(event_facts_);
  (is_apart(tag) ? facts : columns_.at(Column::tags)).number(static_cast<std::uint8_t>(tag));
  (is_apart(tag) ? facts : columns_.at(Column::others)).text(payload_);
  payload_.clear();
}

Mark EventWriter::take(std::string& block) {
  block.clear();
  columns_.take(block);
  mark_.events_size = static_cast<std::uint32_t>(block.size());
  block.append(facts_);
  facts_.clear();
  state_ = {};
  seen_ = {};
  return std::exchange(mark_, {});
}

void EventWriter::write_lost(std::uint64_t events) {
  out_.number(events);
  end_record(Tag::lost);
}

void EventWriter::write(const trace::Event& event, const Facts& facts) {
  if (mark_.events++ == 0) {
    mark_.first = event.time.realtime;
  }
  mark_.first = std::min(mark_.first, event.time.realtime);
  mark_.last = std::max(mark_.last, event.time.realtime);
  if (const auto* enter = std::get_if<trace::SyscallEnter>(&event.what)) {
    write_enter(*enter, event);
  } else if (const auto* exit = std::get_if<trace::SyscallExit>(&event.what)) {
    write_exit(*exit, event);
  } else {
    write_head(event, 0);
    std::visit([this](const auto& what) { put(what); }, event.what);
    columns_.at(Column::others).text(payload_);
    payload_.clear();
  }
  const unsigned known_places = write_facts(event, facts);
  Encoder all(facts_);
  all.number(event_facts_.size() << 1U | (known_places != 0 ? 1U : 0U));
  if (known_places != 0) {
    all.number(known_places);
  }
  all.raw(event_facts_);
  event_facts_.clear();
  if (std::holds_alternative<trace::Exited>(event.what) || std::holds_alternative<trace::Detached>(event.what)) {
    commands_.erase(event.tid);
  }
}

void EventWriter::write_head(const trace::Event& event, unsigned flags) {
  const auto [entry, is_new] = state_.threads.try_emplace(event.tid);
  ThreadMemory& thread = entry->second;
  new_thread_ = is_new;
  const auto offset = event.time.realtime - event.time.monotonic;
  flags |= state_.tid == event.tid && thread.tgid == event.tgid ? same_thread : 0U;
  flags |= !is_new && thread.abi == event.abi ? same_abi : 0U;
  flags |= state_.offset == offset ? same_offset : 0U;
  columns_.at(Column::tags).number(event.what.index() + 1);
  columns_.at(Column::flags).byte(static_cast<unsigned char>(flags));
  Encoder threads = columns_.at(Column::threads);
  if ((flags & same_thread) == 0) {
    threads.signed_number(event.tid);
    threads.signed_number(event.tgid - event.tid);
  }
  if ((flags & same_abi) == 0) {
    threads.number(index_of(event.abi));
  }
  Encoder times = columns_.at(Column::times);
  const std::uint64_t since = zigzag((event.time.monotonic - state_.monotonic).count());
  times.number(since >> 8U);
  columns_.at(Column::time_lows).byte(static_cast<unsigned char>(since & 0xffU));
  if ((flags & same_offset) == 0) {
    times.signed_number((offset - state_.offset).count());
  }
  thread.tid = event.tid;
  thread.tgid = event.tgid;
  thread.abi = event.abi;
  state_.tid = event.tid;
  state_.monotonic = event.time.monotonic;
  state_.offset = offset;
}

// ---------------------------------------------------------------------------------------------- events

void EventWriter::write_call_name(Abi abi, std::uint64_t number) {
  const spec::Call* call = tables_.find(abi, number);
  if (call == nullptr) {
    return;
  }
  out_.number(index_of(abi));
  out_.number(number);
  out_.raw(tables_.text(call->name));
  end_record(Tag::call_name);
}

void EventWriter::write_enter(const trace::SyscallEnter& enter, const trace::Event& event) {
  const std::uint64_t key = BlockState::key_of(event.abi, enter.number);
  CallMemory& before = state_.calls[key];
  if (!std::exchange(before.named, true)) {
    write_call_name(event.abi, enter.number);
  }
  mark_.calls |= bloom_bits(enter.number, index_of(event.abi));
  const auto [entry, is_new] = argument_counts_.try_emplace(key);
  if (is_new) {
    entry->second = used_arguments(tables_, event.abi, enter.number);
  }
  const std::uint8_t count = entry->second;
  const bool is_tampered = bits_of(enter.tampered) != 0;
  write_head(event, (is_tampered ? tampered : 0U) | (enter.interrupted ? has_more : 0U));
  columns_.at(Column::calls).number(enter.number);
  ThreadMemory& thread = state_.threads[event.tid];
  thread.call = &before;
  thread.entered = event.time.monotonic;
  thread.instruction_pointer = enter.instruction_pointer;
  thread.args = {};
  std::copy_n(enter.args.begin(), count, thread.args.begin());
  unsigned changed = 0;
  const auto put_changed = [&](unsigned index, std::uint64_t value) {
    if (std::uint64_t& known = before.registers[index]; value != known) {
      changed |= 1U << index;
      columns_.at(register_column(index)).difference(value, std::exchange(known, value));
    }
  };
  unsigned index = 0;
  for (const std::uint64_t argument : thread.args) {
    put_changed(index++, argument);
  }
  put_changed(index++, enter.instruction_pointer);
  put_changed(index, enter.stack_pointer);
  columns_.at(Column::changes).byte(static_cast<unsigned char>(changed));
  if (is_tampered) {
    columns_.at(Column::others).number(bits_of(enter.tampered));
  }
  if (enter.interrupted) {
    columns_.at(Column::others).number(*enter.interrupted);
  }
}

void EventWriter::write_exit(const trace::SyscallExit& exit, const trace::Event& event) {
  const ThreadMemory& thread = state_.threads[event.tid];
  const bool is_tampered = bits_of(exit.tampered) != 0;
  const bool is_same = exit.instruction_pointer == thread.instruction_pointer;
  const bool was_on_cpu = exit.cpu_time.count() != 0 && exit.cpu_time == event.time.monotonic - thread.entered;
  const bool is_timed = exit.cpu_time.count() != 0 && !was_on_cpu;
  CallMemory& before = state_.entered_by(thread);
  write_head(event, (is_tampered ? tampered : 0U) | (exit.is_error ? failed : 0U) | (is_same ? same_pointer : 0U) |
                        (was_on_cpu ? never_off_cpu : 0U) | (is_timed ? has_more : 0U));
  const auto value = static_cast<std::uint64_t>(exit.value);
  columns_.at(Column::results).difference(value, std::exchange(before.value, value));
  if (!is_same) {
    columns_.at(Column::instruction_pointers).number(exit.instruction_pointer);
  }
  if (is_tampered) {
    columns_.at(Column::others).number(bits_of(exit.tampered));
  }
  if (is_timed) {
    columns_.at(Column::others).signed_number(exit.cpu_time.count());
  }
}

void EventWriter::put(const trace::SignalStop& stop) {
  out_.signed_number(stop.signal);
  out_.number(stop.instruction_pointer);
  out_.raw(stop.siginfo);
}

void EventWriter::put(const trace::GroupStop& stop) {
  out_.signed_number(stop.signal);
}

void EventWriter::put(const trace::Exec& exec) {
  out_.signed_number(exec.former_tid);
  out_.number(exec.abi ? index_of(*exec.abi) + 1 : 0);
}

void EventWriter::put(const trace::Fork& fork) {
  out_.signed_number(fork.child);
  out_.number(fork.is_thread ? 1 : 0);
}

void EventWriter::put(const trace::Attached& attached) {
  out_.number(attached.by_request ? 1 : 0);
  out_.number(attached.threads);
  out_.raw(attached.command);
}

void EventWriter::put(const trace::Exited& exited) {
  out_.signed_number(exited.status);
}

void EventWriter::write_function(const trace::LibraryFunction& function) {
  part_.clear();
  Encoder part(part_);
  part.number(function.number);
  part.number((function.in_program ? 1U : 0U) | (function.of_program ? 2U : 0U));
  part.text(function.name);
  part.text(function.library);
  part.text(function.caller);
  part.text(function.label);
  // Where its debugging information is, if the file is still there when the recording is replayed.
  for (const trace::MappedFile* file : {&function.defined_in, &function.called_from}) {
    part.text(file->path);
    part.number(file->inode);
  }
  part.number(function.address);
  seen_.functions.write(out_, part_);
}

void EventWriter::put(const trace::LibraryEnter& enter) {
  write_function(*enter.function);
  CallMemory& before = state_.calls[BlockState::key_of_function(enter.function->number)];
  out_.number(enter.call);
  for (std::size_t i = 0; i < enter.integers.size(); ++i) {
    out_.difference(enter.integers[i], std::exchange(before.registers[i], enter.integers[i]));
  }
  out_.difference(enter.stack_pointer, std::exchange(before.stack_pointer, enter.stack_pointer));
  out_.difference(enter.return_address, std::exchange(before.return_address, enter.return_address));
  out_.difference(enter.stack_arguments, enter.stack_pointer);
  out_.number(enter.result_address);
}

void EventWriter::put(const trace::LibraryExit& exit) {
  write_function(*exit.function);
  CallMemory& before = state_.calls[BlockState::key_of_function(exit.function->number)];
  out_.number(exit.call);
  out_.number(static_cast<unsigned>(exit.how));
  out_.difference(exit.integers[0], std::exchange(before.value, exit.integers[0]));
  out_.number(exit.integers[1]);
  out_.number(exit.context != nullptr ? 1 : 0);
}

void EventWriter::put(const trace::LibraryCalls& calls) {
  write_function(*calls.function);
  out_.number(calls.count);
}

void EventWriter::put(const trace::ProbeHit& hit) {
  seen_.texts.write(out_, *hit.provider);
  seen_.texts.write(out_, *hit.name);
  seen_.texts.write(out_, *hit.module);
  out_.number(hit.instruction_pointer);
  out_.number(hit.arguments.size());
  for (const trace::ProbeValue& value : hit.arguments) {
    out_.number((value.known ? 1U : 0U) | (value.is_signed ? 2U : 0U) | (value.is_floating ? 4U : 0U) |
                value.size << 3U);
    out_.number(value.bits);
  }
}

// ---------------------------------------------------------------------------------------------- facts

void EventWriter::write_memory(const ThreadMemory& thread, std::uint64_t address, std::span<const std::byte> bytes) {
  // Most memory is where an argument points to.
  const auto argument = std::find(thread.args.begin(), thread.args.end(), address);
  if (argument != thread.args.end()) {
    out_.number(static_cast<std::uint64_t>(argument - thread.args.begin()));
  } else {
    out_.number(thread.args.size());
    out_.difference(address, state_.address);
  }
  state_.address = address + bytes.size();
  out_.raw(bytes);
  end_record(Tag::memory);
}

unsigned EventWriter::write_file(const ThreadMemory& thread, const FileFact& fact) {
  part_.clear();
  Encoder part(part_);
  encode_file(part, *fact.file);
  const auto [number, is_new] = seen_.files.number_of(part_);
  // Most are what was said last.
  const auto place = KnownFiles::place_of(thread.args, fact.owner, fact.fd);
  if (place && seen_.last_files.number_of(thread.tgid, fact.owner, fact.fd) == number) {
    return 1U << *place;
  }
  seen_.last_files.say(thread.tgid, fact.owner, fact.fd, number);
  out_.number(static_cast<unsigned>(fact.owner));
  out_.signed_number(fact.pid);
  out_.signed_number(fact.fd);
  out_.number(number);
  if (is_new) {
    out_.text(part_);
  }
  end_record(Tag::file);
  return 0;
}

/// A block says the command of a thread at its first event, and where it changes.
void EventWriter::write_command(pid_t tid, const Facts& facts) {
  if (facts.command) {
    commands_[tid] = *facts.command;
  }
  const auto known = commands_.find(tid);
  if (known != commands_.end() && (facts.command || std::exchange(new_thread_, false))) {
    out_.raw(known->second);
    end_record(Tag::command);
  }
}

void EventWriter::write_stack(const Facts& facts) {
  std::string numbers;
  Encoder list(numbers);
  for (const FrameFact& frame : facts.frames) {
    part_.clear();
    Encoder part(part_);
    encode_frame(part, frame);
    const auto [number, is_new] = seen_.frames.number_of(part_);
    list.number(number);
    if (is_new) {
      out_.raw(part_);
      end_record(Tag::frame);
    }
  }
  seen_.stacks.write(out_, numbers);
  end_record(Tag::stack);
}

unsigned EventWriter::write_facts(const trace::Event& event, const Facts& facts) {
  const ThreadMemory& thread = state_.threads[event.tid];
  facts.memory.for_each(
      [&](std::uint64_t address, std::span<const std::byte> bytes) { write_memory(thread, address, bytes); });
  unsigned known_places = 0;
  for (const FileFact& fact : facts.files) {
    known_places |= write_file(thread, fact);
  }
  for (const auto& [fd, protocol] : facts.netlink_protocols) {
    out_.signed_number(fd);
    out_.signed_number(protocol);
    end_record(Tag::netlink_protocol);
  }
  for (const auto& [fd, drivers] : facts.drivers) {
    out_.signed_number(fd);
    out_.raw(std::as_bytes(std::span(drivers)));
    end_record(Tag::drivers);
  }
  for (const auto& [id, process] : facts.processes) {
    out_.signed_number(id);
    out_.signed_number(process.id);
    out_.number((process.is_thread ? 1U : 0U) | (process.is_group ? 2U : 0U));
    seen_.texts.write(out_, process.command);
    end_record(Tag::process);
  }
  for (const NameFact& fact : facts.names) {
    out_.number(static_cast<unsigned>(fact.kind));
    out_.number(fact.number);
    seen_.texts.write(out_, fact.name);
    end_record(Tag::name);
  }
  for (const RegisterFact& fact : facts.registers) {
    out_.number(static_cast<unsigned>(fact.kind));
    out_.number(fact.index);
    out_.raw(std::span(fact.value));
    end_record(Tag::value);
  }
  write_command(event.tid, facts);
  if (!facts.frames.empty()) {
    write_stack(facts);
  }
  return known_places;
}

}  // namespace tracer::replay
