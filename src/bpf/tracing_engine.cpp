#include "bpf/tracing_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "arch/syscall_abi.h"
#include "bpf/captured_circumstances.h"
#include "bpf/captured_memory.h"
#include "bpf/circumstances.h"
#include "bpf/embedded.h"

namespace tracer {
namespace {

/// How long and with how much behind it an entry waits for its exit, which may know what the entry could not read.
constexpr std::chrono::milliseconds longest_hold(100);
/// How long a signal waits for what it did to its thread, which is told when the core is written.
constexpr std::chrono::seconds longest_death(5);
constexpr std::size_t most_held = std::size_t{16} << 20;

/// So many looks at the ring find nothing before the kernel shall wake us.
constexpr unsigned naps_before_sleep = 5;

constexpr std::size_t records_between_looks = 8192;

/// What --bpf-buffer gives beyond this is ours, and only taken where it is needed; the kernel's part is always there.
constexpr std::uint32_t most_in_kernel = 64U << 20;

std::chrono::nanoseconds clock_now(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// The front of a record; zeros where it is shorter.
template <typename T = trace_record>
T front_of(std::span<const std::byte> record) {
  T front{};
  if (record.size() >= sizeof front) {
    std::memcpy(&front, record.data(), sizeof front);  // of a length that the compiler knows
  } else {
    std::memcpy(&front, record.data(), record.size());
  }
  return front;
}

/// What an exit's record says for its entry, which could not read it; nothing if that is not so.
std::span<const std::byte> late_chunks(std::span<const std::byte> exit) {
  const std::uint64_t late = front_of<exit_record>(exit).late;
  return late >= sizeof(exit_record) && late <= exit.size() ? exit.subspan(late) : std::span<const std::byte>{};
}

std::string text_of(const __u64 (&comm)[comm_size / sizeof(__u64)]) {
  const auto* text = reinterpret_cast<const char*>(comm);
  return {text, ::strnlen(text, comm_size)};
}

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

end_filter kernel_filter(const EndFilter& filter) {
  end_filter result{};
  result.any = filter.any() ? 1 : 0;
  result.drops_successful = filter.successful ? 0 : 1;
  result.drops_failed = filter.failed ? 0 : 1;
  result.by_errno = filter.errnos.empty() ? 0 : 1;
  for (const int number : filter.errnos) {
    if (number >= 0 && number <= largest_errno) {
      result.errnos[number / 64] |= std::uint64_t{1} << (number % 64);
    }
  }
  result.min_duration = static_cast<std::uint64_t>(std::max<std::int64_t>(filter.min_duration.count(), 0));
  return result;
}

}  // namespace

Result<std::unique_ptr<Engine>> make_tracing_engine(EngineOptions options, const spec::Tables& tables,
                                                    const TracingOptions& tracing,
                                                    std::function<void(const std::string&)> complain) {
  auto programs = KernelPrograms::open(tracing_object(), "tracing");
  if (!programs) {
    return programs.error();
  }
  auto engine = std::make_unique<TracingEngine>(std::move(options), std::move(complain), std::move(programs).value());
  if (const Status loaded = engine->load(tables, tracing); !loaded) {
    return loaded.error();
  }
  return std::unique_ptr<Engine>(std::move(engine));
}

TracingEngine::~TracingEngine() = default;

Status TracingEngine::load(const spec::Tables& tables, const TracingOptions& tracing) {
  auto& settings = programs_.initial<tracing_settings>(".rodata.settings");
  constexpr std::uint32_t stack_bytes = 8192;
  stacks_ = tracing.stacks;
  settings.stack_bytes = stacks_ ? stack_bytes : 0;
  if (const Status chosen = choose_threads(settings.threads); !chosen) {
    return chosen.error();
  }
  settings.filter = kernel_filter(tracing.filter);
  circumstances_ = tracing.circumstances.has_value();
  settings.circumstances = circumstances_ ? 1 : 0;
  if (!circumstances_) {
    programs_.leave_out("on_group_exit");
  } else {
    programs_.leave_out_unless_possible("on_group_exit");
  }
  // Each switch between threads of the machine, and each of its signals, costs what the programs do there.
  if (!tracing.group_stops) {
    programs_.leave_out("on_switch");
  }
  if (!tracing.signals && !circumstances_) {
    programs_.leave_out("on_signal");
    programs_.leave_out("on_signal_generated");
  }
  const std::uint32_t in_kernel = std::min(tracing.buffer_size, most_in_kernel);
  backlog_ = Backlog(tracing.buffer_size - in_kernel);
  make_room(in_kernel);
  CapturePlans plans = make_capture_plans(tables, machine_abis(), tracing.limits);
  if (tracing.circumstances) {
    const auto tell = [&wanted = *tracing.circumstances](capture_plan& plan, std::size_t slot) {
      plan.circumstances = wanted[slot / numbers_per_abi][slot % numbers_per_abi];
    };
    for (std::size_t slot = 0; slot < plans.by_slot.size(); ++slot) {
      tell(plans.by_slot[slot], slot);
    }
    for (form_plan& form : plans.forms) {
      tell(form.plan, form.slot == 0 ? 0 : form.slot - 1);
    }
  }
  settings.descriptors = tracing.limits.descriptors ? 1 : 0;
  settings.details = tracing.limits.details ? 1 : 0;
  settings.processes = tracing.limits.processes ? 1 : 0;
  settings.commands = tracing.commands ? 1 : 0;
  if (!tracing.commands) {
    programs_.leave_out("on_rename");
  }
  if (!tracing.limits.descriptors) {
    programs_.leave_out("find_root");
  }
  settings.form_mask = static_cast<std::uint32_t>(plans.forms.size() - 1);
  programs_.resize("forms", static_cast<std::uint32_t>(plans.forms.size()));
  if (const Status loaded = programs_.load(); !loaded) {
    return loaded.error();
  }
  if (const Status filled = fill_plans(plans); !filled) {
    return filled.error();
  }
  const auto shared = programs_.live<tracing_shared>(".data.shared");
  if (!shared) {
    return shared.error();
  }
  shared_ = shared.value();
  if (const Status opened = open_records(); !opened) {
    return opened.error();
  }
  const auto before = clock_now(CLOCK_MONOTONIC);
  if (const Status watched = watch_threads(shared_->threads); !watched) {
    return watched.error();
  }
  const auto after = clock_now(CLOCK_MONOTONIC);
  // The programs know nothing of time namespaces (time_namespaces(7)).
  const std::chrono::nanoseconds theirs(shared_->threads.clock);
  const auto offset = theirs < before || theirs > after ? theirs - after : std::chrono::nanoseconds(0);
  records_->set_clock_offset(offset);
  realtime_offset_ = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC) - offset;
  programs_.attach_if_possible("on_group_exit");
  return tracing.limits.descriptors ? programs_.iterate("find_root") : Done{};
}

std::size_t TracingEngine::CapturedStack::registers(std::span<std::byte> into) const {
  // What is missing at the end are segments.
  return CapturedMemory(entry_).read(RemoteAddr(registers_address), into) == 0 ? 0 : into.size();
}

void TracingEngine::make_room(std::uint32_t size) {
  const auto cpus = static_cast<std::uint32_t>(std::max(libbpf_num_possible_cpus(), 1));
  // Half of it: a CPU that is busier than the others goes on in the ring buffer when its own blocks are full.
  std::uint32_t each = 1;
  while (each * 2 * cpus * sizeof(record_block) <= size / 2) {
    each *= 2;
  }
  each = each == 1 ? 0 : each;
  programs_.initial<tracing_settings>(".rodata.settings").blocks = each;
  programs_.resize("blocks", (each + 1) * cpus);
  programs_.resize("records", each == 0 ? size : size / 2);
  programs_.resize("scratches", cpus);
}

Status TracingEngine::open_records() {
  auto ring = RecordRing::open(programs_.map_fd("records"), programs_.map_entries("records"));
  if (!ring) {
    return ring.error();
  }
  const auto blocks = programs_.live_elements<record_block>("blocks");
  if (!blocks) {
    return blocks.error();
  }
  const auto each = programs_.initial<tracing_settings>(".rodata.settings").blocks;
  records_.emplace(std::move(ring).value(), blocks.value(), each);
  return Done{};
}

Status TracingEngine::fill_plans(const CapturePlans& plans) {
  if (const Status filled = programs_.fill("operations", std::as_bytes(std::span(plans.operations))); !filled) {
    return filled.error();
  }
  if (const Status filled = programs_.fill("forms", std::as_bytes(std::span(plans.forms))); !filled) {
    return filled.error();
  }
  return programs_.fill("plans", std::as_bytes(std::span(plans.by_slot)));
}

int TracingEngine::reports() const {
  return programs_.map_fd("records");
}

int TracingEngine::nap_milliseconds() const {
  // A wake-up costs as much as a dozen calls. At a million calls a second the usual buffer is full in 0.2 s.
  constexpr std::size_t bytes_each = std::size_t{6} << 20;
  constexpr std::size_t shortest = 1;
  return static_cast<int>(std::max(records_->size() / bytes_each, shortest));
}

void TracingEngine::conclude() {
  release_held(true);
  if (shared_->lost > lost_) {
    handler_->lost(shared_->lost - lost_);  // after the last record that found room, or no CPU's own
  }
  if (const std::uint64_t unnamed = shared_->unnamed; unnamed != 0) {
    complain_(
        fmt::format("{} paths of descriptors are not shown: they were too long, or changed all the time", unnamed));
  }
  if (shared_->lost != 0) {
    complain_(
        fmt::format("{} events were lost in all, as the buffer was full; --bpf-buffer makes it larger", shared_->lost));
  }
}

bool TracingEngine::take_some() {
  const auto record = [this](Bytes bytes) { on_record(bytes); };
  // The kernel's room is what runs out: it is emptied first where much waits.
  if (records_->waiting() > records_->size() / 4 && !backlog_.full()) {
    while (!backlog_.full() &&
           records_->consume(records_between_looks, [this](Bytes bytes) { backlog_.add(bytes); }) != 0) {
    }
  }
  return (backlog_.empty() ? records_->consume(records_between_looks, record)
                           : backlog_.consume(records_between_looks, record)) != 0;
}

KernelEngine::Next TracingEngine::take_reports() {
  __atomic_store_n(&shared_->sleeping, 0U, __ATOMIC_RELAXED);
  const bool any = take_some();
  release_held(false);
  if (any) {
    idle_rounds_ = 0;
    return records_->waiting() > records_->size() / 64 || !backlog_.empty() ? Next::now : Next::soon;
  }
  if (idle_rounds_ < naps_before_sleep || !held_.empty()) {
    ++idle_rounds_;
    return Next::soon;
  }
  // What came before the programs see this is taken here; what comes after, wakes us.
  __atomic_store_n(&shared_->sleeping, 1U, __ATOMIC_SEQ_CST);
  return take_some() ? Next::now : Next::when_told;
}

void TracingEngine::take_rest(const std::function<bool()>& go_on) {
  while (go_on() && take_some()) {
    release_held(false);
  }
  release_held(true);
}

void TracingEngine::on_record(Bytes record) {
  if (held_.empty() && front_of(record).incomplete == 0) {
    deliver(record, {});
    return;
  }
  held_.push_back({{record.begin(), record.end()}, clock_now(CLOCK_MONOTONIC)});
  held_bytes_ += record.size();
  // Mostly the exit of the call at the front, at once: nothing behind it has to wait, and be copied, any longer.
  if (front_of(held_.front().bytes).tid == front_of(record).tid) {
    release_held(false);
  }
}

void TracingEngine::release_held(bool all) {
  while (!held_.empty()) {
    const Held& front = held_.front();
    const auto head = front_of(front.bytes);
    Bytes late;
    if (head.incomplete != 0) {
      // Whatever comes next from the thread ends the wait, but for the name that the call gives it.
      const auto next = std::find_if(held_.begin() + 1, held_.end(), [&head](const Held& held) {
        const auto other = front_of(held.bytes);
        return other.tid == head.tid && other.kind != record_name;
      });
      const std::chrono::nanoseconds longest = head.kind == record_enter ? longest_hold : longest_death;
      const bool overdue = clock_now(CLOCK_MONOTONIC) - front.since > longest || held_bytes_ > most_held;
      if (next == held_.end() && !all && !overdue) {
        return;
      }
      if (next != held_.end()) {
        const std::uint8_t kind = front_of(next->bytes).kind;
        if (head.kind == record_enter && kind == record_exit) {
          late = late_chunks(next->bytes);
        } else if (head.kind == record_signal && kind == record_crash) {
          late = next->bytes;
        }
      }
    }
    deliver(front.bytes, late);
    held_bytes_ -= front.bytes.size();
    held_.pop_front();
  }
}

void TracingEngine::deliver(Bytes record, Bytes late) {
  const auto head = front_of(record);
  if (head.lost != 0) {
    lost_ += head.lost;
    handler_->lost(head.lost);
  }
  Event event;
  event.tid = static_cast<pid_t>(head.tid);
  event.tgid = static_cast<pid_t>(head.tgid);
  event.abi = native_abi();
  event.time.monotonic = std::chrono::nanoseconds(head.time);
  event.time.realtime = event.time.monotonic + realtime_offset_;
  event.circumstances = &unknown_;
  switch (head.kind) {
    case record_enter:
      return on_enter(event, record, late);
    case record_exit:
      return on_exit(event, record);
    case record_birth:
      return on_birth(event.tid, event.tgid, static_cast<pid_t>(front_of<life_record>(record).value), event.time);
    case record_name:
      commands_[event.tid] = text_of(front_of<name_record>(record).comm);
      return;
    case record_end:
      return on_end(event, front_of<life_record>(record).value);
    case record_exec:
      return on_exec(event, static_cast<pid_t>(front_of<life_record>(record).value));
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
      event.what = GroupStop{static_cast<int>(head.number)};
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

void TracingEngine::on_enter(Event& event, Bytes record, Bytes late) {
  const auto front = front_of<enter_record>(record);
  const std::size_t arguments = std::min<std::size_t>(front.head.arguments, most_arguments);
  const Bytes chunks = record.subspan(std::min(offsetof(enter_record, args) + arguments * sizeof front.args[0],  //
                                               record.size()));
  ThreadState& state = thread(event.tid);
  state.in_call = true;
  state.entered = front.head.time;
  state.first_argument = arguments == 0 ? 0 : front.args[0];
  state.abi = event.abi = front.head.abi < abi_count ? static_cast<Abi>(front.head.abi) : native_abi();
  auto& enter = event.what.emplace<SyscallEnter>();
  enter.number = front.head.number;
  std::copy_n(front.args, arguments, enter.args.begin());
  enter.instruction_pointer = front.instruction_pointer;
  enter.stack_pointer = front.stack_pointer;
  state.entry.assign(chunks.begin(), chunks.end());
  state.entry.insert(state.entry.end(), late.begin(), late.end());
  const CapturedStack stack(state.entry);
  event.stack = stacks_ ? &stack : nullptr;
  hand_out(event, CapturedMemory(state.entry, {}, &commands_));
}

void TracingEngine::on_exit(Event& event, Bytes record) {
  const auto front = front_of<exit_record>(record);
  const Bytes all = record.subspan(std::min(sizeof front, record.size()));
  const Bytes chunks = all.first(all.size() - late_chunks(record).size());
  ThreadState& state = thread(event.tid);
  event.abi = front.head.abi < abi_count ? static_cast<Abi>(front.head.abi) : native_abi();
  auto& exit = event.what.emplace<SyscallExit>();
  exit.value = front.result;
  exit.is_error = is_failure(front.result);
  exit.instruction_pointer = front.instruction_pointer;
  const std::uint64_t wall = front.head.time - state.entered;
  exit.cpu_time = std::chrono::nanoseconds(wall > front.off_time ? wall - front.off_time : 0);
  const std::int64_t exit_value = exit.value;
  const CapturedStack stack(state.entry);
  event.stack = stacks_ ? &stack : nullptr;
  if (std::exchange(state.in_call, false)) {
    const CapturedMemory memory(chunks, state.entry, &commands_);
    if (circumstances_) {
      const Circumstances then = circumstances_of(all, state.first_argument);
      event.circumstances = &then;
      hand_out(event, memory);
      event.circumstances = &unknown_;
    } else {
      hand_out(event, memory);
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

void TracingEngine::on_end(Event& event, std::int64_t status) {
  if (thread(event.tid).in_call) {
    event.what = SyscallLost{};
    hand_out(event, nothing_);
  }
  forget(event.tid);
  commands_.erase(event.tid);
  tracees_.erase(event.tid);
  event.what = Exited{static_cast<int>(status)};
  hand_out(event, nothing_);
}

void TracingEngine::on_exec(Event& event, pid_t former) {
  if (former != event.tid) {
    ThreadState caller = std::move(thread(former));
    thread(event.tid) = std::move(caller);
    forget(former);
    commands_.erase(former);
    tracees_.erase(former);
  }
  event.abi = thread(event.tid).abi;
  tracees_[event.tid] = event.tgid;
  event.what = Exec{former};
  hand_out(event, nothing_);
}

void TracingEngine::on_signal(Event& event, const Signal& signal) {
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

void TracingEngine::on_signal_generated(Event& event, const Signal& signal) {
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

void TracingEngine::on_crash(Event& event, const Signal& signal, Bytes record) {
  on_their_way_.erase({event.tgid, signal.number});
  const CapturedCrash crash = crash_of(record);
  const CapturedStack stack(crash.memory, crash.circumstances.mappings);
  event.stack = &stack;
  event.circumstances = &crash.circumstances;
  signal_stop(event, signal, crash.instruction_pointer, crash.memory);
}

void TracingEngine::signal_stop(Event& event, const Signal& signal, std::uint64_t instruction_pointer, Bytes memory) {
  SignalStop stop;
  stop.instruction_pointer = instruction_pointer;
  stop.signal = signal.number;
  int number = 0;
  std::memcpy(&number, signal.info.data(), sizeof number);
  if (number == signal.number) {
    stop.siginfo = signal.info;
  }
  event.what = stop;
  hand_out(event, CapturedMemory(memory, signal.names, &commands_));
}

}  // namespace tracer
