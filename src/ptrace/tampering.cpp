#include "ptrace/tampering.h"

#include <utility>

#include "arch/syscall_abi.h"

namespace tracer::ptrace {
namespace {

std::int64_t register_value(const trace::Tampering::Result& result) {
  return static_cast<std::int64_t>(result.is_error ? 0 - result.value : result.value);
}

void poke(Tracee& tracee, const std::vector<trace::Poke>& pokes) {
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

}  // namespace

void tamper_at_entry(trace::EventHandler& handler, Tracee& tracee, trace::Event& entry) {
  const trace::Tampering* wish = handler.tamper(entry, tracee.memory);
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

void tamper_at_exit(Tracee& tracee, CallState& state) {
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

void pay_result(Tracee& tracee) {
  if (const auto owed = std::exchange(tracee.tampering.owed, std::nullopt)) {
    // This fails only if the thread was killed meanwhile.
    static_cast<void>(stopped_thread(tracee).set_call_result(register_value(*owed), owed->is_error));
  }
}

}  // namespace tracer::ptrace
