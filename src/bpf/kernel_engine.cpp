#include "bpf/kernel_engine.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "arch/syscall_abi.h"
#include "base/clock.h"
#include "bpf/kernel_clock.h"
#include "bpf/kernel_version.h"
#include "proc/proc_files.h"
#include "process/attach_failure.h"
#include "process/standard_streams.h"

namespace tracer::bpf {
namespace {

static_assert(watched_abis == abi_count);
static_assert(numbers_per_abi == trace::max_filtered_number);

/// Losses aside, the end of the last thread wakes us.
constexpr int longest_sleep_milliseconds = 200;

/// Linux 7.0 (commit a46023d5616e): see watched_events.bpf.h.
constexpr std::pair<unsigned long, unsigned long> tracepoints_let_others_run_since{7, 0};

constexpr std::initializer_list<const char*> until_7_0 = {"on_enter", "on_exit"};
constexpr std::initializer_list<const char*> since_7_0 = {"on_perf_enter", "on_perf_exit", "on_fork_again",
                                                          "on_exec_again", "on_thread_exit_again"};

Status choose_scope(thread_settings& settings, const process::Scope& scope) {
  if (scope.comms.size() > most_comms || scope.groups.size() > most_cgroups) {
    return Error{E2BIG, fmt::format("there can be {} of --comm, and {} of --cgroup, --unit and --container at most",
                                    int{most_comms}, int{most_cgroups})};
  }
  settings.system_wide = scope.system_wide ? 1 : 0;
  settings.cgroups = static_cast<std::uint32_t>(scope.groups.size());
  settings.comms = static_cast<std::uint32_t>(scope.comms.size());
  for (std::size_t i = 0; i < scope.comms.size(); ++i) {
    std::memcpy(settings.comm[i], scope.comms[i].data(), std::min<std::size_t>(scope.comms[i].size(), comm_size - 1));
  }
  return Done{};
}

trace::EventTime time_now() {
  return {clock_now(CLOCK_REALTIME), std::chrono::steady_clock::now().time_since_epoch()};
}

}  // namespace

call_set call_set_of(const trace::WantedCalls& calls) {
  call_set result{};
  for (std::size_t abi = 0; abi < abi_count; ++abi) {
    for (std::size_t number = 0; number < numbers_per_abi; ++number) {
      const std::size_t slot = abi * numbers_per_abi + number;
      result.bits[slot / 64] |= std::uint64_t{calls[abi].test(number)} << (slot % 64);
    }
  }
  return result;
}

KernelEngine::KernelEngine(process::EngineOptions options, std::function<void(const std::string&)> complain,
                           KernelPrograms programs)
    : options_(std::move(options)),
      complain_(std::move(complain)),
      programs_(std::move(programs)),
      groups_(options_.scope.groups,
              [this](std::size_t slot, const UniqueFd& group) { return fill_cgroup(slot, group); }) {}

KernelEngine::~KernelEngine() = default;

Status KernelEngine::choose_threads(thread_settings& settings) {
  if (options_.wanted) {
    settings.wanted = call_set_of(*options_.wanted);
  } else {
    std::memset(&settings.wanted, 0xff, sizeof settings.wanted);
  }
  settings.times = options_.times ? 1 : 0;
  settings.cpu_time = options_.times && options_.cpu_time ? 1 : 0;
  const bool lets_others_run = kernel_version() >= tracepoints_let_others_run_since;
  settings.preemptible = lets_others_run ? 1 : 0;
  for (const char* unneeded : lets_others_run ? until_7_0 : since_7_0) {
    programs_.leave_out(unneeded);
  }
  if (!options_.follow_forks) {
    programs_.leave_out("on_fork");
    programs_.leave_out("on_fork_again");
  }
  return choose_scope(settings, options_.scope);
}

Status KernelEngine::watch_threads(thread_shared& shared) {
  shared_ = &shared;
  if (const Status filled = groups_.start(); !filled) {
    return filled.error();
  }
  // Nobody is 0; but this shows the programs who the tracer is.
  const auto before = clock_now(CLOCK_MONOTONIC);
  if (const auto nobody = adopt(0, false, false); !nobody) {
    return nobody.error();
  }
  clock_offset_ = kernel_clock_offset(before, shared.clock, clock_now(CLOCK_MONOTONIC));
  return programs_.attach();
}

Status KernelEngine::fill_cgroup(std::size_t slot, const UniqueFd& group) const {
  const auto key = static_cast<std::uint32_t>(slot);
  const int fd = group.get();
  if (bpf_map_update_elem(programs_.map_fd("cgroups"), &key, &fd, BPF_ANY) != 0) {
    return Error{errno, std::strerror(errno)};
  }
  return Done{};
}

Result<unsigned> KernelEngine::adopt(pid_t id, bool with_threads, bool launching) {
  shared_->adopt = static_cast<std::uint32_t>(id);
  shared_->adopt_threads = with_threads ? 1 : 0;
  shared_->adopt_launching = launching ? 1 : 0;
  const std::uint64_t lost_before = shared_->lost;
  unsigned all = 0;
  // Threads start while we look. A pass that finds nothing new ends it: by then every thread's creator is watched, and
  // what it creates is watched with it.
  do {
    shared_->adopted = 0;
    if (const Status looked = programs_.iterate("adopt"); !looked) {
      return looked.error();
    }
    all += shared_->adopted;
  } while (with_threads && shared_->adopted != 0);
  if (all == 0 && shared_->lost != lost_before) {
    return Error{ENOMEM, "the kernel has no memory for what its programs note of threads; --engine=ptrace needs none"};
  }
  return all;
}

Status KernelEngine::start() {
  if (!options_.launch) {
    return Done{};
  }
  shared_->launching = 1;
  auto started = start_program(*options_.launch, options_.strict, {});
  if (!started) {
    return started.error();
  }
  program_ = std::move(started).value();
  if (const Status waits = process::await_at_gate(*program_); !waits) {
    return waits.error();
  }
  const auto adopted = adopt(program_->pid, false, true);
  shared_->launching = 0;
  if (!adopted) {
    return adopted.error();
  }
  tracees_[program_->pid] = program_->pid;
  return Done{};
}

void KernelEngine::attach_processes() {
  for (const pid_t pid : options_.attach) {
    attach_process(pid);
  }
}

void KernelEngine::attach_process(pid_t pid) {
  // What ptrace(2) says of those that make no calls: kernel threads, and processes that have ended.
  if (!proc::is_alive(pid) || proc::status_field(pid, "VmSize").empty()) {
    complain_(process::attach_failure(pid, ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0 ? EPERM : ESRCH,
                                      options_));
    return;
  }
  const pid_t tgid = proc::process_of(pid);
  const auto found = adopt(options_.follow_forks ? tgid : pid, options_.follow_forks, false);
  if (!found) {
    complain_(fmt::format("attach: process {}: {}", pid, found.error().message));
    return;
  }
  if (found.value() == 0 && tracees_.count(pid) == 0) {
    complain_(process::attach_failure(pid, ESRCH, options_));
    return;
  }
  tracees_[pid] = tgid;
  const std::string command = proc::command_of(pid);
  trace::Attached attached;
  attached.command = command;
  attached.by_request = true;
  attached.threads = found.value();
  hand_out(pid, tgid, attached);
}

Result<trace::RunEnd> KernelEngine::run(trace::EventHandler& handler) {
  handler_ = &handler;
  if (const Status started = start(); !started) {
    return started.error();
  }
  // The program has been started with the signal mask that it shall have; from here on signals wait for us.
  process::SignalWatch signals(options_.interruptible);
  attach_processes();
  if (!options_.launch && tracees_.empty() && !options_.scope.any()) {
    return Error{ESRCH, {}};
  }
  serve(signals);
  programs_.detach();
  conclude();
  complain_of_losses();
  handler_ = nullptr;
  return end_;
}

void KernelEngine::serve(process::SignalWatch& signals) {
  if (program_) {
    program_runs_ = true;
    if (options_.launch->takes_streams) {
      process::leave_standard_streams_to_program();
    }
    end_.exec_error = process::open_gate_and_await_exec(program_->gate.outer);
  }
  for (const std::string& sentence : groups_.missing()) {
    complain_(sentence);
  }
  pollfd sources[] = {{signals.fd(), POLLIN, 0}, {reports(), POLLIN, 0}, {groups_.descriptor(), POLLIN, 0}};
  for (;;) {
    groups_.refresh();
    const Next next = take_reports();
    reap_program();
    ring_alarm();
    for (int signal = 0; (signal = signals.next()) != 0;) {
      if (signal != SIGCHLD) {
        end_.interrupted_by_signal = true;
        end_.interrupting_signal = signal;
        signals.engine_ends(signal);
        // What has happened until now is reported, unless the signal comes again.
        programs_.detach();
        take_rest([this, &signals] {
          const int again = signals.next();
          return !detaching_ && (again == 0 || again == SIGCHLD);
        });
        detaching_ = true;
        if (options_.signal_program && program_runs_) {
          process::send_ending_signal(program_->pid, signal);
        }
      }
    }
    if (detaching_) {
      let_go();
      return;
    }
    // The last one to exit may not have reported it if the ring was full, but it has been watched to its end.
    const bool endless = options_.scope.any() && !program_;
    if (!endless && !program_runs_ && __atomic_load_n(&shared_->live, __ATOMIC_RELAXED) == 0) {
      take_rest([this] { return !detaching_; });
      return;
    }
    if (next == Next::soon) {
      ::poll(sources, 1, nap_milliseconds());
    } else if (next == Next::when_woken) {
      handler_->idle();
      const bool quiet = ::poll(sources, std::size(sources), sleep_milliseconds()) == 0;
      if (quiet && !endless && !program_runs_ && !anyone_left()) {
        take_rest([this] { return !detaching_; });
        return;
      }
    }
  }
}

bool KernelEngine::anyone_left() const {
  return std::any_of(tracees_.begin(), tracees_.end(), [this](const auto& tracee) {
    const auto [tid, tgid] = tracee;
    if (!options_.follow_forks) {
      return proc::is_alive(tid);
    }
    const std::vector<pid_t> threads = proc::threads_of(tgid);
    return std::any_of(threads.begin(), threads.end(), proc::is_alive);
  });
}

void KernelEngine::ring_alarm() {
  const auto alarm = handler_->alarm_at();
  if (alarm && *alarm <= time_now().monotonic && handler_->on_alarm() != trace::Verdict::go_on) {
    detaching_ = true;
  }
}

int KernelEngine::sleep_milliseconds() const {
  const auto alarm = handler_->alarm_at();
  if (!alarm) {
    return longest_sleep_milliseconds;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*alarm - time_now().monotonic).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, longest_sleep_milliseconds));
}

void KernelEngine::on_fork(pid_t tid, pid_t tgid, pid_t parent, std::optional<trace::EventTime> time) {
  tracees_[tid] = tgid;
  trace::Event event;
  event.abi = arch::native_abi();
  event.time = time ? *time : time_now();
  const trace::Memory& memory = no_memory();
  if (const auto creator = tracees_.find(parent); creator != tracees_.end()) {
    event.tid = creator->first;
    event.tgid = creator->second;
    event.what = trace::Fork{tid, tid != tgid};
    hand_out(event, memory);
  }
  event.tid = tid;
  event.tgid = tgid;
  event.what = trace::Attached{};
  hand_out(event, memory);
}

void KernelEngine::reap_program() {
  if (!program_runs_) {
    return;
  }
  if (const std::optional<int> status = process::collect_program(*program_)) {
    end_.program_status = status;
    program_runs_ = false;
  }
}

void KernelEngine::let_go() {
  for (const auto& [tid, tgid] : tracees_) {
    hand_out(tid, tgid, trace::Detached{});
  }
}

void KernelEngine::hand_out(const trace::Event& event, const trace::Memory& memory) {
  if (handler_->handle(event, memory) != trace::Verdict::go_on) {
    detaching_ = reporting_ended_ = true;
  }
}

void KernelEngine::hand_out(pid_t tid, pid_t tgid, decltype(trace::Event::what) what) {
  trace::Event event;
  event.tid = tid;
  event.tgid = tgid;
  event.abi = arch::native_abi();
  event.time = time_now();
  event.what = what;
  hand_out(event, no_memory());
}

void KernelEngine::complain_of_losses() {
  if (const std::uint64_t missed = programs_.missed_runs(); missed != 0) {
    complain_(fmt::format("about {} calls are missing: the kernel was inside a program of ours already when they came",
                          missed));
  }
  if (const std::uint64_t lost = shared_->lost; lost != 0) {
    complain_(fmt::format("{} new threads may be missing: there was no room to follow them", lost));
  }
  if (const std::uint64_t beyond = shared_->beyond; beyond != 0) {
    complain_(fmt::format("{} calls are missing: they have numbers of {} and above, which --engine=ptrace shows",
                          beyond, static_cast<unsigned>(numbers_per_abi)));
  }
}

}  // namespace tracer::bpf
