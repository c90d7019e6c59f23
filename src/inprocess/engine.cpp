#include "inprocess/engine.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "arch/call_site.h"
#include "arch/syscall_abi.h"
#include "capture/plans.h"
#include "inprocess/call_recording.h"
#include "inprocess/embedded.h"
#include "ptrace/engine.h"
#include "spec/sub_calls.h"

namespace tracer::inprocess {
namespace {

/// More than many stacks need, and still several calls in a ring.
constexpr std::uint32_t copied_stack = 32 * 1024;

/// After these the tracer may see other paths than the process does.
constexpr std::array<std::string_view, 4> changes_root{"chroot", "pivot_root", "setns", "unshare"};
/// These name descriptors of other processes, which no plan follows.
constexpr std::array<std::string_view, 1> names_others{"kcmp"};
/// The descriptors that these return are such as the tracer knows more of than the recorder.
constexpr std::array<std::string_view, 10> returns_details{"socket",     "socketpair", "accept",   "accept4",
                                                           "eventfd",    "eventfd2",   "signalfd", "signalfd4",
                                                           "pidfd_open", "pidfd_getfd"};

/// These may decide what becomes of SIGSYS in threads that are dispatched.
constexpr std::array<std::string_view, 2> changes_dispatch_or_mask{"rt_sigaction", "rt_sigprocmask"};

/// These return elsewhere, or not at all, or look at the stack pointer or at the instruction pointer.
constexpr std::array<std::string_view, 15> looks_at_registers{
    "clone",        "clone3",          "fork",        "vfork", "execve",           "execveat", "exit",     "exit_group",
    "rt_sigreturn", "restart_syscall", "sigaltstack", "rseq",  "rseq_slice_yield", "uprobe",   "uretprobe"};
/// These may copy the memory to a child.
constexpr std::array<std::string_view, 4> copies_memory{"clone", "clone3", "fork", "vfork"};
/// After these memory may be gone that could be read before.
constexpr std::array<std::string_view, 16> takes_memory{
    "munmap", "mmap",  "mremap",   "mprotect",  "pkey_mprotect",    "madvise", "process_madvise", "brk",
    "shmat",  "shmdt", "truncate", "ftruncate", "remap_file_pages", "creat",   "openat2",         "fallocate"};
/// These change the memory in other ways, the thread-local data, or what calls do.
constexpr std::array<std::string_view, 14> changes_conditions{
    "pkey_alloc", "io_uring_setup", "arch_prctl", "prctl",       "seccomp", "ptrace", "set_thread_area",
    "modify_ldt", "unshare",        "setns",      "userfaultfd", "iopl",    "ioperm", "map_shadow_stack"};
/// These open a file, and may truncate it, which takes pages away: by the flags in this argument.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 2> opens{{{"open", 1}, {"openat", 2}}};

/// After these nobody knows which memory can be read.
constexpr std::array<std::string_view, 2> hides_memory{"pkey_alloc", "io_uring_setup"};

trace::WantedCalls calls_named(const spec::Tables& tables, std::span<const std::string_view> names) {
  trace::WantedCalls found{};
  for (std::size_t i = 0; i < abi_count; ++i) {
    for (const spec::NumberedCall& numbered : tables.numbers[i]) {
      const bool meant =
          numbered.call != spec::none && numbered.number < trace::max_filtered_number &&
          std::find(names.begin(), names.end(), tables.text(tables.calls[numbered.call].name)) != names.end();
      if (meant) {
        found[i].set(numbered.number);
      }
    }
  }
  return found;
}

void add_calls(trace::WantedCalls& to, const trace::WantedCalls& more) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] |= more[i];
  }
}

/// The calls that code of ours may make for the program: they do the same on another stack and at another place, and
/// they change nothing that such code relies on. Nobody knows what a call does that is not described.
WhatIsRecorded::Calls recordable_calls(const spec::Tables& tables) {
  WhatIsRecorded::Calls calls;
  const std::size_t abi = index_of(arch::native_abi());
  for (const spec::NumberedCall& numbered : tables.numbers[abi]) {
    if (numbered.call != spec::none && numbered.number < calls.size()) {
      calls.set(numbered.number);
    }
  }
  for (const auto& names :
       {std::span<const std::string_view>(looks_at_registers), {takes_memory}, {changes_conditions}}) {
    calls &= ~calls_named(tables, names)[abi];
  }
  return calls;
}

/// Calls that stop if they truncate a file.
std::array<StopCondition, most_stop_conditions> stop_conditions(const spec::Tables& tables) {
  std::array<StopCondition, most_stop_conditions> conditions{};
  std::size_t count = 0;
  for (const auto& [name, argument] : opens) {
    const auto calls = calls_named(tables, std::span(&name, 1))[index_of(arch::native_abi())];
    for (std::size_t number = 0; calls.any() && number < calls.size(); ++number) {
      if (calls[number]) {
        conditions[count++] = {static_cast<std::uint32_t>(number), argument, O_TRUNC};
      }
    }
  }
  return conditions;
}

/// Calls that stand for others, by their arguments.
std::bitset<trace::max_filtered_number> multiplexers(const spec::Tables& tables) {
  const spec::SubCalls calls(tables);
  std::bitset<trace::max_filtered_number> found;
  for (const spec::SubCalls::Multiplexer& call : calls.multiplexers()) {
    if (call.abi == arch::native_abi() && call.number < found.size()) {
      found.set(static_cast<std::size_t>(call.number));
    }
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<trace::Engine>> make_inprocess_engine(process::EngineOptions options, const spec::Tables& tables,
                                                             const RecordingOptions& recording,
                                                             const ptrace::MakeFunctionHooks& functions,
                                                             const std::function<void(const std::string&)>& complain) {
  if (const Status able = arch::can_record_inside(); !able) {
    return able.error();
  }
  if (recorder_code().empty()) {
    return Error{ENOSYS, "this build has no recorder"};
  }
  const bool attaches = !options.attach.empty();
  if (attaches && options.launch) {
    return Error{EINVAL, "it takes processes that run (-p) or a program to start, not both"};
  }
  if (const Status able = arch::can_dispatch_calls(); attaches && !able) {
    return able.error();
  }
  if (attaches && !ptrace::can_set_dispatch()) {
    return Error{ENOSYS,
                 "-p takes Linux 6.4 or newer (PTRACE_SET_SYSCALL_USER_DISPATCH_CONFIG), which is missing here"};
  }
  if (!attaches && !options.no_filter_because.empty()) {
    return Error{EINVAL, "it uses a seccomp filter: " + options.no_filter_because};
  }
  const Abi abi = arch::native_abi();
  const capture::CaptureLimits& limits = recording.limits;
  const bool sees_all_calls = !options.wanted || attaches;
  const bool sees_memory = sees_all_calls || recording.plan_function;
  WhatIsRecorded what;
  what.calls = recordable_calls(tables);
  what.conditions = stop_conditions(tables);
  what.forking = calls_named(tables, copies_memory)[index_of(abi)];
  what.unmapping = calls_named(tables, takes_memory)[index_of(abi)];
  if (attaches) {
    what.calls &= ~calls_named(tables, changes_dispatch_or_mask)[index_of(abi)];
  }
  if (options.wanted) {
    // Without a filter the others would stop, too.
    what.unrecorded = attaches ? what.calls & ~(*options.wanted)[index_of(abi)] : what.unrecorded;
    what.calls &= (*options.wanted)[index_of(abi)];
  }
  if (!sees_all_calls && sees_memory) {
    // They cost less than to ask at each text of each function whether it can be read.
    std::array<std::string_view, opens.size()> opening{};
    std::transform(opens.begin(), opens.end(), opening.begin(), [](const auto& call) { return call.first; });
    const WhatIsRecorded::Calls before = (*options.wanted)[index_of(abi)];
    for (const auto& names : {std::span<const std::string_view>(takes_memory), {hides_memory}, {opening}}) {
      add_calls(*options.wanted, calls_named(tables, names));
    }
    what.unrecorded |= calls_named(tables, opening)[index_of(abi)] & recordable_calls(tables) & ~before;
  }
  if (limits.descriptors) {
    const trace::WantedCalls& changing = what.root_changing.emplace(calls_named(tables, changes_root));
    if (options.wanted) {
      add_calls(*options.wanted, changing);
    }
    what.calls &= ~changing[index_of(abi)];
    what.unrecorded &= ~changing[index_of(abi)];
    what.calls &= ~calls_named(tables, names_others)[index_of(abi)];
    what.stopped |= 1U << named_behind_pidfd;
  }
  if (limits.details) {
    what.calls &= ~calls_named(tables, returns_details)[index_of(abi)];
    what.names |= names_details;
  }
  if (recording.counts) {
    what.counted = what.calls & ~multiplexers(tables);
    what.calls &= ~what.counted;
    what.times = options.times;
  }
  what.plan_function = recording.plan_function;
  what.stack_bytes = recording.stacks ? copied_stack : 0;
  what.names |= recording.devices ? names_devices : 0U;
  what.names |= recording.commands ? names_commands : 0U;
  what.stopped |= limits.processes ? 1U << named_process : 0U;
  const auto make = [&](ptrace::RecordedCalls& calls) {
    return std::make_unique<CallRecording>(
        ImageContents(capture::make_capture_plans(tables, mask_of(abi), limits), what),
        attaches ? StopsBy::dispatch : StopsBy::filter, sees_memory, calls, options.debug);
  };
  return ptrace::make_ptrace_engine(options, complain, functions, make);
}

}  // namespace tracer::inprocess
