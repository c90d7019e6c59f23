// Closed file descriptors, and limits of descriptors, processes, memory and sizes.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "base/number_text.h"
#include "base/read_file.h"
#include "explain/peers.h"
#include "explain/ranking.h"
#include "explain/rules/rules.h"

namespace tracer::explain::rules {

namespace {

std::optional<std::uint64_t> limit_of(const Case& facts, std::string_view name) {
  return facts.snapshot() ? facts.snapshot()->limit(name) : std::nullopt;
}

/// A limit in /proc/sys for objects of the kernel.
struct KernelLimit {
  std::string_view calls;
  std::string_view error;
  std::string_view flag;  ///< flag that the call must have; "": any
  std::string_view setting;
  std::string_view what;
  bool for_each_user = true;
};

constexpr KernelLimit kernel_limits[] = {
    {"inotify_init inotify_init1", "EMFILE", "", "fs.inotify.max_user_instances", "inotify instances"},
    {"inotify_add_watch", "ENOSPC", "", "fs.inotify.max_user_watches", "files and directories under watch by inotify"},
    {"fanotify_init", "EMFILE", "", "fs.fanotify.max_user_groups", "fanotify groups"},
    {"fanotify_mark", "ENOSPC", "", "fs.fanotify.max_user_marks", "fanotify marks"},
    {"epoll_ctl", "ENOSPC", "", "fs.epoll.max_user_watches", "descriptors in epoll's sets"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWUSER", "user.max_user_namespaces", "user namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWNS", "user.max_mnt_namespaces", "mount namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWPID", "user.max_pid_namespaces", "PID namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWNET", "user.max_net_namespaces", "network namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWIPC", "user.max_ipc_namespaces", "IPC namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWUTS", "user.max_uts_namespaces", "UTS namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWCGROUP", "user.max_cgroup_namespaces", "cgroup namespaces"},
    {"unshare clone clone3", "ENOSPC", "CLONE_NEWTIME", "user.max_time_namespaces", "time namespaces"},
    {"add_key request_key keyctl", "EDQUOT", "", "kernel.keys.maxkeys", "keys"},
    {"fcntl fcntl64", "EPERM", "F_SETPIPE_SZ", "fs.pipe-max-size", "bytes in a pipe"},
    {"io_setup", "EAGAIN", "", "fs.aio-max-nr", "asynchronous requests", false},
    {"mq_open", "ENOSPC", "", "fs.mqueue.queues_max", "message queues", false},
    {"msgget", "ENOSPC", "", "kernel.msgmni", "message queues", false},
    {"semget", "ENOSPC", "", "kernel.sem", "semaphores", false},
    {"shmget", "ENOSPC", "", "kernel.shmmni", "segments of shared memory", false}};

const KernelLimit* kernel_limit_of(const Call& call) {
  const auto* const found = std::find_if(std::begin(kernel_limits), std::end(kernel_limits), [&](const auto& one) {
    return is_listed(call.name, one.calls) && call.error == one.error &&
           (one.flag.empty() || contains(to_text(call, false), one.flag));
  });
  return found == std::end(kernel_limits) ? nullptr : found;
}

/// Returns the limit that a user namespace has of its own beside that of the machine, namespaces(7); empty if the
/// process is in that of the tracer.
std::string limit_of_namespace(const Case& facts, const KernelLimit& limit) {
  const bool is_other = facts.snapshot() && !facts.snapshot()->user_namespace.empty() &&
                        facts.snapshot()->user_namespace != read_link("/proc/self/ns/user");
  const std::string_view setting = limit.setting;
  const bool has_own = setting.starts_with("user.") || setting.starts_with("fs.inotify.max_user_");
  return !is_other || !has_own          ? std::string()
         : setting.starts_with("user.") ? std::string(setting)
                                        : "user.max_inotify_" + std::string(setting.substr(setting.rfind('_') + 1));
}

/// True if the process is known to have reached its limit of open files.
bool is_at_file_limit(const Case& facts) {
  const auto limit = limit_of(facts, "Max open files");
  const auto& last = facts.process.snapshot;
  return limit && last && last->descriptors && *last->descriptors >= *limit;
}

std::optional<Finding> kernel_limit_reached(const Case& facts) {
  const KernelLimit* limit = kernel_limit_of(facts.call());
  if (limit == nullptr || (limit->error == "EMFILE" && is_at_file_limit(facts))) {
    return std::nullopt;
  }
  Finding finding;
  if (const std::string own = limit_of_namespace(facts, *limit); !own.empty()) {
    finding.cause = fmt::format("its user namespace may have no more {} than its own limit {} says", limit->what, own);
    finding.remedy = "write a larger number to /proc/sys/user/" + own.substr(own.find('.') + 1) + " in that namespace";
    return finding;
  }
  finding.cause = limit->for_each_user
                      ? fmt::format("{} has as many {} as the kernel allows a user", facts.prober.user(), limit->what)
                      : fmt::format("there are as many {} as the kernel allows", limit->what);
  std::string path = "/proc/sys/" + std::string(limit->setting);
  std::replace(path.begin(), path.end(), '.', '/');
  if (const std::string value = first_line(read_file(path, 64)); facts.snapshot() && !value.empty()) {
    finding.looked_at.push_back(fmt::format("{} is {} here", limit->setting, value));
  }
  finding.remedy = fmt::format("sysctl {}=… with a larger number, or end programs that hold them", limit->setting);
  return finding;
}

std::optional<Finding> too_many_files(const Case& facts) {
  Finding finding;
  if (kernel_limit_of(facts.call()) != nullptr && !is_at_file_limit(facts)) {
    return std::nullopt;
  }
  if (facts.call().error == "ENFILE") {
    finding.rule = "system-file-limit";
    finding.cause = "the whole machine has no more open files to give";
    finding.looked_at.push_back("fs.file-max is " + first_line(read_file("/proc/sys/fs/file-max", 64)));
    finding.remedy = "sysctl fs.file-max=…, and find who has so many open (ls /proc/*/fd)";
    return finding;
  }
  const auto limit = limit_of(facts, "Max open files");
  finding.cause =
      "it has as many files and sockets open as it may" + (limit ? fmt::format(": {}", *limit) : std::string());
  if (facts.process.snapshot && facts.process.snapshot->descriptors) {
    finding.looked_at.push_back(fmt::format("{} descriptors were open", *facts.process.snapshot->descriptors));
  }
  finding.remedy = "ulimit -n with a larger number (systemd: LimitNOFILE=); if the number only grows, it leaks them";
  return finding;
}

/// dup2(2) fails with EBADF, too, if the new number is beyond the limit.
std::optional<Finding> number_beyond_limit(const Case& facts) {
  const auto limit = limit_of(facts, "Max open files");
  const auto& args = facts.call().args;
  if (args.size() < 2 || !limit || args[1].raw < *limit) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause =
      fmt::format("it wants the file descriptor {}, and may have only those below {} (ulimit -n)", args[1].raw, *limit);
  finding.remedy = "ulimit -n with a larger number (systemd: LimitNOFILE=)";
  return finding;
}

std::optional<Finding> descriptor_not_open(const Case& facts) {
  const Call& call = facts.call();
  if (call.args.empty()) {
    return std::nullopt;
  }
  const Value& descriptor = call.args[0].value;
  const std::int64_t fd =
      descriptor.is_number() ? descriptor.number : number_at<std::int64_t>(descriptor.text).value_or(-1);
  const std::string_view standard = standard_stream(fd);
  const bool is_standard = !standard.empty();
  if (!is_standard && !says_error("EBADF", facts.messages)) {
    return std::nullopt;  // shells ask which numbers are free
  }
  Finding finding;
  finding.cause = (is_standard ? fmt::format("its {}", standard) : fmt::format("descriptor {}", fd)) +
                  " is not open, or not for what it does (" + call.name + ")";
  finding.remedy = is_standard
                       ? "see how it is started: whoever closes one of the three should give it /dev/null"
                       : "a mistake of the program, or of who started it and should have left that descriptor open";
  return finding;
}

std::optional<Finding> too_many_processes(const Case& facts) {
  Finding finding;
  const auto limit = limit_of(facts, "Max processes");
  const Snapshot group = facts.snapshot().value_or(Snapshot{});
  const std::string group_limit = first_line(group.control_group_file("pids.max"));
  const std::string group_count = first_line(group.control_group_file("pids.current"));
  const bool by_group = !group_limit.empty() && group_limit != "max" &&
                        std::atoi(group_count.c_str()) + 1 >= std::atoi(group_limit.c_str());
  finding.cause = by_group ? "its control group may have no more processes and threads than " + group_limit
                           : facts.prober.user() + " has as many processes and threads as it may" +
                                 (limit ? fmt::format(": {}", *limit) : std::string());
  finding.remedy = by_group
                       ? "raise pids.max of the control group (docker: --pids-limit, systemd: TasksMax=)"
                       : "ulimit -u with a larger number (systemd: LimitNPROC=), or end some of that user's processes";
  return finding;
}

/// mmap(2) fails with ENOMEM, too, if the process has too many mappings.
std::optional<Finding> too_many_mappings(const Case& facts) {
  constexpr std::size_t room = 8;  // a call may want several
  const std::string allowed = first_line(read_file("/proc/sys/vm/max_map_count", 32));
  const auto mappings = facts.snapshot() ? facts.snapshot()->mappings : std::nullopt;
  if (!mappings || allowed.empty() || *mappings + room < std::strtoull(allowed.c_str(), nullptr, 10)) {
    return std::nullopt;
  }
  Finding finding;
  finding.rule = "mapping-limit";
  finding.cause = "it has as many memory mappings as the kernel allows a process: " + allowed + " (vm.max_map_count)";
  finding.looked_at.push_back(fmt::format("it had {} when it was refused", *mappings));
  finding.remedy = "sysctl vm.max_map_count=… with a larger number; if the number only grows, it leaks them";
  return finding;
}

/// Signals that wait, timers and message queues count against limits of their user, getrlimit(2).
std::optional<Finding> queue_limit(const Case& facts) {
  const bool is_queue = facts.call().name == "mq_open";
  const auto limit = limit_of(facts, is_queue ? "Max msgqueue size" : "Max pending signals");
  Finding finding;
  finding.cause =
      facts.prober.user() +
      (is_queue ? " may have no more message queues" : " has as many pending signals and timers as it may") +
      (limit ? fmt::format(": {}{}", *limit, is_queue ? " bytes in all" : "") : std::string());
  finding.remedy = is_queue ? "ulimit -q with a larger number (systemd: LimitMSGQUEUE=)"
                            : "ulimit -i with a larger number (systemd: LimitSIGPENDING=)";
  return finding;
}

/// A limit of memory that is too low for the start of a program: the kernel or the loader ends it with a signal.
std::optional<Finding> too_little_memory_to_start(const Case& facts) {
  constexpr std::uint64_t first_calls = 60;
  const auto& steps = facts.process.steps;
  const bool was_refused = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::failure && step.call.error == "ENOMEM" && step.order >= facts.process.last_exec;
  });
  const auto exec =
      std::find_if(steps.rbegin(), steps.rend(), [](const Step& s) { return s.kind == Step::Kind::exec; });
  const bool has_begun = exec != steps.rend() && facts.process.calls - exec->number > first_calls;
  for (const auto& [name, option] : {std::pair{"Max address space", "-v"}, std::pair{"Max data size", "-d"}}) {
    constexpr std::uint64_t ample = std::uint64_t{1} << 30;
    const auto limit = limit_of(facts, name);
    if (!limit || *limit > ample || (has_begun && !was_refused)) {
      continue;
    }
    Finding finding;
    finding.rule = "memory-limit";
    finding.cause = "it may have no more than " + format_bytes(*limit) + " of memory (ulimit " + option +
                    "), and ended for want of it";
    finding.remedy = fmt::format("ulimit {} unlimited, or a larger number", option);
    finding.weight = 20;
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> no_memory(const Case& facts) {
  if (auto finding = too_many_mappings(facts)) {
    return finding;
  }
  Finding finding;
  const bool locking = facts.call().name.find("mlock") != std::string::npos ||
                       to_text(facts.call().argument("flags").value).find("MAP_LOCKED") != std::string::npos;
  if (const auto limit = limit_of(facts, "Max locked memory"); locking && limit) {
    finding.rule = "locked-memory-limit";
    finding.cause = "it may lock no more than " + format_bytes(*limit) + " of memory";
    finding.remedy = "ulimit -l with a larger number (systemd: LimitMEMLOCK=)";
    return finding;
  }
  if (contains(to_text(facts.call().argument("flags").value), "MAP_HUGETLB")) {
    const bool is_silent = facts.messages.find_first_not_of(" \n") == std::string::npos;
    if (!is_silent && !contains(facts.messages, "uge") && !contains(facts.messages, "emory")) {
      return std::nullopt;  // most programs do without them
    }
    finding.rule = "no-huge-pages";
    finding.cause = "it wants huge pages (MAP_HUGETLB), and not enough of them are reserved";
    finding.looked_at.push_back("vm.nr_hugepages is " + first_line(read_file("/proc/sys/vm/nr_hugepages", 64)) + "; " +
                                line_with(read_file("/proc/meminfo"), "HugePages_Free"));
    finding.remedy = "sysctl vm.nr_hugepages=…, or let it do without them";
    return finding;
  }
  const Argument& asked = facts.call().argument("length");
  const std::string how_much = asked.value.is_number() ? format_bytes(asked.raw) : "more";
  struct Limit {
    std::string_view name;  // name in /proc/PID/limits
    std::string_view resource;
    std::string_view room;
    std::string_view option;  // option of ulimit
    std::string_view directive;
  };
  constexpr std::array<Limit, 2> limits = {{{"Max address space", "RLIMIT_AS", "address space", "-v", "LimitAS="},
                                            {"Max data size", "RLIMIT_DATA", "data", "-d", "LimitDATA="}}};
  for (const Limit& one : limits) {
    if (const auto limit = limit_of(facts, one.name); limit) {
      const std::string allowed = format_bytes(*limit);
      finding.cause =
          fmt::format("it wanted {} of memory and may have no more than {} of {}", how_much, allowed, one.room);
      finding.looked_at.push_back(fmt::format("{} is {}", one.resource, allowed));
      finding.remedy = fmt::format("ulimit {} unlimited, or a larger number (systemd: {})", one.option, one.directive);
      return finding;
    }
  }
  if (!facts.snapshot()) {
    finding.cause = "it wanted " + how_much + " of memory, and a limit of its own or the machine did not allow it";
    finding.remedy = "compare ulimit -v and ulimit -d where it ran, and the memory of the machine";
    return finding;
  }
  // A kernel that stops nobody does not count the mappings.
  constexpr std::uint64_t little = std::uint64_t{1} << 24;
  const bool may_be_mappings = !facts.snapshot()->mappings.value_or(0) && asked.value.is_number() && asked.raw < little;
  finding.cause = may_be_mappings
                      ? "it was refused " + how_much + " of memory: it has as many mappings as " +
                            "vm.max_map_count allows (" + first_line(read_file("/proc/sys/vm/max_map_count", 32)) +
                            "), or the machine has no memory left"
                      : "the machine did not give it " + how_much + " of memory";
  const std::string policy = first_line(read_file("/proc/sys/vm/overcommit_memory", 16));
  finding.looked_at.push_back("vm.overcommit_memory is " + policy + "; " +
                              first_line(line_with(read_file("/proc/meminfo"), "MemAvailable")));
  finding.remedy = "ask for less in its configuration, or give the machine more memory";
  return finding;
}

std::optional<Finding> file_too_large(const Case& facts) {
  const auto limit = limit_of(facts, "Max file size");
  if (!limit && facts.snapshot()) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "it may write no file larger than " +
                  (limit ? format_bytes(*limit) : std::string("its limit allows")) + " (RLIMIT_FSIZE)";
  finding.remedy = "ulimit -f unlimited (systemd: LimitFSIZE=)";
  return finding;
}

std::optional<Finding> used_up_processor_time(const Case& facts) {
  const auto limit = limit_of(facts, "Max cpu time");
  if (!limit && (facts.snapshot() || facts.process.exit->signal != "SIGXCPU")) {
    return std::nullopt;
  }
  Finding finding;
  finding.cause = "it used up the processor time that it may have" +
                  (limit ? fmt::format(": {} s", *limit) : std::string()) + " (RLIMIT_CPU)";
  finding.remedy = "ulimit -t unlimited (systemd: LimitCPU=), if so much work is right";
  return finding;
}

/// Returns the traced process that sent the fatal signal to this one; nullptr if there is none.
const Process* killer_of(const Case& facts, std::string& how) {
  for (const auto& [tid, last] : facts.process.threads) {
    const bool kills = last.call.name == "kill" && last.open;  // a call that kills the caller does not return
    if (kills && to_text(last.call.argument("signum").value) == facts.process.exit->signal) {
      how = to_text(last.call, false);
      return &facts.process;
    }
  }
  for (const auto& [pid, process] : facts.story.processes()) {
    for (const Step& step : process.steps) {
      if (step.call.name == "kill" && step.call.outcome == CallOutcome::returned &&
          step.call.argument("pid").value.number == facts.process.pid &&
          to_text(step.call.argument("signum").value) == facts.process.exit->signal) {
        how = to_text(step.call, false);
        return &process;
      }
    }
  }
  return nullptr;
}

std::optional<Finding> killed(const Case& facts) {
  Finding finding;
  std::string how;
  if (const Process* killer = killer_of(facts, how); killer != nullptr) {
    finding.rule = "killed-by-process";
    finding.cause = fmt::format("{} (pid {}) killed it: {}", killer->name(), killer->pid, how);
    finding.remedy = "see why " + killer->name() + " does that";
    finding.weight = 10;
    return finding;
  }
  const Snapshot state = facts.snapshot().value_or(Snapshot{});
  // Others may have been killed there long ago.
  if (const auto kills = state.killed_for_memory_now(); kills > state.killed_for_memory) {
    std::string memory_limit = first_line(state.control_group_file("memory.max"));
    if (memory_limit.empty()) {
      memory_limit = first_line(state.memory_group_file("memory.limit_in_bytes"));
    }
    finding.cause = "the kernel killed it because the memory of its control group was used up";
    finding.looked_at.push_back(
        "its control group may use " + format_bytes(std::strtoull(memory_limit.c_str(), nullptr, 10)) +
        "; processes killed there for want of memory: " + std::to_string(kills - state.killed_for_memory));
    finding.remedy = "give it more memory (docker: --memory, systemd: MemoryMax=), or let it use less";
    finding.weight = 10;
    return finding;
  }
  if (auto by_time = used_up_processor_time(facts)) {
    by_time->rule = "processor-time-limit";
    return by_time;
  }
  finding.rule = "killed-from-outside";
  finding.cause =
      "it was killed with SIGKILL from outside of what was traced: by an administrator, a supervisor's time "
      "limit, or the kernel because memory ran out";
  finding.remedy = "see dmesg | grep -i 'killed process' and the log of its supervisor";
  finding.weight = -20;
  return finding;
}

std::optional<Finding> no_such_processor(const Case& facts) {
  const std::string allowed = facts.snapshot() ? facts.snapshot()->field("Cpus_allowed_list") : std::string();
  Finding finding;
  finding.cause =
      "it may use none of the processors that it asks for: they do not exist, or its control group (cpuset) "
      "does not have them";
  finding.looked_at.push_back(fmt::format("this machine has {} processors", ::sysconf(_SC_NPROCESSORS_CONF)) +
                              (allowed.empty() ? "" : ", and it may use " + allowed));
  finding.remedy = "name processors that it may use: taskset -pc $$ and nproc show them";
  return finding;
}

constexpr std::string_view descriptor_calls =
    "open openat openat2 creat socket socketpair accept accept4 pipe pipe2 dup dup2 dup3 fcntl epoll_create "
    "epoll_create1 "
    "eventfd eventfd2 signalfd4 timerfd_create inotify_init inotify_init1 memfd_create io_uring_setup pidfd_open";

constexpr Rule limits_table[] = {
    {"no-such-processor", 45, "sched_setaffinity", "EINVAL", "", "", no_such_processor},
    {"open-file-limit", 40, descriptor_calls, "EMFILE ENFILE", "", "", too_many_files},
    {"open-file-limit", 45, "dup2 dup3", "EBADF", "", "", number_beyond_limit},
    // read() is not among them: a process must not stop at each read while it is traced.
    {"descriptor-not-open", 25, "write writev fsync fstat fstat64 newfstatat", "EBADF", "", "", descriptor_not_open},
    {"kernel-limit", 40,
     "inotify_init inotify_init1 inotify_add_watch fanotify_init fanotify_mark epoll_ctl unshare clone clone3 add_key "
     "request_key keyctl io_setup mq_open msgget semget shmget fcntl fcntl64",
     "EMFILE ENOSPC EDQUOT EAGAIN EPERM", "", "", kernel_limit_reached},
    {"process-limit", 40, "clone clone3 fork vfork", "EAGAIN", "", "", too_many_processes},
    {"memory-limit", 35, "mmap mmap2 mremap mlock mlock2 mlockall brk shmget shmat clone clone3 fork", "ENOMEM", "", "",
     no_memory},
    {"memory-limit", 35, "mmap mmap2 mremap mlock mlock2 mlockall", "EAGAIN", "", "", no_memory},
    {"file-size-limit", 40, "write writev pwrite64 ftruncate fallocate", "EFBIG", "", "", file_too_large},
    {"file-size-limit", 25, "", "", "", "SIGXFSZ", file_too_large},
    {"processor-time-limit", 25, "", "", "", "SIGXCPU", used_up_processor_time},
    {"out-of-memory", 20, "", "", "", "SIGKILL", killed},
    {"memory-limit", 20, "", "", "", "SIGSEGV SIGKILL SIGBUS SIGABRT", too_little_memory_to_start},
    {"queue-limit", 40, "rt_sigqueueinfo rt_tgsigqueueinfo timer_create", "EAGAIN", "", "", queue_limit},
    {"queue-limit", 40, "mq_open", "EMFILE", "", "", queue_limit},
};

}  // namespace

std::span<const Rule> limit_rules() {
  return limits_table;
}

}  // namespace tracer::explain::rules
