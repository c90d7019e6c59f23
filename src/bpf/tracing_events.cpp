// The records of the programs as events.
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "arch/syscall_abi.h"
#include "bpf/captured_memory.h"
#include "bpf/captured_state.h"
#include "bpf/record_front.h"
#include "bpf/tracing_engine.h"
#include "capture/captured_stack.h"

namespace tracer::bpf {
namespace {

/// si_pid; what it means depends on the signal.
std::int32_t sender_of(std::span<const std::byte> siginfo) {
  constexpr std::size_t place = 16;
  std::int32_t sender = 0;
  std::memcpy(&sender, siginfo.data() + place, sizeof sender);
  return sender;
}

bool is_failure(std::int64_t result) {
  return result < 0 && result >= -largest_errno;
}

/// Forgets those of a process that has no thread any more: what it blocked is delivered to nobody.
template <typename Signals>
void forget_signals(Signals& signals, pid_t process, const std::map<pid_t, pid_t>& processes) {
  const auto first = signals.lower_bound({process, 0});
  const auto end = signals.lower_bound({process + 1, 0});
  const auto is_thread = [process](const auto& thread) { return thread.second == process; };
  if (first != end && std::none_of(processes.begin(), processes.end(), is_thread)) {
    signals.erase(first, end);
  }
}

}  // namespace

void TracingEngine::deliver(Bytes record, Bytes late) {
  if (reporting_ended_) {
    return;
  }
  const auto head = front_of(record);
  if (head.lost != 0) {
    lost_ += head.lost;
    handler_->lost(head.lost);
  }
  trace::Event& event = event_;  // to clear one for each record is slow enough to see
  event.tid = static_cast<pid_t>(head.tid);
  event.tgid = static_cast<pid_t>(head.tgid);
  event.abi = arch::native_abi();
  event.time.monotonic = std::chrono::nanoseconds(head.time) - clock_offset_;
  event.time.realtime = event.time.monotonic + realtime_offset_;
  event.stack = nullptr;
  switch (head.kind) {
    case record_enter:
      return on_enter(event, record, late);
    case record_exit:
      return on_exit(event, record);
    case record_fork:
      return on_fork(event.tid, event.tgid, static_cast<pid_t>(front_of<lifecycle_record>(record).value), event.time);
    case record_name:
      commands_[event.tid] = command_of(front_of<name_record>(record).comm);
      return;
    case record_exiting:
      return end_call(event);
    case record_exited:
      return on_thread_exit(event, front_of<lifecycle_record>(record).value);
    case record_exec:
      return on_exec(event, static_cast<pid_t>(front_of<lifecycle_record>(record).value));
    case record_signal:
    case record_signal_generated: {
      const auto made = front_of<signal_record>(record);
      const Bytes names = record.subspan(std::min(sizeof made, record.size()));
      Signal signal{static_cast<int>(head.number), made.value, {}, {names.begin(), names.end()}};
      std::memcpy(signal.info.data(), made.siginfo, siginfo_size);
      if (head.kind == record_signal_generated) {
        return on_signal_generated(event, signal);
      }
      return late.empty() ? on_signal(event, signal) : on_crash(event, signal, late);
    }
    case record_stop:
      event.what = trace::GroupStop{static_cast<int>(head.number)};
      return hand_out(event, nothing_);
    default:
      break;
  }
}

TracingEngine::ThreadState& TracingEngine::thread(pid_t tid) {
  if (last_ == nullptr || last_tid_ != tid) {
    last_ = &threads_[tid];  // which stays where it is
    last_tid_ = tid;
  }
  return *last_;
}

void TracingEngine::forget(pid_t tid) {
  last_ = nullptr;
  threads_.erase(tid);
}

void TracingEngine::on_enter(trace::Event& event, Bytes record, Bytes late) {
  const auto front = front_of<enter_front>(record);
  trace::SyscallEnter enter;
  Bytes chunks = record.subspan(std::min(sizeof front, record.size()));
  const std::size_t arguments =
      std::min({std::size_t{front.head.arguments}, enter.args.size(), chunks.size() / sizeof enter.args[0]});
  for (std::size_t i = 0; i < arguments; ++i, chunks = chunks.subspan(sizeof enter.args[0])) {
    std::memcpy(&enter.args[i], chunks.data(), sizeof enter.args[0]);
  }
  ThreadState& state = thread(event.tid);
  state.in_call = true;
  state.entered = front.head.time;
  state.first_argument = enter.args[0];
  state.abi = event.abi = front.head.abi < abi_count ? static_cast<Abi>(front.head.abi) : arch::native_abi();
  enter.number = front.head.number;
  enter.instruction_pointer = front.instruction_pointer;
  enter.stack_pointer = front.stack_pointer;
  event.what = enter;
  state.entry.assign(chunks.begin(), chunks.end());
  state.entry.insert(state.entry.end(), late.begin(), late.end());
  const CapturedMemory memory(state.entry, {}, &commands_);
  const capture::CapturedStack stack(memory);
  event.stack = stacks_ ? &stack : nullptr;
  hand_out(event, memory);
}

void TracingEngine::on_exit(trace::Event& event, Bytes record) {
  const auto front = front_of<exit_record>(record);
  const Bytes all = record.subspan(std::min(sizeof front, record.size()));
  const Bytes chunks = all.first(all.size() - late_chunks(record).size());
  ThreadState& state = thread(event.tid);
  if (front.head.number != static_cast<std::uint32_t>(state.entered)) {
    end_call(event);  // its exit is lost, and so is the entry of this one
  }
  event.abi = front.head.abi < abi_count ? static_cast<Abi>(front.head.abi) : arch::native_abi();
  auto& exit = event.what.emplace<trace::SyscallExit>();
  exit.value = front.result;
  exit.is_error = is_failure(front.result);
  exit.instruction_pointer = front.instruction_pointer;
  const std::uint64_t wall = front.head.time - state.entered;
  exit.cpu_time = std::chrono::nanoseconds(wall > front.off_time ? wall - front.off_time : 0);
  const std::int64_t exit_value = exit.value;
  const CapturedMemory entry(state.entry);
  const capture::CapturedStack stack(entry);
  event.stack = stacks_ ? &stack : nullptr;
  if (std::exchange(state.in_call, false)) {
    if (task_states_) {
      const trace::TaskState captured = state_of(all, state.first_argument);
      hand_out(event, CapturedMemory(chunks, state.entry, &commands_, &captured));
    } else {
      hand_out(event, CapturedMemory(chunks, state.entry, &commands_));
    }
  }
  if (!state.ignored.empty()) {
    event.stack = nullptr;  // which was that of the call
    for (Signal& signal : std::exchange(state.ignored, {})) {
      if (sender_of(signal.info) == exit_value) {
        signal.names.clear();  // the call has waited for it, and it is no more
      }
      signal_stop(event, signal);
    }
  }
}

void TracingEngine::end_call(trace::Event& event) {
  if (std::exchange(thread(event.tid).in_call, false)) {
    event.what = trace::SyscallLost{};
    hand_out(event, nothing_);
  }
}

void TracingEngine::on_thread_exit(trace::Event& event, std::int64_t status) {
  end_call(event);
  forget(event.tid);
  commands_.erase(event.tid);
  tracees_.erase(event.tid);
  forget_signals(on_their_way_, event.tgid, tracees_);
  event.what = trace::Exited{static_cast<int>(status)};
  hand_out(event, nothing_);
}

void TracingEngine::on_exec(trace::Event& event, pid_t former) {
  if (former != event.tid) {
    end_call(event);  // the first thread's, which is no more
    ThreadState caller = std::move(thread(former));
    thread(event.tid) = std::move(caller);
    forget(former);
    commands_.erase(former);
    tracees_.erase(former);
  }
  event.abi = thread(event.tid).abi;
  tracees_[event.tid] = event.tgid;
  event.what = trace::Exec{former};
  hand_out(event, nothing_);
}

void TracingEngine::on_signal(trace::Event& event, const Signal& signal) {
  if (signal.number != SIGKILL) {
    on_their_way_.erase({event.tgid, signal.number});
    signal_stop(event, signal);
    return;
  }
  // Where another signal is fatal, the kernel lets SIGKILL carry it out at once.
  const int killer = static_cast<int>(signal.value & 0x7f);
  const auto generated = on_their_way_.find({event.tgid, killer});
  if (killer != SIGKILL && generated != on_their_way_.end()) {
    const Signal fatal = generated->second;
    on_their_way_.erase(generated);
    signal_stop(event, fatal);
  }
}

void TracingEngine::on_signal_generated(trace::Event& event, const Signal& signal) {
  constexpr std::int64_t queued = 0;  // TRACE_SIGNAL_* of the tracepoint
  constexpr std::int64_t ignored = 1;
  if (signal.value == queued && signal.number != SIGKILL) {
    on_their_way_[{event.tgid, signal.number}] = signal;
  } else if (signal.value == ignored) {
    ThreadState& state = thread(event.tid);
    if (!state.in_call) {
      signal_stop(event, signal);
    } else if (state.ignored.size() < most_ignored) {
      state.ignored.push_back(signal);
    }
  }
}

void TracingEngine::on_crash(trace::Event& event, const Signal& signal, Bytes record) {
  on_their_way_.erase({event.tgid, signal.number});
  const CapturedCrash crash = crash_of(record);
  const CapturedMemory memory(crash.memory);
  const capture::CapturedStack stack(memory, crash.state.mappings);
  event.stack = &stack;
  signal_stop(event, signal, crash.instruction_pointer, crash.memory, &crash.state);
}

void TracingEngine::signal_stop(trace::Event& event, const Signal& signal, std::uint64_t instruction_pointer,
                                Bytes memory, const trace::TaskState* state) {
  trace::SignalStop stop;
  stop.instruction_pointer = instruction_pointer;
  stop.signal = signal.number;
  int number = 0;
  std::memcpy(&number, signal.info.data(), sizeof number);
  if (number == signal.number) {
    stop.siginfo = signal.info;
  }
  event.what = stop;
  hand_out(event, CapturedMemory(memory, signal.names, &commands_, state));
}

}  // namespace tracer::bpf
