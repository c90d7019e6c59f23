// The part of CallRecording that processes need which ran before the tracer came, and go on when it leaves.
#include <elf.h>
#include <fmt/core.h>
#include <linux/prctl.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "arch/call_site.h"
#include "base/clock.h"
#include "inprocess/call_recording.h"
#include "inprocess/dispatch.h"
#include "proc/auxiliary_vector.h"
#include "proc/proc_files.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {
namespace {

/// A stop in which calls can be injected: nothing that the thread stopped for would get lost.
bool can_make_calls(const ptrace::Stopped& thread) {
  constexpr int event_stop = 128;  // PTRACE_EVENT_STOP, linux/ptrace.h
  if (thread.event() == event_stop) {
    return true;
  }
  const auto state = thread.call_state();
  return state && state.value().direction == ptrace::Direction::exit;
}

}  // namespace

std::string CallRecording::why_not_attach(pid_t process) const {
  if (proc::number_field(process, "Seccomp") > 0) {
    return fmt::format(
        "attach: process {} has a seccomp filter of its own, which code of the tracer inside it would have to pass; "
        "leave --engine=inprocess out to trace it with ptrace",
        process);
  }
  constexpr unsigned word_size = 8;
  if (proc::auxiliary_value(process, AT_PHENT, word_size) == 0 && proc::auxiliary_value(process, AT_PAGESZ, 4) != 0) {
    return fmt::format(
        "attach: process {} is a 32-bit program, and calls are recorded inside 64-bit ones alone; leave "
        "--engine=inprocess out to trace it with ptrace",
        process);
  }
  return {};
}

std::vector<pid_t> CallRecording::threads_of(const Process& process) const {
  std::vector<pid_t> found;
  for (const auto& [tgid, candidate] : processes_) {
    if (candidate.get() == &process) {
      const auto threads = proc::threads_of(tgid);
      found.insert(found.end(), threads.begin(), threads.end());
    }
  }
  return found;
}

bool CallRecording::hold_others(Process& process, const ptrace::Tracee& tracee) {
  std::vector<pid_t> held{tracee.tid()};
  std::vector<pid_t> threads = threads_of(process);
  if (threads.size() <= 1) {
    return true;
  }
  // Calls that sleep may be interrupted by this, which a program can see; so it is done for many sites at once.
  constexpr std::chrono::milliseconds between_holds{50};
  const auto now = clock_now(CLOCK_MONOTONIC);
  if (now < process.next_hold) {
    return false;
  }
  process.next_hold = now + between_holds;
  // Threads that run may create others until they are held.
  for (bool found_new = true; found_new; threads = threads_of(process)) {
    found_new = false;
    for (const pid_t tid : threads) {
      if (std::find(held.begin(), held.end(), tid) != held.end()) {
        continue;
      }
      const ptrace::Tracee* other = calls_.find_tracee(tid);
      const auto* running = other != nullptr ? std::get_if<ptrace::Running>(&other->thread) : nullptr;
      if (running != nullptr && !other->in_call) {  // else it stops as its call ends
        running->interrupt();
      }
      const bool forks = std::find(process.forking.begin(), process.forking.end(), tid) != process.forking.end();
      const bool is_held = !forks && ((running != nullptr && other->in_call) || comes_to_stop(tid));
      if (!is_held) {
        constexpr std::chrono::seconds pause{1};  // somebody does not stop, and may not soon
        process.next_hold = forks ? now : clock_now(CLOCK_MONOTONIC) + pause;
        return false;
      }
      held.push_back(tid);
      found_new = true;
    }
  }
  return true;
}

void CallRecording::dispatch(ptrace::Tracee& tracee) {
  Thread* thread = find(tracee.tid());
  const auto* stopped = std::get_if<ptrace::Stopped>(&tracee.thread);
  if (stops_by_ != StopsBy::dispatch || thread == nullptr || stopped == nullptr || tracee.dispatched ||
      thread->process->off || thread->ring.area().off != 0 || stopped->blocks(SIGSYS) || stopped->has_dispatch()) {
    return;
  }
  if (stopped->set_dispatch(ptrace::Dispatch{recorder_address, free_page_size, selector_address}).ok()) {
    thread->ring.area().held = 0;
    tracee.dispatched = true;
  }
}

void CallRecording::end_dispatch(ptrace::Tracee& tracee) {
  if (Thread* thread = find(tracee.tid()); thread != nullptr) {
    thread->ring.area().held = 1;
  }
  if (std::exchange(tracee.dispatched, false)) {
    static_cast<void>(ptrace::stopped_thread(tracee).set_dispatch(std::nullopt));
  }
}

bool CallRecording::is_call(ptrace::Tracee& tracee) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  siginfo_t info{};
  auto registers = stopped.registers();
  if (!tracee.dispatched || !registers || !stopped.signal_info(info) || !ptrace::is_dispatch(info)) {
    return false;
  }
  arch::Registers moved = registers.value();
  const std::uint64_t at = moved.instruction_pointer();
  if (reinterpret_cast<std::uint64_t>(info.si_call_addr) != at) {
    return false;
  }
  collect();
  arch::put_to_call(moved);
  static_cast<void>(stopped.set_registers(moved));
  end_dispatch(tracee);
  return true;
}

bool CallRecording::is_outside(const Process& process, pid_t tid) const {
  const ptrace::Tracee* tracee = calls_.find_tracee(tid);
  if (tracee == nullptr || process.left.count(tid) != 0) {
    return true;  // the kernel has just created it, and its creator was outside
  }
  return std::holds_alternative<ptrace::Running>(tracee->thread) && tracee->detaching &&
         std::find(process.forking.begin(), process.forking.end(), tid) == process.forking.end() &&
         (tracee->in_call || (!tracee->dispatched && sleeps_outside(tracee->tgid, tid)));
}

bool CallRecording::take_out_for_good(ptrace::Tracee& tracee) {
  if (stops_by_ != StopsBy::dispatch || processes_.count(tracee.tgid) == 0) {
    return true;
  }
  if (ptrace::stopped_thread(tracee).is_about_to_stop_for_dispatch()) {
    return false;
  }
  take_out(tracee, false);
  end_dispatch(tracee);
  return true;
}

ptrace::Leaving CallRecording::prepare_detach(ptrace::Tracee& tracee) {
  using ptrace::Leaving;
  const auto found = processes_.find(tracee.tgid);
  if (stops_by_ != StopsBy::dispatch || found == processes_.end()) {
    return Leaving::now;
  }
  const auto& stopped = ptrace::stopped_thread(tracee);
  Process& process = *found->second;
  if (!process.image || abandoned_) {
    return Leaving::now;
  }
  turn_off(process);
  process.left.insert(tracee.tid());
  // Mostly it is still the same one, and a thousand threads ask.
  if (process.inside != 0 && !is_outside(process, process.inside)) {
    return Leaving::with_others;
  }
  const auto threads = threads_of(process);
  const auto inside =
      std::find_if(threads.rbegin(), threads.rend(), [&](pid_t tid) { return !is_outside(process, tid); });
  process.inside = inside == threads.rend() ? 0 : *inside;
  if (process.inside != 0) {
    return Leaving::with_others;
  }
  ptrace::Tracee* able = can_make_calls(stopped) ? &tracee : nullptr;
  for (const pid_t tid : process.left) {
    ptrace::Tracee* other = calls_.find_tracee(tid);
    const auto* thread = other != nullptr ? std::get_if<ptrace::Stopped>(&other->thread) : nullptr;
    able = able == nullptr && thread != nullptr && can_make_calls(*thread) ? other : able;
  }
  if (able == nullptr) {
    process.left.erase(tracee.tid());
    return Leaving::at_rest;
  }
  const bool is_clean = clean(process, *able);
  const bool stops_again = ptrace::has_report(able->tid());
  if (!is_clean && stops_again) {
    process.left.erase(able->tid());  // somebody tries it again from there
  }
  if (stops_again && able != &tracee) {
    able->thread = std::get<ptrace::Stopped>(std::move(able->thread)).went_on();
    able->waits_to_detach = false;
  }
  return able == &tracee && stops_again ? Leaving::after_stop : is_clean ? Leaving::now : Leaving::with_others;
}

bool CallRecording::clean(Process& process, const ptrace::Tracee& tracee) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  // A child may have been created before or after its parent was cleaned.
  const bool is_there = Image::is_in(stopped, contents_.symbols());
  bool done = process.patcher.undo_all(stopped, contents_.symbols(), is_there);
  if (is_there && !process.gave_way) {
    done = Image::remove(stopped, process.call).ok() && done;
  }
  if (!done && ptrace::has_report(tracee.tid())) {
    return false;
  }
  if (!done && debug_) {
    debug_(
        fmt::format("inprocess: process {} keeps memory of the tracer's: the kernel refuses to unmap it", tracee.tgid));
  }
  for (const pid_t tid : threads_of(process)) {
    forget(tid, false);
  }
  process.image.reset();
  process.owners.clear();
  process.left.clear();
  process.cleaned = true;
  process.off = true;
  return true;
}

void CallRecording::abandon() {
  abandoned_ = true;
  for (const auto& [tgid, process] : processes_) {
    turn_off(*process);
    if (process->image && process->image->has_areas()) {
      __atomic_store_n(&process->image->commons().selector, std::uint8_t{SYSCALL_DISPATCH_FILTER_ALLOW},
                       __ATOMIC_SEQ_CST);
    }
  }
}

}  // namespace tracer::inprocess
