#include "replay/replay_engine.h"

#include <utility>
#include <variant>
#include <vector>

#include "spec/sub_calls.h"

namespace tracer::replay {
namespace {

std::optional<trace::OpenFile> copy_of(const trace::OpenFile* file) {
  return file == nullptr ? std::nullopt : std::optional(*file);
}

}  // namespace

ReplayEngine::ReplayEngine(std::unique_ptr<TraceFile> file, ReplayOptions options, const spec::Tables& tables,
                           Complain complain)
    : file_(std::move(file)), options_(std::move(options)), tables_(tables), complain_(std::move(complain)) {
  file_->stop_waiting_at(options_.signals);
  if (!options_.facts) {
    // Which call another one makes stands in its arguments' memory.
    std::vector<std::uint64_t> multiplexers;
    const spec::SubCalls calls(tables);
    for (const spec::SubCalls::Multiplexer& call : calls.multiplexers()) {
      multiplexers.push_back(bloom_bits(call.number, index_of(call.abi)));
    }
    file_->leave_facts_out(std::move(multiplexers));
  }
}

bool ReplayEngine::is_interrupted() {
  if (interrupting_signal_ == 0 && options_.look) {
    interrupting_signal_ = options_.look(file_->position());
  }
  return interrupting_signal_ != 0;
}

Result<trace::RunEnd> ReplayEngine::run(trace::EventHandler& handler) {
  const auto wanted = [this](const Mark& mark) {
    return (!options_.from || mark.last >= *options_.from) && (!options_.to || mark.first <= *options_.to);
  };
  bool goes_on = true;
  while (goes_on && !is_interrupted()) {
    const std::string_view block = file_->next(wanted);
    if (block.empty()) {
      break;
    }
    reader_.begin(block, file_->mark().events_size);
    goes_on = play_block(handler, [this](const trace::Event& event) { return is_chosen(event); });
  }
  const bool reached_end = goes_on && !is_interrupted();
  handler.idle();
  if (damaged_) {
    complain_(file_->name() + ": a block is damaged: its rest is left out");
  } else if (const std::string missing = reached_end ? file_->missing() : std::string(); !missing.empty()) {
    complain_(file_->name() + ": " + missing);
  }
  if (options_.at_end) {
    options_.at_end();
  }
  trace::RunEnd end;
  end.interrupted_by_signal = interrupting_signal_ != 0;
  end.interrupting_signal = interrupting_signal_;
  return end;
}

bool ReplayEngine::play(const BlockPlace& place, trace::EventHandler& handler, const Wants& wants) {
  const std::string_view block = file_->at(place);
  if (block.empty()) {
    return false;
  }
  damaged_ = false;
  reader_.begin(block, file_->mark().events_size);
  play_block(handler, [&](const trace::Event& event) { return is_chosen(event) && wants(event); });
  return !damaged_;
}

bool ReplayEngine::play_block(trace::EventHandler& handler, const Wants& wants) {
  constexpr std::uint64_t between_looks = 256;
  while (true) {
    if (++played_ % between_looks == 0 && is_interrupted()) {
      return true;
    }
    switch (reader_.next()) {
      case EventReader::Found::event:
        if (!play_event(handler, wants)) {
          return false;
        }
        break;
      case EventReader::Found::lost:
        handler.lost(reader_.lost());
        break;
      case EventReader::Found::damage:
        damaged_ = true;
        return true;
      case EventReader::Found::end:
        return true;
    }
  }
}

bool ReplayEngine::is_chosen(const trace::Event& event) const {
  return (!options_.from || event.time.realtime >= *options_.from) &&
         (!options_.to || event.time.realtime <= *options_.to) && (!options_.wants || options_.wants(event));
}

bool ReplayEngine::play_event(trace::EventHandler& handler, const Wants& wants) {
  trace::Event& event = reader_.event();
  // No system has more threads that live.
  constexpr std::size_t most_commands = std::size_t{1} << 20U;
  if (reader_.facts().command && (commands_.size() < most_commands || commands_.contains(event.tid))) {
    commands_[event.tid] = *reader_.facts().command;
  }
  trace::Verdict verdict = trace::Verdict::go_on;
  if (wants(event)) {
    if (auto* enter = std::get_if<trace::SyscallEnter>(&event.what)) {
      enter->number = number_here(event.abi, enter->number);
    }
    verdict = handler.handle(event, *this);
  }
  if (std::holds_alternative<trace::Exited>(event.what) || std::holds_alternative<trace::Detached>(event.what)) {
    commands_.erase(event.tid);
  }
  return verdict != trace::Verdict::detach_all;
}

std::uint64_t ReplayEngine::number_here(Abi abi, std::uint64_t number) {
  const std::uint64_t key = BlockState::key_of(abi, number);
  if (const std::uint64_t* known = numbers_.find(key); known != nullptr) {
    return *known;
  }
  std::uint64_t& here = numbers_[key];
  here = number;
  if (const std::string_view name = reader_.call_name(abi, number); !name.empty()) {
    const spec::Call* ours = tables_.find(abi, number);
    if (ours == nullptr || tables_.text(ours->name) != name) {
      for (const spec::NumberedCall& row : tables_.numbers[index_of(abi)]) {
        if (row.call != spec::none && tables_.text(tables_.calls[row.call].name) == name) {
          here = row.number;
        }
      }
    }
  }
  return here;
}

// ---------------------------------------------------------------------------------------------- facts

std::size_t ReplayEngine::read(RemoteAddr address, std::span<std::byte> into) const {
  return facts().memory.read(address.value(), into);
}

std::optional<trace::OpenFile> ReplayEngine::descriptor(std::int32_t fd) const {
  return copy_of(reader_.file(FileFact::Owner::task, 0, fd));
}

std::optional<trace::OpenFile> ReplayEngine::descriptor_behind(std::int32_t fd) const {
  return copy_of(reader_.file(FileFact::Owner::pidfd, 0, fd));
}

std::optional<trace::OpenFile> ReplayEngine::descriptor_of(std::int32_t pid, std::int32_t fd) const {
  return copy_of(reader_.file(FileFact::Owner::process, pid, fd));
}

std::optional<trace::OpenFile> ReplayEngine::working_directory() const {
  return copy_of(reader_.file(FileFact::Owner::directory, 0, 0));
}

std::int32_t ReplayEngine::netlink_protocol(std::int32_t fd) const {
  for (const auto& [number, protocol] : facts().netlink_protocols) {
    if (number == fd) {
      return protocol;
    }
  }
  return -1;
}

std::optional<trace::FileKind> ReplayEngine::file_kind(std::int32_t fd) const {
  trace::FileKind kind;
  for (const auto& [number, drivers] : facts().drivers) {
    kind.drivers = number == fd ? drivers : kind.drivers;
  }
  return kind;
}

std::optional<trace::TaskSnapshot::Process> ReplayEngine::process(std::int32_t id) const {
  for (const auto& [number, process] : facts().processes) {
    if (number == id) {
      return process;
    }
  }
  return std::nullopt;
}

/// Never says that it does not know: another process may have the id now.
std::optional<std::string> ReplayEngine::command(std::int32_t tid) const {
  const auto known = commands_.find(tid);
  return known == commands_.end() ? std::string() : known->second;
}

std::span<const trace::StackFrame> ReplayEngine::Stacks::frames(const trace::Event& /*event*/,
                                                                const trace::Memory& /*memory*/) {
  frames_.clear();
  for (const FrameFact& fact : engine_.facts().frames) {
    if (fact.inlined && !engine_.options_.sources) {
      continue;
    }
    trace::StackFrame frame;
    frame.kind = fact.kind;
    frame.file = fact.file;
    frame.symbol = fact.symbol;
    frame.symbol_offset = fact.symbol_offset;
    frame.file_offset = fact.file_offset;
    frame.address = fact.address;
    frame.inlined = fact.inlined;
    if (engine_.options_.sources) {
      frame.source = fact.source;
      frame.line = fact.line;
    }
    if (frames_.size() == engine_.options_.frame_limit) {
      frame = {};
      frame.kind = trace::StackFrame::Kind::limit;
      frames_.push_back(frame);
      break;
    }
    frames_.push_back(frame);
  }
  return frames_;
}

std::string_view ReplayEngine::ReplayedFacts::find(NameFact::Kind kind, std::uint64_t number) const {
  const std::string* name = reader_.facts().name(kind, number);
  return name == nullptr ? std::string_view{} : std::string_view(*name);
}

std::string_view ReplayEngine::ReplayedFacts::function(const names::Task& /*task*/, RemoteAddr address) {
  return find(NameFact::Kind::function, address.value());
}

std::string_view ReplayEngine::ReplayedFacts::interface(std::uint32_t index) {
  return find(NameFact::Kind::interface, index);
}

std::string_view ReplayEngine::ReplayedFacts::generic_family(std::uint16_t number) {
  return find(NameFact::Kind::generic_family, number);
}

}  // namespace tracer::replay
