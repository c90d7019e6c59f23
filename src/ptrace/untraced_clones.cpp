#include "ptrace/untraced_clones.h"

#include <linux/sched.h>

#include <cstring>
#include <utility>

#include "arch/syscall_abi.h"

namespace tracer::ptrace {

void hide_untraced(Tracee& tracee, const CallState& entry) {
  const arch::FilterArch* arch = arch::filter_arch_of(entry.abi);
  if ((!tracee.filtered && !tracee.recorded && tracee.functions == nullptr) || tracee.detaching ||
      tracee.tampering.owed || arch == nullptr) {
    return;
  }
  const auto& stopped = stopped_thread(tracee);
  HiddenFlag hidden;
  if (entry.number == arch->clone_number) {
    hidden.flags = entry.args[0];
  } else if (entry.number == arch->clone3_number) {
    hidden.address = RemoteAddr(entry.args[0]);
    std::uint64_t flags = 0;  // they are the first member of struct clone_args
    if (tracee.memory.read(hidden.address, std::as_writable_bytes(std::span(&flags, 1))) != sizeof flags) {
      return;
    }
    hidden.flags = flags;
  }
  if ((hidden.flags & CLONE_UNTRACED) == 0) {
    return;
  }
  const std::uint64_t without = hidden.flags & ~std::uint64_t{CLONE_UNTRACED};
  const bool done = hidden.address.is_null()
                        ? stopped.set_first_argument(entry.abi, without).ok()
                        : stopped.write(hidden.address, std::as_bytes(std::span(&without, 1))).ok();
  if (done) {
    tracee.hidden_untraced = hidden;
  }
}

void restore_untraced(Tracee& tracee) {
  const auto hidden = std::exchange(tracee.hidden_untraced, std::nullopt);
  if (!hidden) {
    return;
  }
  const auto& stopped = stopped_thread(tracee);
  if (!hidden->address.is_null()) {
    static_cast<void>(stopped.write(hidden->address, std::as_bytes(std::span(&hidden->flags, 1))));
    tracee.memory.forget();
  } else if constexpr (!arch::Registers::result_replaces_argument) {
    static_cast<void>(stopped.set_first_argument(tracee.abi, hidden->flags));
  }
}

void inherit_untraced(const HiddenFlag& parents, Tracee& child) {
  // If both have their memory in common, the flag is back there already, and something else may be there by now.
  if (parents.address.is_null() || (parents.flags & CLONE_VM) == 0) {
    child.hidden_untraced = parents;
  }
}

}  // namespace tracer::ptrace
