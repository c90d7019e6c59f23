#include "functions/trap_signal.h"

#include <signal.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "arch/breakpoint.h"
#include "functions/inject.h"
#include "functions/thread_state.h"
#include "proc/proc_files.h"

namespace tracer::functions {
namespace {

constexpr std::uint64_t default_action = 0;
constexpr std::uint64_t ignoring_action = 1;

/// The first word of a sigaction, the kernel's or a C library's: the handler.
std::optional<std::uint64_t> read_word(const trace::Memory& memory, std::uint64_t address, Abi abi) {
  std::uint64_t word = 0;
  const std::size_t size = word_size(abi);
  const auto into = std::as_writable_bytes(std::span(&word, 1)).first(size);
  return memory.read(RemoteAddr(address), into) == size ? std::optional(word) : std::nullopt;
}

/// Has the thread ask for its action of SIGTRAP and, with a handler, set the same with this one instead. Returns the
/// handler before; empty if the thread cannot make the calls.
std::optional<std::uint64_t> exchange_handler(const ptrace::Stopped& thread, Filtered filtered,
                                              std::optional<std::uint64_t> handler) {
  constexpr std::uint64_t below_red_zone = 512;
  constexpr std::uint64_t alignment = 16;
  constexpr std::uint64_t set_size = 8;  // of the kernel's sigset_t, in bytes
  const auto registers = thread.registers();
  if (!registers) {
    return std::nullopt;
  }
  const Abi abi = registers.value().mode_abi();
  const ptrace::LiveMemory memory(thread.tid());
  const std::uint64_t place = (registers.value().stack_pointer() - below_red_zone) & ~(alignment - 1);
  std::array<std::byte, 32> before{};  // as large as the kernel's sigaction
  if (memory.read(RemoteAddr(place), before) != before.size()) {
    return std::nullopt;
  }
  const std::uint64_t number = arch::sigaction_number(abi);
  std::optional<std::uint64_t> old;
  if (const auto asked = inject_call(thread, filtered, number, {SIGTRAP, 0, place, set_size, 0, 0});
      asked.ok() && asked.value() == 0) {
    const ptrace::LiveMemory after(thread.tid());
    old = read_word(after, place, abi);
  }
  if (old && handler) {
    const auto bytes = std::as_bytes(std::span(&*handler, 1)).first(word_size(abi));
    const auto done = thread.write(RemoteAddr(place), bytes).ok()
                          ? inject_call(thread, filtered, number, {SIGTRAP, place, 0, set_size, 0, 0})
                          : Result<std::uint64_t>(Error{EFAULT, {}});
    old = done.ok() && done.value() == 0 ? old : std::nullopt;
  }
  static_cast<void>(thread.write(RemoteAddr(place), before));
  return old;
}

/// Whether a trap has made the kernel reset the program's handler.
bool has_lost_handler(const Breakpoints& space, pid_t tid) {
  return space.trap_handler != default_action && space.trap_handler != ignoring_action &&
         !has_signal(tid, "SigCgt", SIGTRAP) && !has_signal(tid, "SigIgn", SIGTRAP);
}

}  // namespace

bool has_signal(pid_t tid, const char* field, int signal) {
  return ((std::strtoull(proc::status_field(tid, field).c_str(), nullptr, 16) >> (signal - 1)) & 1) != 0;
}

void learn_trap_signal(ptrace::Tracee& tracee, bool ignored) {
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  thread_state(tracee)->blocks_trap = thread.blocks(SIGTRAP);
  Breakpoints& space = space_of(tracee);
  if (ignored || has_signal(tracee.tid(), "SigIgn", SIGTRAP)) {
    space.trap_handler = ignoring_action;
  } else if (has_signal(tracee.tid(), "SigCgt", SIGTRAP)) {
    space.trap_handler = exchange_handler(thread, space.filtered, std::nullopt).value_or(default_action);
  }
}

void expect_signal_change(ptrace::Tracee& tracee, const Breakpoint& point, const arch::Registers& registers) {
  const auto entry = arch::function_entry(registers, tracee.memory);
  if (!entry) {
    return;
  }
  if (point.sets_handler && static_cast<int>(entry->integers[0]) == SIGTRAP) {
    space_of(tracee).trap_handler = entry->integers[1];
  }
  if ((!point.sets_action && !point.sets_mask) || entry->integers[1] == 0) {
    return;
  }
  // pthread_sigmask(how, set, old), sigaction(signal, action, old)
  const auto first = static_cast<int>(entry->integers[0]);
  const auto word = read_word(tracee.memory, entry->integers[1], registers.mode_abi());
  if (!word) {
    return;
  }
  if (point.sets_action && first == SIGTRAP) {
    space_of(tracee).trap_handler = *word;
  } else if (point.sets_mask) {
    bool& blocks = thread_state(tracee)->blocks_trap;
    const bool has_trap = (*word >> (SIGTRAP - 1) & 1) != 0;
    switch (first) {
      case SIG_BLOCK:
        blocks = blocks || has_trap;
        break;
      case SIG_UNBLOCK:
        blocks = blocks && !has_trap;
        break;
      case SIG_SETMASK:
        blocks = has_trap;
        break;
      default:
        break;
    }
  }
}

bool is_merged_trap(const ptrace::Tracee& tracee) {
  // Only a trap unblocks it, or takes the handler away, unseen.
  return (thread_state(tracee)->blocks_trap && !ptrace::stopped_thread(tracee).blocks(SIGTRAP)) ||
         has_lost_handler(space_of(tracee), tracee.tid());
}

bool ignores_trap(const ptrace::Tracee& tracee) {
  return space_of(tracee).trap_handler == ignoring_action;
}

void restore_trap_signal(ptrace::Tracee& tracee) {
  const ptrace::Stopped& thread = ptrace::stopped_thread(tracee);
  const Breakpoints& space = space_of(tracee);
  bool blocks = thread_state(tracee)->blocks_trap;
  // The step over the call that would ignore SIGTRAP again would end that at once: see ignores_trap().
  if (has_lost_handler(space, tracee.tid())) {
    static_cast<void>(exchange_handler(thread, space.filtered, space.trap_handler));
    // A handler is only reset if the signal is blocked, by the mask of another signal's handler perhaps. It may be
    // another thread that blocks it.
    blocks = blocks || proc::number_field(tracee.tid(), "Threads") == 1;
  }
  if (blocks) {
    static_cast<void>(thread.block(SIGTRAP));
  }
}

}  // namespace tracer::functions
