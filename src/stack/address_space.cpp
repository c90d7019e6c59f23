#include "stack/address_space.h"

#include <linux/kcmp.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace tracer::stack {

// ---------------------------------------------------------------------------------------------- AddressSpace

void AddressSpace::begin(pid_t tid) {
  tid_ = tid;
  previous_.clear();
  for (const Mapping& mapping : mappings_) {
    if (mapping.object) {
      mapping.object->trim_caches();
    }
  }
}

void AddressSpace::begin_walk(pid_t tid, std::span<const proc::MappedRange> captured) {
  begin(tid);
  std::vector<Mapping> now;
  for (const proc::MappedRange& range : captured) {
    if (range.is_executable()) {
      now.emplace_back(range);
    }
  }
  replace(std::move(now));
  stale_ = true;  // the next walk needs the mappings of its own time
  reread_after_miss_ = true;
}

void AddressSpace::begin_walk(pid_t tid) {
  begin(tid);
  if (stale_ || has_untraced_sharer_) {
    reread();
  }
}

void AddressSpace::reread() {
  std::vector<Mapping> now = read_mappings(tid_, MappingKind::executable);
  if (now.empty()) {
    now = mappings_;  // the process is gone, but its last events still need the mappings
  }
  replace(std::move(now));
}

void AddressSpace::replace(std::vector<Mapping> now) {
  // Mappings that have not changed keep their objects.
  auto old = mappings_.begin();
  for (Mapping& mapping : now) {
    old = std::find_if(old, mappings_.end(), [&](const Mapping& each) { return each.start >= mapping.start; });
    if (old != mappings_.end() && old->same_as(mapping)) {
      mapping.object = old->object;
      mapping.object_known = old->object_known;
    }
  }
  previous_.insert(previous_.end(), std::make_move_iterator(mappings_.begin()),
                   std::make_move_iterator(mappings_.end()));
  mappings_ = std::move(now);
  generation_ = ++*generations_;
  last_ = 0;
  stale_ = false;
  reread_after_miss_ = false;
}

Mapping* AddressSpace::find(std::uint64_t address) {
  if (last_ < mappings_.size() && mappings_[last_].contains(address)) {
    return &mappings_[last_];
  }
  for (;;) {
    const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                        [](std::uint64_t value, const Mapping& each) { return value < each.start; });
    if (after != mappings_.begin() && std::prev(after)->contains(address)) {
      last_ = static_cast<std::size_t>(std::prev(after) - mappings_.begin());
      return &mappings_[last_];
    }
    if (reread_after_miss_) {
      return nullptr;
    }
    reread();
    reread_after_miss_ = true;
  }
}

ElfObject* AddressSpace::object(Mapping& mapping, pid_t tid, const trace::Memory& memory, ObjectCache& objects) {
  if (!mapping.object_known) {
    mapping.object = objects.find(mapping, tid, memory);
    mapping.object_known = true;
  }
  return mapping.object.get();
}

bool AddressSpace::has_code(std::uint64_t start, std::uint64_t length) const {
  const std::uint64_t end = start + length < start ? ~std::uint64_t{0} : start + length;
  return stale_ || std::any_of(mappings_.begin(), mappings_.end(),
                               [&](const Mapping& each) { return each.start < end && start < each.end; });
}

// ---------------------------------------------------------------------------------------------- AddressSpaces

MappingCall mapping_call(Abi abi, std::string_view name) {
  if (name == "mmap" || name == "mmap2") {
    const bool in_memory = name == "mmap" && register_size(abi) == 4;  // i386 passes a pointer to the arguments
    return in_memory ? MappingCall::other : MappingCall::map;
  }
  constexpr std::pair<std::string_view, MappingCall> others[] = {
      {"mprotect", MappingCall::protect}, {"pkey_mprotect", MappingCall::protect},
      {"munmap", MappingCall::unmap},     {"remap_file_pages", MappingCall::unmap},
      {"mremap", MappingCall::remap},     {"shmdt", MappingCall::detach},
      {"shmat", MappingCall::other},      {"ipc", MappingCall::other},
      {"old_mmap", MappingCall::other},   {"clone", MappingCall::clone},
      {"clone3", MappingCall::clone},     {"vfork", MappingCall::clone},
  };
  const auto* found =
      std::find_if(std::begin(others), std::end(others), [&](const auto& e) { return e.first == name; });
  return found == std::end(others) ? MappingCall::none : found->second;
}

AddressSpaces::AddressSpaces(const spec::Tables& tables, bool follows_children) : follows_children_(follows_children) {
  for (std::size_t abi = 0; abi < abi_count; ++abi) {
    for (std::size_t number = 0; number < highest_number; ++number) {
      if (const spec::Call* call = tables.find(static_cast<Abi>(abi), number)) {
        calls_[abi][number] = mapping_call(static_cast<Abi>(abi), tables.text(call->name));
      }
    }
  }
}

AddressSpace& AddressSpaces::of(pid_t process) {
  auto& space = spaces_[process];
  if (!space) {
    space = std::make_shared<AddressSpace>(generations_);
  }
  return *space;
}

void AddressSpaces::observe(const trace::Event& event, const trace::Memory& memory) {
  if (const auto* enter = std::get_if<trace::SyscallEnter>(&event.what)) {
    on_enter(event, *enter, memory);
  } else if (const auto* exit = std::get_if<trace::SyscallExit>(&event.what)) {
    if (!changes_.empty()) {
      on_exit(event, *exit);
    }
  } else if (const auto* fork = std::get_if<trace::Fork>(&event.what)) {
    on_fork(event, *fork);
  } else if (const auto* exec = std::get_if<trace::Exec>(&event.what)) {
    spaces_[event.tgid] = std::make_shared<AddressSpace>(generations_);
    changes_.erase(exec->former_tid);
  } else if (std::holds_alternative<trace::Exited>(event.what) || std::holds_alternative<trace::Detached>(event.what)) {
    changes_.erase(event.tid);
    if (event.tid == event.tgid) {
      spaces_.erase(event.tgid);
    }
  }
}

AddressSpaces::Change AddressSpaces::change_of(const trace::Event& event, MappingCall call,
                                               const trace::SyscallEnter& enter, const trace::Memory& memory) {
  const auto& args = enter.args;
  Change change{call, args[0], args[1], false};
  const AddressSpace& space = of(event.tgid);
  switch (call) {
    case MappingCall::map:
      change.relevant = (args[2] & PROT_EXEC) != 0;
      break;
    case MappingCall::protect:
      change.relevant = (args[2] & PROT_EXEC) != 0 || space.has_code(args[0], args[1]);
      break;
    case MappingCall::unmap:
      change.relevant = space.has_code(args[0], args[1]);
      break;
    case MappingCall::remap:
      change.relevant =
          space.has_code(args[0], args[1]) || ((args[3] & MREMAP_FIXED) != 0 && space.has_code(args[4], args[2]));
      break;
    case MappingCall::detach:
      change.relevant = space.has_code(args[0], 1);
      break;
    case MappingCall::clone: {
      // clone3 has its flags in memory and takes the size of the structure, at most a page, as its second argument.
      // vfork has no flags but shares the memory.
      std::uint64_t flags = args[0];
      const bool in_memory =
          args[1] != 0 && args[1] <= 4096 &&
          memory.read(RemoteAddr(args[0]), std::as_writable_bytes(std::span(&flags, 1))) == sizeof flags;
      change.relevant = in_memory || (flags & CLONE_VM) != 0;
      break;
    }
    case MappingCall::other:
    case MappingCall::none:
      change.relevant = true;
      break;
  }
  return change;
}

void AddressSpaces::on_enter(const trace::Event& event, const trace::SyscallEnter& enter, const trace::Memory& memory) {
  if (enter.number >= highest_number) {
    return;
  }
  const MappingCall call = calls_[index_of(event.abi)][enter.number];
  if (call == MappingCall::none || (call == MappingCall::clone && follows_children_)) {
    return;
  }
  const Change change = change_of(event, call, enter, memory);
  changes_[event.tid] = change;
  if (change.relevant && call != MappingCall::clone) {
    of(event.tgid).mark_stale();  // other threads may have events before this call returns
  }
}

void AddressSpaces::on_exit(const trace::Event& event, const trace::SyscallExit& exit) {
  const auto found = changes_.find(event.tid);
  if (found == changes_.end()) {
    return;
  }
  const Change change = found->second;
  changes_.erase(found);
  AddressSpace& space = of(event.tgid);
  if (change.call == MappingCall::clone) {
    if (change.relevant && exit.value > 0) {
      space.set_untraced_sharer();
    }
  } else if (change.relevant || (change.call == MappingCall::map && !exit.is_error &&
                                 space.has_code(static_cast<std::uint64_t>(exit.value), change.length))) {
    space.mark_stale();
  }
}

void AddressSpaces::on_fork(const trace::Event& event, const trace::Fork& fork) {
  if (fork.is_thread) {
    return;
  }
  const long order = ::syscall(SYS_kcmp, event.tgid, fork.child, KCMP_VM, 0, 0);
  if (order == 0) {
    of(event.tgid);
    spaces_[fork.child] = spaces_[event.tgid];
    return;
  }
  // The child's memory is a copy with the same mappings.
  auto copy = std::make_shared<AddressSpace>(of(event.tgid));
  if (order < 0) {
    copy->set_untraced_sharer();
    of(event.tgid).set_untraced_sharer();
  }
  spaces_[fork.child] = std::move(copy);
}

}  // namespace tracer::stack
