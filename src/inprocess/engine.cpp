#include "inprocess/engine.h"

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

/// Calls that stand for others, by their arguments.
std::bitset<trace::max_filtered_number> multiplexers(const spec::Tables& tables) {
  const spec::SubCalls calls(tables);
  std::bitset<trace::max_filtered_number> found;
  for (std::size_t number = 0; number < found.size(); ++number) {
    found[number] = calls.go_through(arch::native_abi(), number);
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
  WhatIsRecorded what;
  what.calls = arch::recordable_calls();
  if (attaches) {
    what.calls &= ~calls_named(tables, changes_dispatch_or_mask)[index_of(abi)];
  }
  if (options.wanted) {
    // Without a filter the others would stop, too.
    what.unrecorded = attaches ? what.calls & ~(*options.wanted)[index_of(abi)] : what.unrecorded;
    what.calls &= (*options.wanted)[index_of(abi)];
  }
  if (limits.descriptors) {
    const trace::WantedCalls& changing = what.root_changing.emplace(calls_named(tables, changes_root));
    for (std::size_t i = 0; options.wanted && i < abi_count; ++i) {
      (*options.wanted)[i] |= changing[i];
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
        attaches ? StopsBy::dispatch : StopsBy::filter, sees_all_calls, calls, options.debug);
  };
  return ptrace::make_ptrace_engine(options, complain, functions, make);
}

}  // namespace tracer::inprocess
