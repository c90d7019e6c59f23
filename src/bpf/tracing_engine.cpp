#include "bpf/tracing_engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "bpf/embedded.h"
#include "bpf/program_texts.h"
#include "bpf/record_front.h"

namespace tracer::bpf {
namespace {

/// How long and with how much behind it an entry waits for its exit, which may know what the entry could not read.
constexpr std::chrono::milliseconds longest_hold(100);
/// How long a signal waits for what it did to its thread, which is reported when the core is written.
constexpr std::chrono::seconds longest_death(5);
constexpr std::size_t most_held = std::size_t{16} << 20;

/// So many looks at the ring find nothing before the kernel shall wake us.
constexpr unsigned naps_before_sleep = 5;

constexpr std::size_t records_between_looks = 8192;

/// What --bpf-buffer gives beyond this is ours, and only taken where it is needed; the kernel's part is always there.
constexpr std::uint32_t most_in_kernel = 64U << 20;

end_filter kernel_filter(const filter::EndFilter& filter) {
  end_filter result{};
  result.drops_successful = filter.status.has(filter::CallStatus::successful) ? 0 : 1;
  result.drops_failed = filter.status.has(filter::CallStatus::failed) ? 0 : 1;
  result.by_errno = filter.errnos.empty() ? 0 : 1;
  for (const int number : filter.errnos) {
    if (number >= 0 && number <= largest_errno) {
      result.errnos[number / 64] |= std::uint64_t{1} << (number % 64);
    }
  }
  if (filter.min_duration) {
    result.min_duration = static_cast<std::uint64_t>(std::max<std::int64_t>(filter.min_duration->count(), 0));
  }
  const bool drops = result.drops_successful != 0 || result.drops_failed != 0;
  result.any = drops || result.by_errno != 0 || result.min_duration != 0 ? 1 : 0;
  return result;
}

}  // namespace

Result<std::unique_ptr<trace::Engine>> make_tracing_engine(process::EngineOptions options, const spec::Tables& tables,
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
  return std::unique_ptr<trace::Engine>(std::move(engine));
}

TracingEngine::~TracingEngine() = default;

Status TracingEngine::load(const spec::Tables& tables, const TracingOptions& tracing) {
  auto& settings = programs_.initial<tracing_settings>(".rodata.settings");
  if (const Status chosen = choose_threads(settings.threads); !chosen) {
    return chosen.error();
  }
  configure(settings, tracing);
  leave_out_unneeded(tracing);
  const std::uint32_t in_kernel = std::min(tracing.buffer_size, most_in_kernel);
  backlog_ = Backlog(tracing.buffer_size - in_kernel);
  make_room(in_kernel);
  const capture::CapturePlans plans = capture::make_capture_plans(tables, arch::machine_abis(), tracing.limits);
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
  if (const Status watched = watch(); !watched) {
    return watched.error();
  }
  programs_.attach_if_possible("on_group_exit");
  return tracing.limits.descriptors ? programs_.iterate("find_root") : Done{};
}

void TracingEngine::configure(tracing_settings& settings, const TracingOptions& tracing) {
  constexpr std::uint32_t stack_bytes = 8192;
  stacks_ = tracing.stacks;
  task_states_ = tracing.task_states.has_value();
  settings.stack_bytes = stacks_ ? stack_bytes : 0;
  settings.filter = kernel_filter(tracing.filter);
  settings.task_states = task_states_ ? 1 : 0;
  if (tracing.task_states) {
    settings.turning_points = call_set_of(*tracing.task_states);
  }
  settings.descriptors = tracing.limits.descriptors ? 1 : 0;
  settings.details = tracing.limits.details ? 1 : 0;
  settings.processes = tracing.limits.processes ? 1 : 0;
  settings.commands = tracing.commands ? 1 : 0;
}

void TracingEngine::leave_out_unneeded(const TracingOptions& tracing) {
  if (!tracing.task_states) {
    programs_.leave_out("on_group_exit");
  } else {
    programs_.leave_out_unless_possible("on_group_exit");
  }
  // Each switch between threads of the machine, and each of its signals, costs what the programs do there.
  if (!tracing.group_stops) {
    programs_.leave_out("on_switch");
  }
  if (!tracing.signals && !tracing.task_states) {
    programs_.leave_out("on_signal");
    programs_.leave_out("on_signal_generated");
  }
  if (!tracing.commands) {
    programs_.leave_out("on_rename");
  }
  if (!tracing.limits.descriptors) {
    programs_.leave_out("find_root");
  }
}

Status TracingEngine::watch() {
  if (const Status watched = watch_threads(shared_->threads); !watched) {
    return watched.error();
  }
  records_->set_clock_offset(clock_offset_);
  realtime_offset_ = clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC);
  return Done{};
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

Status TracingEngine::fill_plans(const capture::CapturePlans& plans) {
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
  return take_some() ? Next::now : Next::when_woken;
}

void TracingEngine::take_rest(const std::function<bool()>& go_on) {
  records_->complete();
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
    std::vector<std::byte> texts;
    if (head.incomplete != 0) {
      // Whatever comes next from the thread ends the wait, but for the name that the call gives it.
      const auto next = std::find_if(held_.begin() + 1, held_.end(), [&head](const Held& held) {
        const auto other = front_of(held.bytes);
        if (other.kind == record_exec && front_of<lifecycle_record>(held.bytes).value == head.tid) {
          return true;  // which may have given it another id
        }
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
        } else if (head.kind == record_enter && kind == record_exec) {
          texts = texts_of_program(front.bytes, next->bytes);
          late = texts;
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

}  // namespace tracer::bpf
