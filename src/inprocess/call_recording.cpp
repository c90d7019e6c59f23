#include "inprocess/call_recording.h"

#include <fmt/core.h>
#include <linux/prctl.h>
#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/breakpoint.h"
#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "base/read_file.h"
#include "inprocess/dispatch.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"
#include "ptrace/stopped_thread.h"

namespace tracer::inprocess {
namespace {

/// A site that is used so often is worth the patch, which costs as much as some stops.
constexpr unsigned stops_before_patch = 3;
// Rarely enough to cost nothing, and often enough that a busy thread does not fill its ring, for which it would stop.
constexpr std::chrono::microseconds most_between_collections{20'000};
constexpr std::chrono::microseconds least_between_collections{500};
constexpr std::uint64_t plenty = ring_size / 4;

bool is_native(const ptrace::CallState& entry) {
  return entry.abi == arch::native_abi();
}

/// Whether the call changes the mappings at the addresses of the recorder. A wish of mmap and shmat that is no order is
/// met elsewhere, and taken for an order here.
bool concerns_us(const ptrace::CallState& entry) {
  const auto overlaps = [](std::uint64_t start, std::uint64_t size) {
    return start < recorder_address + whole_size && size > recorder_address - std::min(start, recorder_address);
  };
  const auto& args = entry.args;
  switch (is_native(entry) ? entry.number : ~std::uint64_t{0}) {
    case SYS_mremap:
      return overlaps(args[0], args[1]) || overlaps(args[4], args[2]);
    case SYS_shmat:
      return overlaps(args[1], whole_size);
    case SYS_munmap:
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_madvise:
    case SYS_shmdt:
    case SYS_remap_file_pages:
      return overlaps(args[0], args[1]);
    default:
      return false;
  }
}

std::uint64_t thread_pointer_of(const ptrace::Stopped& thread, const arch::Registers& registers) {
  const auto read = [&](unsigned type, std::span<std::byte> into) { return thread.register_set(type, into); };
  return arch::thread_pointer(registers, read).value_or(0);
}

constexpr std::string_view other_root = "it may have another root directory, and so see other paths of files";

/// Whether the process sees the paths that the tracer sees, and may see what its descriptors stand for.
bool has_our_root(pid_t process) {
  return read_link(proc::proc_path(process, "root")) == "/";
}

/// Whether the kernel raised the signal because of what the thread has just executed.
bool is_fault(const ptrace::Stopped& thread, int signal) {
  siginfo_t info{};
  return (signal == SIGSEGV || signal == SIGBUS || signal == SIGTRAP) && thread.signal_info(info) && info.si_code > 0;
}

}  // namespace

CallRecording::CallRecording(ImageContents contents, StopsBy stops_by, bool sees_memory, ptrace::RecordedCalls& calls,
                             Say debug)
    : contents_(std::move(contents)),
      stops_by_(stops_by),
      sees_memory_(sees_memory),
      calls_(calls),
      debug_(std::move(debug)) {}

ptrace::Exemption CallRecording::exemption() const {
  return {recorder_address, free_page_size, SYS_mmap, contents_.secret()};
}

void CallRecording::collect() {
  const std::uint64_t recorded = report_all(rings_, clock_, calls_);
  const auto now = clock_now(CLOCK_MONOTONIC);
  if (recorded >= plenty) {
    pause_ = std::max(pause_ / 2, least_between_collections);
  } else if (recorded < plenty / 4 && now >= due_) {  // where it is no stop that has come first
    pause_ = std::min(pause_ * 2, most_between_collections);
  }
  due_ = now + pause_;
}

CallRecording::Process& CallRecording::process_of(const ptrace::Tracee& tracee) {
  auto& process = processes_[tracee.tgid];
  if (process == nullptr) {
    process = std::make_shared<Process>();
  }
  return *process;
}

CallRecording::Thread* CallRecording::find(pid_t tid) {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : found->second.get();
}

void CallRecording::forget(pid_t tid, bool found_no_more) {
  if (Thread* thread = find(tid); thread != nullptr) {
    thread->ring.area().off = 1;
    counts_.take(thread->ring.whole_area());
    if (found_no_more) {
      thread->process->used.reset(thread->area);  // else whoever gets its thread-local data still finds this area
    }
    for (OwnerPlace& owner : thread->process->owners) {
      owner.owner = owner.owner == tid ? 0 : owner.owner;
    }
    std::erase(rings_, &thread->ring);
    threads_.erase(tid);
  }
}

void CallRecording::conclude() {
  for (const auto& [tid, thread] : threads_) {
    counts_.take(thread->ring.whole_area());
  }
  clock_.look();
  if (const auto totals = counts_.totals(clock_); !totals.empty()) {
    calls_.on_counted(totals);
  }
}

bool CallRecording::is_contested(pid_t tid) const {
  return std::any_of(contested_.begin(), contested_.end(),
                     [&](const auto& entry) { return entry.first == tid || entry.second.parent == tid; });
}

bool CallRecording::is_shared(const Process& process) const {
  return std::count_if(processes_.begin(), processes_.end(),
                       [&](const auto& entry) { return entry.second.get() == &process; }) > 1;
}

void CallRecording::withdraw(const ptrace::Tracee& tracee) {
  const Thread* thread = find(tracee.tid());
  if (thread == nullptr) {
    return;
  }
  const auto* stopped = std::get_if<ptrace::Stopped>(&tracee.thread);
  bool found_no_more = false;
  for (const OwnerPlace& owner : thread->process->owners) {
    if (stopped != nullptr && owner.owner == tracee.tid()) {
      found_no_more = write_owner(*stopped, owner.thread_pointer, 0, owner.place);
    }
  }
  forget(tracee.tid(), found_no_more);
}

void CallRecording::inherit(const ptrace::Tracee& parent, const ptrace::Tracee& child, bool shares_memory) {
  const auto found = processes_.find(parent.tgid);
  if (found == processes_.end()) {
    return;
  }
  const std::shared_ptr<Process> process = found->second;
  std::erase(process->forking, parent.tid());
  if (shares_memory) {
    processes_[child.tgid] = process;
    const auto& stopped = ptrace::stopped_thread(parent);
    const auto registers = stopped.registers();
    contested_[child.tid()] = {parent.tid(), registers ? thread_pointer_of(stopped, registers.value()) : 0};
    withdraw(parent);
    if (!child.visible()) {
      process->remembers = false;  // its calls are not seen
      update_generation(*process);
    }
    return;
  }
  auto copy = std::make_shared<Process>();
  if (process->image || process->cleaned) {
    copy->image.emplace();
  }
  copy->off = process->off;
  copy->patcher = process->patcher;
  copy->sites = process->sites;
  copy->call = process->call;
  copy->known_alone = true;
  copy->gave_way = process->gave_way;
  processes_[child.tgid] = std::move(copy);
}

void CallRecording::leave(ptrace::Tracee& tracee) {
  collect();
  end_call(tracee);
  std::erase(changing_root_, tracee.tid());
  withdraw(tracee);
  contested_.erase(tracee.tid());
  if (tracee.tid() == tracee.tgid && !std::holds_alternative<ptrace::Stopped>(tracee.thread)) {
    processes_.erase(tracee.tgid);
  }
}

void CallRecording::on_exec(ptrace::Tracee& tracee, pid_t former) {
  for (const pid_t tid : {tracee.tid(), former}) {
    forget(tid, false);
    contested_.erase(tid);
  }
  processes_.erase(tracee.tgid);
  process_of(tracee).known_alone = true;
  tracee.dispatched = false;  // the kernel has ended that
}

void CallRecording::turn_off(Process& process) {
  process.off = true;
  for (const auto& [tid, thread] : threads_) {
    if (thread->process.get() == &process) {
      thread->ring.area().off = 1;
    }
  }
}

void CallRecording::look_at_roots() {
  for (const auto& [tgid, process] : processes_) {
    if (!process->off && !has_our_root(tgid)) {
      turn_off(*process);
      say_off(tgid, other_root);
    }
  }
}

void CallRecording::say_off(pid_t process, std::string_view because) const {
  if (debug_) {
    debug_(fmt::format("inprocess: the calls of process {} all stop: {}", process, because));
  }
}

void CallRecording::distrust(ptrace::Tracee& tracee) {
  Process& process = process_of(tracee);
  turn_off(process);
  for (const OwnerPlace& owner : process.owners) {
    static_cast<void>(write_owner(ptrace::stopped_thread(tracee), owner.thread_pointer, 0, owner.place));
  }
  if (stops_by_ == StopsBy::dispatch && process.image && process.image->has_areas()) {
    // The others come to a stop where they are, and have each call stop from there on.
    process.next_hold = {};
    static_cast<void>(hold_others(process, tracee));
    __atomic_store_n(&process.image->commons().selector, std::uint8_t{SYSCALL_DISPATCH_FILTER_ALLOW}, __ATOMIC_SEQ_CST);
  }
}

void CallRecording::before_call(ptrace::Tracee& tracee, const ptrace::CallState& state) {
  const auto found = processes_.find(tracee.tgid);
  if (found == processes_.end()) {
    return;
  }
  Process& process = *found->second;
  if (!is_native(state) || contents_.forks(state.number)) {
    process.forking.push_back(tracee.tid());
  }
  if (concerns_us(state) && !process.off) {
    distrust(tracee);  // what is in the place of our memory soon is the program's, and nobody may record there
    process.gave_way = true;
  }
  if (stops_by_ == StopsBy::dispatch && !process.off && changes_dispatch(state, tracee.memory)) {
    distrust(tracee);
    say_off(tracee.tgid, "it needs SIGSYS for itself");
  }
  if (contents_.changes_root(state) && !process.off) {
    turn_off(process);
    say_off(tracee.tgid, other_root);
    changing_root_.push_back(tracee.tid());
  }
  if (!is_native(state) || state.number == SYS_pkey_alloc || state.number == SYS_io_uring_setup) {
    process.remembers = false;
    update_generation(process);
  } else if (contents_.unmaps(state.number, state.args)) {
    process.unmapping.push_back(tracee.tid());
    update_generation(process);
  }
}

void CallRecording::end_call(ptrace::Tracee& tracee) {
  const auto found = processes_.find(tracee.tgid);
  if (found != processes_.end()) {
    std::erase(found->second->forking, tracee.tid());
  }
  if (found != processes_.end() && std::erase(found->second->unmapping, tracee.tid()) != 0) {
    update_generation(*found->second);
  }
}

void CallRecording::update_generation(Process& process) const {
  process.generation = process.generation % (most_generations - 1) + 1;
  if (process.image && process.image->has_areas()) {
    const bool remembers = sees_memory_ && process.remembers && process.unmapping.empty();
    __atomic_store_n(&process.image->commons().generation, remembers ? process.generation : 0, __ATOMIC_RELEASE);
  }
}

void CallRecording::after_call(ptrace::Tracee& tracee, const ptrace::CallState& state) {
  end_call(tracee);
  if (std::erase(changing_root_, tracee.tid()) != 0) {
    look_at_roots();  // others may have it in common (CLONE_FS)
  }
  if (!tracee.visible() || tracee.detaching || !is_native(state) || is_to_be_restarted(state.result) ||
      process_of(tracee).off || tracee.stops_at_all) {
    return;
  }
  consider(tracee, state);
  for (const siginfo_t& info : ptrace::stopped_thread(tracee).take_stop_signals()) {
    calls_.report_signal(tracee, info.si_signo, &info);
  }
  if (ptrace::has_report(tracee.tid())) {
    // Instead of a call of ours it has made a stop that is yet to be waited for, or it was killed.
    tracee.thread = std::get<ptrace::Stopped>(std::move(tracee.thread)).went_on();
  } else {
    dispatch(tracee);
  }
}

void CallRecording::consider(ptrace::Tracee& tracee, const ptrace::CallState& state) {
  Process& process = process_of(tracee);
  const auto registers = ptrace::stopped_thread(tracee).registers();
  const std::uint64_t number = registers ? registers.value().call_number() : ~std::uint64_t{0};
  const std::uint64_t call = state.instruction_pointer - arch::Registers::call_instruction_size;
  if (!contents_.makes(number) || is_in_recorder(call) || is_contested(tracee.tid())) {
    return;
  }
  Site& site = process.sites[call];
  const bool is_new = !site.decided && ++site.stops >= stops_before_patch;
  if (!is_new && site.decided != LeftBecause::none) {
    return;
  }
  if (set_up(process, tracee, call)) {
    if (find(tracee.tid()) == nullptr) {
      enroll(process, tracee);
    }
    if (is_new) {
      patch(process, tracee);
    }
  }
}

bool CallRecording::set_up(Process& process, ptrace::Tracee& tracee, std::uint64_t instruction) {
  if (process.image && process.image->has_areas()) {
    return true;
  }
  if (is_shared(process) || !hold_others(process, tracee)) {
    return false;
  }
  if (stops_by_ == StopsBy::dispatch && !process.known_alone) {
    process.off = has_strangers_memory(tracee.tgid);
    if (process.off) {
      say_off(tracee.tgid, "another process, which is not traced, has the same memory");
      return false;
    }
    process.known_alone = true;
  }
  if (stops_by_ == StopsBy::dispatch && ignores_dispatch(tracee.tgid)) {
    process.off = true;
    say_off(tracee.tgid, "it ignores SIGSYS");
    return false;
  }
  if (contents_.follows_roots() && !has_our_root(tracee.tgid)) {
    process.off = true;
    say_off(tracee.tgid, other_root);
    return false;
  }
  const auto& thread = ptrace::stopped_thread(tracee);
  Status done = Done{};
  if (process.image && !Image::is_in(thread, contents_.symbols())) {
    // Its parent was given the recorder after this child was created, which was reported later.
    process.image.reset();
    process.patcher = {};
    process.sites.clear();
    return false;
  }
  if (process.image) {
    done = process.image->add_areas(thread);
  } else if (auto image = Image::create(contents_, thread, instruction)) {
    process.image = std::move(image).value();
  } else {
    done = image.error();
  }
  tracee.memory.forget();
  process.stack_start = proc::stack_start_of(tracee.tgid);
  process.call = instruction;
  const auto threads = threads_of(process);
  process.remembers = process.remembers && std::all_of(threads.begin(), threads.end(), [&](pid_t tid) {
                        const ptrace::Tracee* other = calls_.find_tracee(tid);
                        return other != nullptr && other->visible();
                      });
  if (process.image && process.image->has_areas()) {
    process.image->commons().selector = SYSCALL_DISPATCH_FILTER_BLOCK;
  }
  update_generation(process);
  if (!done) {
    process.off = true;
    say_off(tracee.tgid, std::strerror(done.error().number));
  }
  return done.ok();
}

void CallRecording::enroll(Process& process, ptrace::Tracee& tracee) {
  const auto& stopped = ptrace::stopped_thread(tracee);
  const auto registers = stopped.registers();
  const std::uint64_t thread_pointer = registers ? thread_pointer_of(stopped, registers.value()) : 0;
  std::size_t index = 0;
  while (index < most_areas && process.used[index]) {
    ++index;
  }
  if (thread_pointer == 0 || index == most_areas) {
    return;
  }
  std::bitset<owners_per_bucket> taken;
  OwnerPlace* former = nullptr;
  for (OwnerPlace& owner : process.owners) {
    if (owner.thread_pointer == thread_pointer) {
      former = &owner;
    }
    taken.set(owner.place,
              taken[owner.place] || (bucket_of(owner.thread_pointer) == bucket_of(thread_pointer) && owner.owner != 0));
  }
  if (former != nullptr && former->owner != 0) {
    // Two threads with the same thread-local data cannot be distinguished.
    if (Thread* other = find(former->owner); other != nullptr) {
      other->ring.area().off = 1;
    }
    return;
  }
  std::size_t place = former != nullptr ? former->place : 0;
  while (former == nullptr && place < owners_per_bucket && taken[place]) {
    ++place;
  }
  if (place == owners_per_bucket) {
    return;
  }
  Area& area = process.image->area(index);
  std::memset(area.head, 0, sizeof area.head);
  area.thread.stack_ends[0] = process.stack_start;
  // A stack that is not the process's first one ends near its thread-local data; below those of a thread on the first
  // one may be anything, such as a stack for signals.
  const std::uint64_t above = registers ? process.stack_start - registers.value().stack_pointer() : 0;
  constexpr std::uint64_t largest_stack = std::uint64_t{1} << 30;
  area.thread.stack_ends[1] = above < largest_stack ? 0 : thread_pointer;
  area.thread.held = stops_by_ == StopsBy::dispatch ? 1 : 0;
  if (!write_owner(stopped, thread_pointer, area_address(index), place)) {
    return;
  }
  tracee.memory.forget();
  std::erase_if(process.owners, [&](const OwnerPlace& owner) {
    return owner.thread_pointer == thread_pointer ||
           (owner.place == place && bucket_of(owner.thread_pointer) == bucket_of(thread_pointer));
  });
  process.owners.push_back({thread_pointer, place, tracee.tid()});
  process.used.set(index);
  auto& thread = threads_[tracee.tid()];
  thread =
      std::make_unique<Thread>(Thread{processes_[tracee.tgid], index, thread_pointer, ThreadRing(tracee.tid(), area)});
  rings_.push_back(&thread->ring);
}

void CallRecording::patch(Process& process, ptrace::Tracee& tracee) {
  if (is_shared(process) || !hold_others(process, tracee)) {
    return;  // others may run through that code meanwhile
  }
  for (auto& [call, site] : process.sites) {
    if (site.decided || site.stops < stops_before_patch || ptrace::has_report(tracee.tid())) {
      continue;
    }
    tracee.memory.forget();
    site.decided = process.patcher.patch(ptrace::stopped_thread(tracee), tracee.memory, call, contents_.symbols());
    tracee.memory.forget();
    if (debug_) {
      debug_(fmt::format("inprocess: call site {:#x} of process {}: {}", call, tracee.tgid, describe(*site.decided)));
    }
  }
}

bool CallRecording::on_stop(ptrace::Tracee& tracee, const ptrace::Stop& stop) {
  if (const auto contest = contested_.find(tracee.tid()); contest != contested_.end()) {
    const auto& stopped = ptrace::stopped_thread(tracee);
    const auto registers = stopped.registers();
    if (registers && thread_pointer_of(stopped, registers.value()) != contest->second.thread_pointer) {
      contested_.erase(contest);
    }
  }
  if (stop.kind != ptrace::StopKind::signal || processes_.count(tracee.tgid) == 0) {
    collect();
    if (tracee.dispatched && process_of(tracee).off &&
        !ptrace::stopped_thread(tracee).is_about_to_stop_for_dispatch()) {
      take_out(tracee, false);
      end_dispatch(tracee);
    }
    return false;
  }
  if (stop.signal == SIGSYS && is_call(tracee)) {
    return true;
  }
  const bool is_nothing = take_out(tracee, is_fault(ptrace::stopped_thread(tracee), stop.signal));
  if (!is_nothing && tracee.dispatched) {
    end_dispatch(tracee);  // as a handler may block SIGSYS, which would then be forced upon the program
  }
  return is_nothing;
}

}  // namespace tracer::inprocess
