#include "replay/viewer/descriptor_changes.h"

#include <fcntl.h>
#include <linux/close_range.h>

#include <limits>
#include <utility>
#include <variant>

namespace tracer::replay::viewer {

namespace {

/// Where calls have a flag that closes a descriptor on exec.
struct ExecFlag {
  std::string_view call;
  std::size_t argument;
  std::uint64_t bit = O_CLOEXEC;
};
constexpr ExecFlag exec_flags[] = {
    {"open", 1},
    {"openat", 2},
    {"accept4", 3},
    {"dup3", 2},
    {"epoll_create1", 0},
    {"eventfd2", 1},
    {"pipe2", 1},
    {"inotify_init1", 0},
    {"signalfd4", 3},
    {"socket", 1},
    {"socketpair", 1},
    {"open_tree", 2},
    {"open_by_handle_at", 2},
    {"fanotify_init", 0, 1},
    {"timerfd_create", 1},
    {"memfd_create", 1, 1},
    {"userfaultfd", 0},
    {"perf_event_open", 4, 8},
};

bool closes_on_exec(std::string_view name, const std::array<std::uint64_t, 6>& args) {
  // These have no flag.
  if (name == "pidfd_open" || name == "pidfd_getfd") {
    return true;
  }
  for (const ExecFlag& each : exec_flags) {
    if (each.call == name) {
      return (args[each.argument] & each.bit) != 0;
    }
  }
  return false;
}

std::int32_t number_of(std::uint64_t argument) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(argument));
}

}  // namespace

DescriptorChanges::Called DescriptorChanges::called(Abi abi, std::uint64_t number) {
  const spec::Call* call = tables_.find(abi, number);
  if (call == nullptr) {
    return {};
  }
  const auto [entry, is_new] = known_.try_emplace(call);
  if (!is_new) {
    return entry->second;
  }
  Called& result = entry->second;
  result.name = tables_.text(call->name);
  constexpr std::pair<std::string_view, Effect> special[] = {
      {"dup", Effect::dup},         {"dup2", Effect::dup2},
      {"dup3", Effect::dup2},       {"fcntl", Effect::fcntl},
      {"fcntl64", Effect::fcntl},   {"close", Effect::closes},
      {"pipe", Effect::pair},       {"pipe2", Effect::pair},
      {"socketpair", Effect::pair}, {"close_range", Effect::closes_range},
  };
  for (const auto& [name, effect] : special) {
    if (result.name == name) {
      result.effect = effect;
      return result;
    }
  }
  const spec::TypeId type = call->signature == spec::none ? spec::none : tables_.signatures[call->signature].result;
  if (type != spec::none && tables_.types[type].style == spec::Style::fd) {
    result.effect = Effect::opens;
  }
  return result;
}

trace::Verdict DescriptorChanges::handle(const trace::Event& event, const trace::Memory& memory) {
  DescriptorChange change;
  if (const auto* enter = std::get_if<trace::SyscallEnter>(&event.what)) {
    begins(event, *enter);
  } else if (const auto* exit = std::get_if<trace::SyscallExit>(&event.what)) {
    ends(event, *exit, memory);
  } else if (const auto* fork = std::get_if<trace::Fork>(&event.what)) {
    if (!fork->is_thread) {
      change.kind = DescriptorChange::Kind::forks;
      change.child = fork->child;
      add(event, {}, change);
    }
  } else if (std::holds_alternative<trace::Exec>(event.what)) {
    change.kind = DescriptorChange::Kind::executes;
    add(event, {}, change);
  } else if (std::holds_alternative<trace::Exited>(event.what)) {
    open_.erase(event.tid);
    if (event.tid == event.tgid) {
      change.kind = DescriptorChange::Kind::exits;
      add(event, {}, change);
    }
  } else if (std::holds_alternative<trace::SyscallLost>(event.what)) {
    open_.erase(event.tid);
  }
  return trace::Verdict::go_on;
}

void DescriptorChanges::add(const trace::Event& event, const Open& call, DescriptorChange change) {
  change.tid = event.tid;
  change.tgid = event.tgid;
  change.time = event.time.monotonic;
  change.began = call.began.count() == 0 ? change.time : call.began;
  changes_.push_back(change);
}

void DescriptorChanges::begins(const trace::Event& event, const trace::SyscallEnter& enter) {
  const Open call{called(event.abi, enter.number), enter.args, event.time.monotonic};
  DescriptorChange change;
  change.kind = DescriptorChange::Kind::closes;
  change.fd = number_of(call.args[0]);
  change.last = change.fd;
  if (call.call.effect == Effect::closes) {  // the descriptor is free even if the call fails
    add(event, call, change);
    return;
  }
  if (call.call.effect == Effect::closes_range && (call.args[2] & CLOSE_RANGE_CLOEXEC) == 0) {
    const auto last = static_cast<std::uint32_t>(call.args[1]);
    constexpr auto highest = std::numeric_limits<std::int32_t>::max();
    change.last = last > static_cast<std::uint32_t>(highest) ? highest : static_cast<std::int32_t>(last);
    add(event, call, change);
    return;
  }
  if (call.call.effect != Effect::none) {
    open_[event.tid] = call;
  }
}

void DescriptorChanges::ends(const trace::Event& event, const trace::SyscallExit& exit, const trace::Memory& memory) {
  const auto found = open_.find(event.tid);
  if (found == open_.end()) {
    return;
  }
  const Open call = found->second;
  open_.erase(found);
  if (exit.is_error) {
    return;
  }
  DescriptorChange change;
  change.until_exec = closes_on_exec(call.call.name, call.args);
  change.from = number_of(call.args[0]);
  change.fd = static_cast<std::int32_t>(exit.value);
  switch (call.call.effect) {
    case Effect::opens:
      return add(event, call, change);
    case Effect::dup:
    case Effect::dup2:
      change.kind = DescriptorChange::Kind::duplicates;
      if (change.fd != change.from) {
        add(event, call, change);
      }
      return;
    case Effect::pair: {
      std::int32_t ends[2] = {-1, -1};
      const std::uint64_t where = call.args[call.call.name == "socketpair" ? 3 : 0];
      if (memory.read(RemoteAddr(where), std::as_writable_bytes(std::span(ends))) == sizeof ends) {
        for (const std::int32_t end : ends) {
          change.fd = end;
          add(event, call, change);
        }
      }
      return;
    }
    case Effect::fcntl: {
      const auto command = number_of(call.args[1]);
      if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        change.kind = DescriptorChange::Kind::duplicates;
        change.until_exec = command == F_DUPFD_CLOEXEC;
        add(event, call, change);
      } else if (command == F_SETFD) {
        change.kind = DescriptorChange::Kind::keeps;
        change.until_exec = (call.args[2] & FD_CLOEXEC) != 0;
        change.fd = change.from;
        add(event, call, change);
      }
      return;
    }
    case Effect::none:
    case Effect::closes:
    case Effect::closes_range:
      return;
  }
}

}  // namespace tracer::replay::viewer
