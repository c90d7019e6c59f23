#include "bpf/tracing_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "arch/syscall_abi.h"
#include "bpf/captured_memory.h"
#include "bpf/embedded.h"

namespace tracer {
namespace {

/// How long and with how much behind it an entry waits for its exit, which may know what the entry could not read.
constexpr std::chrono::milliseconds longest_hold(100);
constexpr std::size_t most_held = std::size_t{16} << 20;

/// Between two looks at the ring, while nothing comes; then the kernel shall wake us.
constexpr useconds_t short_nap = 100;
constexpr unsigned naps_before_sleep = 50;

constexpr int records_between_looks = 8192;

std::chrono::nanoseconds clock_now(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

trace_record head_of(std::span<const std::byte> record) {
  trace_record head;
  std::memcpy(&head, record.data(), sizeof head);
  return head;
}

bool is_failure(std::int64_t result) {
  constexpr std::int64_t max_errno = 4095;
  return result < 0 && result >= -max_errno;
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

void TracingEngine::FreeRing::operator()(ring_buffer* ring) const {
  ring_buffer__free(ring);
}

TracingEngine::~TracingEngine() = default;

Status TracingEngine::load(const spec::Tables& tables, const TracingOptions& tracing) {
  auto& settings = programs_.initial<tracing_settings>(".rodata.settings");
  if (const Status chosen = choose_threads(settings.threads); !chosen) {
    return chosen.error();
  }
  programs_.resize("records", tracing.buffer_size);
  programs_.resize("scratches", static_cast<std::uint32_t>(std::max(libbpf_num_possible_cpus(), 1)));
  if (const Status loaded = programs_.load(); !loaded) {
    return loaded.error();
  }
  if (const Status filled = fill_plans(make_capture_plans(tables, tracing.limits)); !filled) {
    return filled.error();
  }
  const auto shared = programs_.live<tracing_shared>(".data.shared");
  if (!shared) {
    return shared.error();
  }
  shared_ = shared.value();
  const auto deliver = [](void* engine, void* record, std::size_t size) {
    auto& self = *static_cast<TracingEngine*>(engine);
    if (size >= sizeof(trace_record)) {
      self.on_record({static_cast<const std::byte*>(record), size});
    }
    return ++self.taken_ % records_between_looks == 0 ? -EAGAIN : 0;
  };
  ring_.reset(ring_buffer__new(programs_.map_fd("records"), deliver, this, nullptr));
  if (!ring_) {
    return Error{errno, std::string("the ring buffer of the BPF programs cannot be mapped: ") + std::strerror(errno)};
  }
  return watch_threads(shared_->threads);
}

Status TracingEngine::fill_plans(const CapturePlans& plans) {
  const auto fill = [this](const char* map, const auto& values) -> Status {
    std::vector<std::uint32_t> keys(values.size());
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      keys[i] = i;
    }
    auto count = static_cast<std::uint32_t>(values.size());
    if (bpf_map_update_batch(programs_.map_fd(map), keys.data(), values.data(), &count, nullptr) != 0) {
      return Error{errno, std::string("the capture plans cannot be given to the kernel: ") + std::strerror(errno)};
    }
    return Done{};
  };
  if (const Status filled = fill("operations", plans.operations); !filled) {
    return filled.error();
  }
  return fill("plans", plans.by_slot);
}

Result<RunEnd> TracingEngine::run(EventHandler& handler) {
  handler_ = &handler;
  realtime_offset_ = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
  if (const Status started = start(); !started) {
    return started.error();
  }
  const SignalWatch signals(options_.interruptible);
  attach_processes();
  if (!options_.launch && tracees_.empty() && !options_.scope.any()) {
    return Error{ESRCH, {}};
  }
  serve(signals, ring_buffer__epoll_fd(ring_.get()), [this] { return take_reports(); });
  programs_.detach();
  release_held(true);
  if (shared_->lost > lost_) {
    handler.lost(shared_->lost - lost_);  // after the last record that found room, or no CPU's own
  }
  if (shared_->lost != 0) {
    complain_(std::to_string(shared_->lost) +
              " events were lost in all, as the buffer was full; --bpf-buffer makes it larger");
  }
  complain_of_losses();
  handler_ = nullptr;
  return end_;
}

bool TracingEngine::consume() {
  const int got = ring_buffer__consume(ring_.get());
  return got > 0 || got == -EAGAIN;
}

bool TracingEngine::take_reports() {
  __atomic_store_n(&shared_->sleeping, 0U, __ATOMIC_RELAXED);
  const bool any = consume();
  release_held(false);
  if (any) {
    idle_rounds_ = 0;
    return true;
  }
  if (idle_rounds_ < naps_before_sleep || !held_.empty()) {
    ++idle_rounds_;
    ::usleep(short_nap);
    return true;
  }
  // What came before the programs see this is taken here; what comes after, wakes us.
  __atomic_store_n(&shared_->sleeping, 1U, __ATOMIC_SEQ_CST);
  return consume();
}

void TracingEngine::on_record(Bytes record) {
  const trace_record head = head_of(record);
  if (held_.empty() && !(head.kind == record_enter && head.incomplete != 0)) {
    deliver(record, {});
    return;
  }
  held_.push_back({{record.begin(), record.end()}, clock_now(CLOCK_MONOTONIC)});
  held_bytes_ += record.size();
}

void TracingEngine::release_held(bool all) {
  while (!held_.empty()) {
    const Held& front = held_.front();
    const trace_record head = head_of(front.bytes);
    Bytes late;
    if (head.kind == record_enter && head.incomplete != 0) {
      // Whatever comes next from the thread ends the wait.
      const auto next = std::find_if(held_.begin() + 1, held_.end(),
                                     [&head](const Held& held) { return head_of(held.bytes).tid == head.tid; });
      const bool overdue = clock_now(CLOCK_MONOTONIC) - front.since > longest_hold || held_bytes_ > most_held;
      if (next == held_.end() && !all && !overdue) {
        return;
      }
      if (next != held_.end()) {
        const trace_record exit = head_of(next->bytes);
        if (exit.kind == record_exit && exit.late >= sizeof exit && exit.late <= next->bytes.size()) {
          late = Bytes(next->bytes).subspan(exit.late);
        }
      }
    }
    deliver(front.bytes, late);
    held_bytes_ -= front.bytes.size();
    held_.pop_front();
  }
}

void TracingEngine::deliver(Bytes record, Bytes late) {
  const trace_record head = head_of(record);
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
  const std::size_t end = head.late >= sizeof head && head.late <= record.size() ? head.late : record.size();
  const Bytes chunks = record.subspan(sizeof head, end - sizeof head);
  Signal signal;
  signal.number = static_cast<int>(head.number);
  if (record.size() >= sizeof(signal_record)) {
    std::memcpy(signal.info.data(), record.data() + offsetof(signal_record, siginfo), siginfo_size);
  }
  switch (head.kind) {
    case record_enter:
      return on_enter(head, event, chunks, late);
    case record_exit:
      return on_exit(head, event, chunks);
    case record_birth:
      return on_birth(event.tid, event.tgid, static_cast<pid_t>(head.value), event.time);
    case record_end:
      return on_end(head, event);
    case record_exec:
      return on_exec(head, event);
    case record_signal:
      return on_signal(head, event, signal);
    case record_signal_generated:
      return on_signal_generated(head, event, signal);
    default:
      break;
  }
}

void TracingEngine::on_enter(const trace_record& head, Event& event, Bytes chunks, Bytes late) {
  ThreadState& thread = threads_[head.tid];
  thread.in_call = true;
  thread.entered = head.time;
  thread.abi = event.abi = head.abi < abi_count ? static_cast<Abi>(head.abi) : native_abi();
  SyscallEnter enter;
  enter.number = head.number;
  std::copy(std::begin(head.args), std::end(head.args), enter.args.begin());
  enter.instruction_pointer = head.instruction_pointer;
  enter.stack_pointer = head.stack_pointer;
  event.what = enter;
  thread.entry.assign(chunks.begin(), chunks.end());
  thread.entry.insert(thread.entry.end(), late.begin(), late.end());
  hand_out(event, CapturedMemory(thread.entry));
}

void TracingEngine::on_exit(const trace_record& head, Event& event, Bytes chunks) {
  ThreadState& thread = threads_[head.tid];
  event.abi = head.abi < abi_count ? static_cast<Abi>(head.abi) : native_abi();
  SyscallExit exit;
  exit.value = head.value;
  exit.is_error = is_failure(head.value);
  exit.instruction_pointer = head.instruction_pointer;
  const std::uint64_t wall = head.time - thread.entered;
  exit.cpu_time = std::chrono::nanoseconds(wall > head.off_time ? wall - head.off_time : 0);
  event.what = exit;
  if (std::exchange(thread.in_call, false)) {
    hand_out(event, CapturedMemory(chunks, thread.entry));
  }
  for (const Signal& signal : std::exchange(thread.ignored, {})) {
    signal_stop(event, signal);
  }
}

void TracingEngine::on_end(const trace_record& head, Event& event) {
  if (threads_[head.tid].in_call) {
    event.what = SyscallLost{};
    hand_out(event, NoMemory());
  }
  threads_.erase(head.tid);
  tracees_.erase(event.tid);
  event.what = Exited{static_cast<int>(head.value)};
  hand_out(event, NoMemory());
}

void TracingEngine::on_exec(const trace_record& head, Event& event) {
  const auto former = static_cast<std::uint32_t>(head.value);
  if (former != head.tid) {
    threads_[head.tid] = std::exchange(threads_[former], {});
    threads_.erase(former);
    tracees_.erase(static_cast<pid_t>(former));
  }
  event.abi = threads_[head.tid].abi;
  tracees_[event.tid] = event.tgid;
  event.what = Exec{static_cast<pid_t>(former)};
  hand_out(event, NoMemory());
}

void TracingEngine::on_signal(const trace_record& head, Event& event, const Signal& signal) {
  if (signal.number != SIGKILL) {
    on_their_way_.erase({head.tgid, signal.number});
    signal_stop(event, signal);
    return;
  }
  // Where another signal is fatal, the kernel lets SIGKILL carry it out at once.
  const int killer = static_cast<int>(head.value & 0x7f);
  const auto generated = on_their_way_.find({head.tgid, killer});
  if (killer != SIGKILL && generated != on_their_way_.end()) {
    const Signal fatal = generated->second;
    on_their_way_.erase(generated);
    signal_stop(event, fatal);
  }
}

void TracingEngine::on_signal_generated(const trace_record& head, Event& event, const Signal& signal) {
  constexpr std::int64_t queued = 0;  // TRACE_SIGNAL_* of the tracepoint
  constexpr std::int64_t ignored = 1;
  if (head.value == queued && signal.number != SIGKILL) {
    on_their_way_[{head.tgid, signal.number}] = signal;
  } else if (head.value == ignored) {
    ThreadState& thread = threads_[head.tid];
    if (!thread.in_call) {
      signal_stop(event, signal);
    } else if (thread.ignored.size() < most_ignored) {
      thread.ignored.push_back(signal);
    }
  }
}

void TracingEngine::signal_stop(Event& event, const Signal& signal) {
  SignalStop stop;
  stop.signal = signal.number;
  int number = 0;
  std::memcpy(&number, signal.info.data(), sizeof number);
  if (number == signal.number) {
    stop.siginfo = signal.info;
  }
  event.what = stop;
  hand_out(event, NoMemory());
}

}  // namespace tracer
