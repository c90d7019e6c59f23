// Changing calls as the handler asks, and holding threads back without waiting for them.
#include <algorithm>

#include "arch/syscall_abi.h"
#include "ptrace/ptrace_engine.h"

namespace tracer::ptrace {
namespace {

/// Longer than any run; keeps the arithmetic in range.
constexpr std::chrono::nanoseconds longest_delay = std::chrono::hours(24 * 365 * 50);

std::chrono::nanoseconds now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::int64_t register_value(const trace::Tampering::Result& result) {
  return static_cast<std::int64_t>(result.is_error ? 0 - result.value : result.value);
}

}  // namespace

void PtraceEngine::tamper_at_entry(Tracee& tracee, trace::Event& entry) {
  tracee.tampering = {};
  if (handler_ == nullptr || (tracee.tid() == program_ && !program_started_)) {
    return;  // the execve that starts the program is ours
  }
  const trace::Tampering* wish = handler_->tamper(entry, tracee.memory);
  if (wish == nullptr) {
    return;
  }
  auto& enter = std::get<trace::SyscallEnter>(entry.what);
  CallTampering& tampering = tracee.tampering;
  tampering.wish = wish;
  tampering.args = enter.args;
  tampering.done.signal = wish->signal != 0;
  tampering.done.delayed = wish->delay_enter || wish->delay_exit;
  poke(tracee, wish->poke_enter);
  if (wish->result) {
    const std::uint64_t number = arch::raw_call_number({tracee.abi, wish->instead[index_of(tracee.abi)]});
    tampering.done.result = bool(stopped_thread(tracee).set_call_number(number));
    tampering.owed = tampering.done.result ? wish->result : std::nullopt;
  }
  enter.tampered = tampering.done;
  tampering.done.poke_failed = false;
}

void PtraceEngine::tamper_at_exit(Tracee& tracee, CallState& state) {
  if (tracee.tampering.wish != nullptr) {
    poke(tracee, tracee.tampering.wish->poke_exit);
  }
  if (const auto owed = tracee.tampering.owed) {
    const std::int64_t value = register_value(*owed);
    state.result = register_size(tracee.abi) == 4 ? static_cast<std::int32_t>(value) : value;
    state.is_error = owed->is_error;
    pay_result(tracee);
  }
}

void PtraceEngine::pay_result(Tracee& tracee) {
  if (const auto owed = std::exchange(tracee.tampering.owed, std::nullopt)) {
    // Fails only for a thread that was killed meanwhile.
    static_cast<void>(stopped_thread(tracee).set_call_result(register_value(*owed), owed->is_error));
  }
}

void PtraceEngine::poke(Tracee& tracee, const std::vector<trace::Poke>& pokes) {
  CallTampering& tampering = tracee.tampering;
  for (const trace::Poke& poke : pokes) {
    if (poke.argument >= tampering.args.size()) {
      continue;
    }
    const RemoteAddr address(tampering.args[poke.argument]);
    const bool written = bool(stopped_thread(tracee).write(address, poke.data));
    tampering.done.arguments = tampering.done.arguments || written;
    tampering.done.poke_failed = tampering.done.poke_failed || !written;
  }
  tracee.memory.forget();
}

void PtraceEngine::resume_after(Tracee& tracee, std::optional<std::chrono::nanoseconds> delay, int signal) {
  if (!delay || delay->count() <= 0 || tracee.detaching) {
    resume(tracee, signal);
    return;
  }
  tracee.held_until = now() + std::min(*delay, longest_delay);
  tracee.held_signal = signal;
  held_.emplace(*tracee.held_until, tracee.tid());
}

std::optional<std::chrono::nanoseconds> PtraceEngine::next_release() const {
  return held_.empty() ? std::nullopt : std::optional(held_.begin()->first);
}

void PtraceEngine::release(Tracee& tracee) {
  if (std::exchange(tracee.held_until, std::nullopt)) {
    resume(tracee, tracee.held_signal);
  }
}

void PtraceEngine::release_due() {
  while (!held_.empty() && held_.begin()->first <= now()) {
    const auto [time, tid] = *held_.begin();
    held_.erase(held_.begin());
    if (Tracee* tracee = tracees_.find(tid); tracee != nullptr && tracee->held_until == time) {
      release(*tracee);
    }
  }
}

}  // namespace tracer::ptrace
