#include "replay/capture.h"

#include "names/drivers.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "base/read_file.h"
#include "pipeline/probe.h"
#include "proc/proc_text.h"

namespace tracer::replay {
namespace {

names::NameOptions everything() {
  names::NameOptions options;
  options.paths = options.sockets = options.devices = true;
  options.pidfds = options.eventfds = options.signalfds = true;
  options.commands = options.pids_here = true;
  return options;
}

}  // namespace

// ---------------------------------------------------------------------------------------------- memory, registers

std::size_t KeptMemory::read(RemoteAddr address, std::span<std::byte> into) const {
  if (kept_.find(address.value(), into)) {
    return into.size();
  }
  const std::size_t size = memory_.read(address, into);
  kept_.add(address.value(), into.first(size));
  return size;
}

std::optional<trace::CallContext::Value> KeptContext::keep(RegisterFact::Kind kind, unsigned index,
                                                           std::optional<Value> value) const {
  if (value && facts_.find_register(kind, index) == nullptr) {
    facts_.registers.push_back({kind, index, *value});
  }
  return value;
}

std::optional<trace::CallContext::Value> KeptContext::vector(unsigned index) const {
  return keep(RegisterFact::Kind::vector, index, context_.vector(index));
}

std::optional<trace::CallContext::Value> KeptContext::x87(unsigned index) const {
  return keep(RegisterFact::Kind::x87, index, context_.x87(index));
}

std::optional<int> KeptContext::error_number() const {
  const auto number = context_.error_number();
  if (number) {
    Value value{};
    for (unsigned i = 0; i < sizeof *number; ++i) {
      value[i] = static_cast<std::byte>(static_cast<unsigned>(*number) >> (8 * i));
    }
    keep(RegisterFact::Kind::error_number, 0, value);
  }
  return number;
}

// ---------------------------------------------------------------------------------------------- names

KeptNames::KeptNames(Facts& facts, FunctionNamer functions)
    : facts_(facts), files_(everything()), kernel_(everything(), names::SecurityContexts({}, nullptr), pids_) {
  kernel_.set_functions(std::move(functions));
}

void KeptNames::keep(FileFact::Owner owner, std::int32_t pid, std::int32_t fd, std::optional<trace::OpenFile> file) {
  if (file && facts_.file(owner, pid, fd) == nullptr) {
    facts_.files.push_back({owner, pid, fd, std::make_shared<trace::OpenFile>(std::move(*file))});
  }
}

names::DescriptorName KeptNames::descriptor(const names::Task& task, std::int32_t fd) {
  if (fd >= 0 && facts_.file(FileFact::Owner::task, 0, fd) == nullptr) {
    keep(FileFact::Owner::task, 0, fd,
         task.snapshot != nullptr ? task.snapshot->descriptor(fd) : files_.file(task.tid, fd));
  }
  return {};
}

names::DescriptorName KeptNames::descriptor_behind(const names::Task& task, std::int32_t pidfd, std::int32_t fd) {
  if (task.snapshot != nullptr) {
    keep(FileFact::Owner::pidfd, 0, fd, task.snapshot->descriptor_behind(fd));
  } else if (const std::int32_t process = files_.process(task.tid, pidfd).id; process > 0) {
    keep(FileFact::Owner::pidfd, 0, fd, files_.file(process, fd));
  }
  return {};
}

names::DescriptorName KeptNames::descriptor_of(const names::Task& task, std::int32_t pid, std::int32_t fd) {
  if (task.snapshot != nullptr) {
    keep(FileFact::Owner::process, pid, fd, task.snapshot->descriptor_of(pid, fd));
  } else if (const std::int32_t process = pids_.here(task.tid, pid, names::PidKind::process); process > 0) {
    keep(FileFact::Owner::process, pid, fd, files_.file(process, fd));
  }
  return {};
}

std::string_view KeptNames::path(const names::Task& task, std::int32_t fd) {
  descriptor(task, fd);
  return {};
}

std::string_view KeptNames::current_directory(const names::Task& task) {
  if (task.snapshot != nullptr) {
    keep(FileFact::Owner::directory, 0, 0, task.snapshot->working_directory());
  } else if (std::string link = read_link(proc::proc_path(task.tid, "cwd")); !link.empty()) {
    trace::OpenFile directory;
    directory.link = std::move(link);
    keep(FileFact::Owner::directory, 0, 0, std::move(directory));
  }
  return {};
}

std::int32_t KeptNames::netlink_protocol(const names::Task& task, std::int32_t fd) {
  const std::int32_t protocol =
      task.snapshot != nullptr ? task.snapshot->netlink_protocol(fd) : files_.netlink_protocol(task.tid, fd);
  const std::pair<std::int32_t, std::int32_t> fact{fd, protocol};
  auto& known = facts_.netlink_protocols;
  if (protocol != -1 && std::find(known.begin(), known.end(), fact) == known.end()) {
    known.push_back(fact);
  }
  return protocol;
}

std::string_view KeptNames::drivers(const names::Task& task, std::int32_t fd) {
  auto& known = facts_.drivers;
  auto found = std::find_if(known.begin(), known.end(), [fd](const auto& fact) { return fact.first == fd; });
  if (found == known.end()) {
    TextBuffer text;
    names::append_drivers(text, task, fd);
    known.emplace_back(fd, text.view());
    found = known.end() - 1;
  }
  return found->second;
}

trace::TaskSnapshot::Process& KeptNames::process_fact(std::int32_t pid) {
  for (auto& [id, process] : facts_.processes) {
    if (id == pid) {
      return process;
    }
  }
  return facts_.processes.emplace_back(pid, trace::TaskSnapshot::Process{}).second;
}

std::string_view KeptNames::process(const names::Task& task, std::int32_t pid) {
  if (pid <= 0) {
    return {};
  }
  if (task.snapshot != nullptr) {
    if (const auto process = task.snapshot->process(pid)) {
      process_fact(pid) = *process;
    }
  } else if (const std::int32_t here = pids_.here(task.tid, pid, names::PidKind::process); here != 0) {
    trace::TaskSnapshot::Process& fact = process_fact(pid);
    fact.id = here;
    fact.is_thread = true;
    fact.command = proc::command_name(here);
  }
  return {};
}

std::int32_t KeptNames::process_here(const names::Task& task, std::int32_t pid, bool group) {
  if (task.snapshot != nullptr || !group) {
    process(task, pid);
  } else if (const std::int32_t here = pid <= 0 ? 0 : pids_.here(task.tid, pid, names::PidKind::group); here != 0) {
    trace::TaskSnapshot::Process& fact = process_fact(pid);
    fact.id = here;
    fact.is_group = true;
  }
  return 0;
}

std::string_view KeptNames::command(const names::Task& task) {
  const auto known = task.snapshot == nullptr ? std::nullopt : task.snapshot->command(task.tid);
  facts_.command = known ? *known : proc::command_name(task.tid);
  return {};
}

std::string_view KeptNames::keep(NameFact::Kind kind, std::uint64_t number, std::string_view name) {
  if (!name.empty() && facts_.name(kind, number) == nullptr) {
    facts_.names.push_back({kind, number, std::string(name)});
  }
  return name;
}

std::string_view KeptNames::function(const names::Task& task, RemoteAddr address) {
  return keep(NameFact::Kind::function, address.value(), kernel_.function(task, address));
}

std::string_view KeptNames::interface(std::uint32_t index) {
  return keep(NameFact::Kind::interface, index, kernel_.interface(index));
}

std::string_view KeptNames::generic_family(std::uint16_t number) {
  return keep(NameFact::Kind::generic_family, number, kernel_.generic_family(number));
}

// ---------------------------------------------------------------------------------------------- view

void CaptureView::thread_appears(pipeline::Thread& thread, const pipeline::Moment& moment) {
  names_.command(moment.task(thread));
}

void CaptureView::exec(pipeline::Thread& thread, const pipeline::Moment& moment) {
  names_.command(moment.task(thread));
}

void CaptureView::call_begins(pipeline::Thread& thread, const trace::Memory& memory) {
  begun_ = true;
  const auto& call = thread.call;
  decoder_.enter(*thread.state, call.entry, call.depth, memory, nothing_);
  // Text asks for what follows such a structure at the entry where that cannot be read, and other views at the exit.
  if (decoder_.shows_in_part(*thread.state)) {
    decoder_.enter(*shown_in_part_, call.entry, call.depth, memory, nothing_unfinished_);
  }
}

void CaptureView::call_ends(pipeline::Thread& thread, const pipeline::CallEnd& end, const trace::Memory& memory) {
  ended_ = true;
  decoder_.exit(*thread.state, end.outcome, memory, nothing_);
  check_call(thread, end);
  if (decoder_.name_of(*thread.state) == "prctl") {  // PR_SET_NAME
    names_.command({thread.tid, memory.snapshot()});
  }
}

void CaptureView::check(filter::Trigger::Kind kind, int number) {
  for (const filter::Trigger& trigger : triggers_) {
    triggered_ = triggered_ || (trigger.kind == kind && trigger.has(number));
  }
}

void CaptureView::check_call(const pipeline::Thread& thread, const pipeline::CallEnd& end) {
  if (triggers_.empty()) {
    return;
  }
  if (end.outcome.known && end.outcome.is_error) {
    check(filter::Trigger::Kind::error, static_cast<int>(-end.outcome.value));
  }
  for (const filter::Trigger& trigger : triggers_) {
    const bool slow = trigger.kind == filter::Trigger::Kind::duration && end.duration >= trigger.duration;
    const bool named = trigger.kind == filter::Trigger::Kind::call && trigger.has(decoder_.name_of(*thread.state));
    triggered_ = triggered_ || slow || named;
  }
}

void CaptureView::exits(pipeline::Thread& thread, const pipeline::Moment& /*moment*/, int status) {
  if (WIFSIGNALED(status)) {
    check(filter::Trigger::Kind::signal, WTERMSIG(status));
  } else if (thread.tid == thread.tgid) {
    check(filter::Trigger::Kind::exit_status, WEXITSTATUS(status));
  }
}

void CaptureView::signal(pipeline::Thread& thread, const pipeline::Moment& moment, const trace::SignalStop& stop,
                         std::span<const trace::StackFrame> /*stack*/) {
  check(filter::Trigger::Kind::signal, stop.signal);
  if (!stop.siginfo.empty()) {
    decoder_.siginfo(stop.siginfo, native_, thread.tid, moment.memory, nothing_);
  }
}

void CaptureView::probe(pipeline::Thread& /*thread*/, const pipeline::Moment& moment, const trace::ProbeHit& hit,
                        std::span<const trace::StackFrame> /*stack*/) {
  constexpr unsigned longest = 255;
  probe_text_.clear();
  pipeline::append_probe(probe_text_, hit, moment.memory, longest);
}

}  // namespace tracer::replay
