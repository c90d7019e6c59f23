// Describes what threads wait for: from /proc for live threads, else by their last call.
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <thread>

#include "base/abi.h"
#include "base/directory.h"
#include "base/read_file.h"
#include "base/unique_fd.h"
#include "explain/blocked_threads.h"
#include "explain/file_header.h"
#include "explain/owners.h"
#include "explain/peers.h"
#include "explain/text_search.h"
#include "proc/auxiliary_vector.h"
#include "proc/mounts.h"
#include "proc/proc_text.h"
#include "spec/spec.h"

namespace tracer::explain {

namespace {

constexpr std::string_view waits_for_signal = "waits for a signal";

constexpr std::size_t max_threads = 64;
constexpr std::size_t max_polled = 16;

/// Returns three digits of a short time, and whole seconds of a long one.
std::string seconds_text(double seconds) {
  constexpr double long_time = 100;
  return seconds < long_time ? fmt::format("{:.3g}", seconds) : fmt::format("{:.0f}", seconds);
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  for_each_entry(proc::proc_path(pid, "task"), [&threads](const char* name) {
    threads.push_back(std::atoi(name));
    return threads.size() < max_threads;
  });
  std::sort(threads.begin(), threads.end());
  return threads;
}

/// Returns the ABI of a process by AT_PHENT of its auxiliary vector. Reading its executable could block.
Abi abi_of(pid_t pid, std::uint64_t number) {
  constexpr std::uint64_t x32_bit = 0x40000000;
  if (proc::auxiliary_value(pid, AT_PHENT, sizeof(std::uint64_t)) == sizeof(Elf64_Phdr)) {
    return abi_of_elf(native_machine(), true).value_or(Abi::x86_64);
  }
  return native_machine() == EM_AARCH64 ? Abi::arm : (number & x32_bit) != 0 ? Abi::x32 : Abi::i386;
}

std::vector<pid_t> children_of(pid_t pid, pid_t tid) {
  std::vector<pid_t> children;
  std::istringstream list(read_file(proc::proc_path(pid, fmt::format("task/{}/children", tid))));
  for (pid_t child = 0; list >> child;) {
    children.push_back(child);
  }
  return children;
}

/// A thread that sleeps in a system call.
class BlockedThread {
 public:
  BlockedThread(pid_t pid, pid_t tid, Peers& peers) : pid_(pid), tid_(tid), peers_(peers) {
    // The thread may be about to sleep again after tracing has interrupted it.
    constexpr int max_tries = 20;
    constexpr std::chrono::milliseconds retry_interval(5);
    const std::string place = proc::proc_path(tid, "syscall");
    std::string text = read_file(place, 512);
    for (int tries = 1; tries < max_tries && (text.compare(0, 7, "running") == 0 || text.compare(0, 2, "-1") == 0);
         ++tries) {
      std::this_thread::sleep_for(retry_interval);
      text = read_file(place, 512);
    }
    std::istringstream words(text);
    long number = -1;
    if (words >> number && number >= 0) {
      const spec::Tables& tables = spec::builtin_tables();
      const Abi abi = abi_of(pid, static_cast<std::uint64_t>(number));
      is_native_ = word_size(abi) == sizeof(long);
      const spec::Call* call = tables.find(abi, static_cast<std::uint64_t>(number));
      call_ = call == nullptr ? fmt::format("system call {}", number) : std::string(tables.text(call->name));
      for (std::uint64_t& argument : args_) {
        std::string word;
        words >> word;
        argument = std::strtoull(word.c_str(), nullptr, 16);
      }
    }
  }

  [[nodiscard]] std::string describe() {
    const std::string status = read_file(proc::proc_path(tid_, "status"));
    const std::string state(proc::find_field(status, "State"));
    is_stopped_ = state.starts_with('t');
    if (call_.empty()) {
      return state.compare(0, 1, "R") == 0 || state.empty() ? "it computes (no system call)" : "state " + state;
    }
    const auto at =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return is_listed(call_, kind.calls); });
    // A busy thread that makes many calls is usually in a ptrace-stop at this moment.
    if (is_stopped_) {
      return "in " + call_ + ": it runs";
    }
    const bool sleeps = state.starts_with('S') || state.starts_with('D');
    const std::string words = at != kinds.end() ? (this->*at->describe)() : sleeps ? "sleeps in it" : "it runs";
    return "in " + call_ + ": " + words;
  }

  /// Returns the thread or process that it waits for, after describe(); 0: unknown.
  [[nodiscard]] pid_t waits_for() const { return waits_for_; }
  /// True if it stood in a ptrace-stop when it was described.
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

 private:
  struct Kind {
    std::string_view calls;
    std::string (BlockedThread::*describe)();
  };
  static const std::array<Kind, 15> kinds;

  /// Reads the thread's memory; returns false if that fails.
  bool read_memory(std::uint64_t address, void* into, std::size_t size) const {
    const UniqueFd memory(::open(proc::proc_path(pid_, "mem").c_str(), O_RDONLY | O_CLOEXEC));
    return memory.valid() &&
           ::pread(memory.get(), into, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
  }

  [[nodiscard]] std::string text_at(std::uint64_t address) const {
    std::array<char, 512> bytes{};
    const UniqueFd memory(::open(proc::proc_path(pid_, "mem").c_str(), O_RDONLY | O_CLOEXEC));
    return !memory.valid() || ::pread(memory.get(), bytes.data(), bytes.size() - 1, static_cast<off_t>(address)) <= 0
               ? std::string()
               : std::string(bytes.data());
  }

  [[nodiscard]] std::string wait_for_descriptors(const std::vector<std::int64_t>& fds) {
    std::vector<std::string> names;
    for (const std::int64_t fd : fds) {
      if (names.size() < max_polled) {
        names.push_back(peers_.describe(pid_, fd));
      }
    }
    return names.empty() ? "waits for nothing but time" : "waits for " + join(names, "; ");
  }

  [[nodiscard]] std::string descriptor() {
    waits_for_ = peers_.other_end(pid_, static_cast<int>(args_[0]));
    return "waits for " + peers_.describe(pid_, static_cast<int>(args_[0]));
  }

  [[nodiscard]] std::string polled() {
    std::vector<std::int64_t> fds;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(args_[1], max_polled); ++i) {
      pollfd one{};
      if (read_memory(args_[0] + i * sizeof one, &one, sizeof one) && one.fd >= 0) {
        fds.push_back(one.fd);
      }
    }
    return wait_for_descriptors(fds) + (call_ == "poll"    ? at_most(args_[2])
                                        : call_ == "ppoll" ? at_most_time(args_[2])
                                                           : std::string());
  }

  /// Describes a time limit in milliseconds; a negative one is none.
  [[nodiscard]] static std::string at_most(std::uint64_t milliseconds) {
    const auto limit = static_cast<std::int32_t>(milliseconds);
    return limit <= 0 ? std::string() : ", " + seconds_text(static_cast<double>(limit) / 1e3) + " s of time at most";
  }

  /// Describes a time limit at an address of the thread; there is none at 0, and that of 32-bit programs has many
  /// forms.
  [[nodiscard]] std::string at_most_time(std::uint64_t address) const {
    timespec limit{};
    const bool is_known = is_native_ && address != 0 && read_memory(address, &limit, sizeof limit);
    const double seconds = static_cast<double>(limit.tv_sec) + static_cast<double>(limit.tv_nsec) / 1e9;
    return is_known && seconds > 0 ? ", " + seconds_text(seconds) + " s of time at most" : std::string();
  }

  [[nodiscard]] std::string selected() {
    std::vector<std::int64_t> fds;
    for (const std::uint64_t set : {args_[1], args_[2]}) {
      std::array<std::uint8_t, 128> bits{};
      const std::uint64_t count = std::min<std::uint64_t>(args_[0], bits.size() * 8);
      if (set == 0 || !read_memory(set, bits.data(), (count + 7) / 8)) {
        continue;
      }
      for (std::uint64_t fd = 0; fd < count; ++fd) {
        if ((bits[fd / 8] >> (fd % 8) & 1) != 0) {
          fds.push_back(static_cast<std::int64_t>(fd));
        }
      }
    }
    return wait_for_descriptors(fds);
  }

  [[nodiscard]] std::string epoll() {
    std::vector<std::int64_t> fds;
    std::istringstream lines(read_file(proc::descriptor_path(pid_, static_cast<int>(args_[0]), "fdinfo")));
    for (std::string line; std::getline(lines, line);) {
      if (int fd = 0; std::sscanf(line.c_str(), "tfd: %d", &fd) == 1) {
        fds.push_back(fd);
      }
    }
    return wait_for_descriptors(fds) + (call_ == "epoll_pwait2" ? std::string() : at_most(args_[3]));
  }

  [[nodiscard]] bool is_thread(std::int64_t tid) const {
    struct stat info;
    return tid > 0 && ::stat(proc::proc_path(pid_, fmt::format("task/{}", tid)).c_str(), &info) == 0;
  }

  [[nodiscard]] std::string futex() {
    const auto operation = args_[1] & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    std::uint32_t word = 0;
    const bool readable = read_memory(args_[0], &word, sizeof word);
    if (const auto owner = static_cast<std::int64_t>(word & FUTEX_TID_MASK);
        readable && (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2) && is_thread(owner)) {
      waits_for_ = static_cast<pid_t>(owner);
      return fmt::format("waits for a mutex that thread {} holds", owner);
    }
    if (readable && args_[2] == word && word != static_cast<std::uint32_t>(tid_) && is_thread(word)) {
      waits_for_ = static_cast<pid_t>(word);
      return fmt::format("waits for thread {} to end (pthread_join)", word);
    }
    // glibc's pthread_mutex_t has lock, count and owner, each of 32 bits. A lock of 2 has waiters.
    constexpr std::uint64_t owner_at = 8;
    constexpr std::uint32_t contended = 2;
    std::uint32_t owner = 0;
    if (readable && word == contended && read_memory(args_[0] + owner_at, &owner, sizeof owner) && is_thread(owner)) {
      waits_for_ = static_cast<pid_t>(owner);
      return fmt::format("waits for a mutex that thread {} holds{}", owner,
                         owner == static_cast<std::uint32_t>(tid_) ? ": it holds it itself, a deadlock" : "");
    }
    return "waits until another thread wakes it (a condition variable or the like)";
  }

  [[nodiscard]] std::string lock() {
    const std::string path = proc::descriptor_path(pid_, static_cast<int>(args_[0]));
    const auto mounted = proc::mount_of_descriptor(pid_, static_cast<int>(args_[0]));
    std::vector<std::string> holders;
    if (struct stat info; !(mounted && proc::may_block(*mounted)) && ::stat(path.c_str(), &info) == 0) {
      for (const pid_t holder : lock_holders(info.st_dev, info.st_ino)) {
        if (holder != pid_ && holder > 0) {
          waits_for_ = holder;
          holders.push_back(describe_process(holder));
        }
      }
    }
    return "waits for the lock of " + printable(read_link(path)) +
           (holders.empty() ? "" : ", which " + join(holders, ", ") + " holds");
  }

  [[nodiscard]] std::string names_of_children() const {
    std::vector<std::string> names;
    for (const pid_t child : children_of(pid_, tid_)) {
      names.push_back(describe_process(child));
    }
    return join(names, ", ");
  }

  [[nodiscard]] std::string children() {
    const auto wanted = static_cast<std::int32_t>(call_ == "waitid" ? args_[1] : args_[0]);
    waits_for_ = wanted > 0 ? wanted : 0;
    const std::string names = wanted > 0 ? describe_process(wanted) : names_of_children();
    return names.empty() ? "waits for a child" : "waits for its child " + names + " to end";
  }

  /// Returns the path argument of the call: the first argument, or the second one of openat(2) and the like.
  [[nodiscard]] std::string path() const {
    const bool after_directory = is_listed(call_,
                                           "openat openat2 newfstatat fstatat64 statx faccessat faccessat2 readlinkat "
                                           "execveat mkdirat unlinkat fchmodat utimensat");
    return text_at(after_directory ? args_[1] : args_[0]);
  }

  /// Returns "/mnt/x, on /mnt (fuse.sshfs)". It does not access the file, because that could block, too.
  [[nodiscard]] std::string path_with_mount(const std::string& path) const {
    const std::string whole =
        path.empty() || path.front() != '/' ? read_link(proc::proc_path(pid_, "cwd")) + '/' + path : path;
    const auto mounted = proc::mount_of_path(pid_, whole);
    return printable(path) +
           (mounted ? ", on " + printable(mounted->point) + " (" + printable(mounted->type) + ")" : std::string());
  }

  [[nodiscard]] std::string opening() {
    // The kernel function in which it sleeps; `0` if the tracer may not know. The two functions are those of fs/pipe.c.
    const std::string sleeps_in = read_file(proc::proc_path(tid_, "wchan"), 128);
    if (is_listed(sleeps_in, "wait_for_partner fifo_open")) {
      return "waits until somebody opens the other end of the FIFO " + printable(path());
    }
    return "waits for " + path_with_mount(path()) + ", to be opened (" +
           (sleeps_in.size() > 1 ? "" : "a FIFO whose other end nobody has open, ") + "a slow device or file system)";
  }

  [[nodiscard]] std::string path_lookup() { return "waits for an answer about " + path_with_mount(path()); }

  [[nodiscard]] std::string vfork_child() {
    return "waits until its child " + names_of_children() + " runs another program or ends";
  }

  [[nodiscard]] std::string message() {
    return fmt::format("waits for {} the message queue {} (ipcs -q)", call_ == "msgsnd" ? "room in" : "a message in",
                       args_[0]);
  }

  [[nodiscard]] std::string semaphores() { return fmt::format("waits for the semaphores {} (ipcs -s)", args_[0]); }

  [[nodiscard]] std::string sleeping() { return "sleeps for a time that it chose itself"; }
  /// Describes a call with a timeout that was interrupted, for example by attaching, and is restarted. The argument
  /// registers are unchanged and identify it: poll(fds, count, …), futex(address, operation, …), clock_nanosleep(clock,
  /// flags, …).
  [[nodiscard]] std::string restarted() {
    constexpr std::uint64_t lowest_address = 0x10000;
    constexpr std::uint64_t max_polled = 4096;
    const std::uint64_t operation = args_[1] & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    if (args_[0] < lowest_address || args_[1] >= lowest_address) {
      return sleeping();
    }
    const bool private_futex = (args_[1] & FUTEX_PRIVATE_FLAG) != 0;
    return private_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) ? futex()
           : args_[1] <= max_polled                                                     ? polled()
                                    : "goes on with an interrupted call";
  }
  [[nodiscard]] std::string signal() { return std::string(waits_for_signal); }

  pid_t pid_;
  pid_t tid_;
  Peers& peers_;
  pid_t waits_for_ = 0;
  bool is_stopped_ = false;
  bool is_native_ = false;  ///< its structures are those of this program
  std::string call_;
  std::array<std::uint64_t, 6> args_{};
};

const std::array<BlockedThread::Kind, 15> BlockedThread::kinds = {{
    {"vfork clone clone3", &BlockedThread::vfork_child},
    {"msgrcv msgsnd", &BlockedThread::message},
    {"semop semtimedop", &BlockedThread::semaphores},
    {"poll ppoll", &BlockedThread::polled},
    {"select pselect6 _newselect", &BlockedThread::selected},
    {"epoll_wait epoll_pwait epoll_pwait2", &BlockedThread::epoll},
    {"futex", &BlockedThread::futex},
    {"flock fcntl fcntl64", &BlockedThread::lock},
    {"wait4 waitid", &BlockedThread::children},
    {"open openat openat2 creat", &BlockedThread::opening},
    {"stat lstat stat64 lstat64 newfstatat fstatat64 statx access faccessat faccessat2 readlink readlinkat chdir "
     "execve "
     "execveat mkdir mkdirat unlink unlinkat rmdir statfs chmod fchmodat truncate utimensat",
     &BlockedThread::path_lookup},
    {"nanosleep clock_nanosleep", &BlockedThread::sleeping},
    {"pause rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64", &BlockedThread::signal},
    {"read readv pread64 recvfrom recvmsg accept accept4 connect write writev pwrite64 sendto sendmsg ioctl splice "
     "sendfile "
     "mq_timedreceive mq_timedsend fstat fsync fdatasync close ftruncate getdents64",
     &BlockedThread::descriptor},
    {"restart_syscall", &BlockedThread::restarted},
}};

/// Describes a group-stop; returns an empty string if there is none. /proc does not show the group-stop of a ptraced
/// process, so the story has it.
std::string stopped(const Story& story, pid_t pid) {
  const Process* process = story.find(pid);
  const std::string signal = process == nullptr ? std::string() : process->stopped_by;
  const std::string status = read_file(proc::proc_path(pid, "status"));
  if (signal.empty() && !proc::find_field(status, "State").starts_with("T")) {
    return {};
  }
  const bool by_terminal = is_listed(signal, "SIGTTIN SIGTTOU");
  return "stopped" + (signal.empty() ? "" : " by " + signal) +
         (by_terminal ? ", as it is not in the foreground of its terminal: fg in the shell that started it"
                      : fmt::format(": kill -CONT {} lets it go on", pid));
}

}  // namespace

bool is_of_java_itself(std::string_view command, std::string_view name) {
  constexpr std::array<std::string_view, 14> names = {"GC Thread",
                                                      "G1 ",
                                                      "VM ",
                                                      "C1 Compiler",
                                                      "C2 Compiler",
                                                      "Reference Handl",
                                                      "Finalizer",
                                                      "Signal Dispat",
                                                      "Service Thread",
                                                      "Monitor Deflati",
                                                      "Common-Cleaner",
                                                      "Notification Th",
                                                      "Sweeper",
                                                      "Attach Listen"};
  return command == "java" && std::any_of(names.begin(), names.end(), [&](auto own) { return name.starts_with(own); });
}

Waits find_waits(const Story& story) {
  std::vector<ThreadWait> waits;
  bool any_is_stopped = false;
  std::vector<pid_t> rest;
  for (const auto& [pid, process] : story.processes()) {
    if (process.exit) {
      continue;
    }
    if (story.live() && is_alive(pid)) {
      rest.push_back(pid);
      continue;
    }
    for (const auto& [tid, last] : process.threads) {
      waits.push_back({pid,
                       tid,
                       printable(process.name()),
                       fmt::format("{} (pid {})", printable(process.name()), pid),
                       {},
                       (last.open ? "in " : "its last call was ") + to_text(last.call, false),
                       0,
                       process.threads.size() > 1});
    }
  }
  // Of many processes, those that the user named or started come first.
  std::stable_partition(rest.begin(), rest.end(), [&](pid_t pid) {
    const Process* process = story.find(pid);
    return process != nullptr && story.find(process->parent) == nullptr;
  });
  // Include children that are not traced, as an attached process may wait for one.
  constexpr std::size_t max_processes = 64;
  Peers peers;
  for (std::size_t i = 0; i < rest.size() && i < max_processes; ++i) {
    const pid_t pid = rest[i];
    const std::vector<pid_t> threads = threads_of(pid);
    const std::string command = first_line(read_file(proc::proc_path(pid, "comm"), 64));
    if (std::string stop = stopped(story, pid); !stop.empty()) {
      waits.push_back({pid, pid, printable(command), describe_process(pid), {}, std::move(stop), 0, false});
      continue;
    }
    for (const pid_t tid : threads) {
      BlockedThread thread(pid, tid, peers);
      std::string words = thread.describe();
      any_is_stopped = any_is_stopped || thread.is_stopped();
      const std::string name = first_line(read_file(proc::proc_path(tid, "comm"), 64));
      words += is_of_java_itself(command, name) ? "; a thread of Java itself" : "";
      waits.push_back({pid, tid, printable(command), describe_process(pid),
                       name == command ? std::string() : printable(name), std::move(words), thread.waits_for(),
                       threads.size() > 1});
      const std::vector<pid_t> children = children_of(pid, tid);
      if (!children.empty() && waits.back().words.ends_with(waits_for_signal)) {
        waits.back().words += ", such as that its child " + describe_process(children.front()) + " ended";
      }
      for (const pid_t child : children) {
        if (std::find(rest.begin(), rest.end(), child) == rest.end()) {
          rest.push_back(child);
        }
      }
    }
  }
  return {std::move(waits), rest.size() - std::min(rest.size(), max_processes), any_is_stopped};
}

namespace {

std::string name_of_thread(const ThreadWait& wait) {
  return std::to_string(wait.tid) + (wait.name.empty() ? "" : " (" + wait.name + ")");
}

/// Describes those that wait for the same: threads of one process, or processes of one name.
std::string describe_group(const std::vector<const ThreadWait*>& group, bool of_one_process) {
  const ThreadWait& first = *group.front();
  std::vector<std::string> names;
  std::transform(group.begin(), group.end(), std::back_inserter(names), [&](const ThreadWait* wait) {
    return of_one_process ? name_of_thread(*wait) : std::to_string(wait->pid);
  });
  const std::string list = join_first(std::move(names));
  std::string line =
      of_one_process ? first.process : fmt::format("{}, {} processes ({})", first.command, group.size(), list);
  if (of_one_process && first.has_others) {
    line += (group.size() > 1 ? fmt::format(", {} threads ", group.size()) : ", thread ") + list;
  }
  return line + (first.words.starts_with("its last") ? "; " : ", ") + first.words;
}

}  // namespace

std::vector<std::string> describe_waits(const Waits& found) {
  const std::vector<ThreadWait>& waits = found.threads;
  std::vector<std::string> lines;
  std::vector<bool> is_told(waits.size());
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (is_told[i]) {
      continue;
    }
    std::vector<const ThreadWait*> threads;
    std::vector<const ThreadWait*> processes;
    for (std::size_t j = i; j < waits.size(); ++j) {
      if (is_told[j] || waits[j].words != waits[i].words) {
        continue;
      }
      if (waits[j].pid == waits[i].pid) {
        threads.push_back(&waits[j]);
      }
      if (!waits[j].has_others && waits[j].command == waits[i].command) {
        processes.push_back(&waits[j]);
      }
    }
    const bool of_one_process = waits[i].has_others || processes.size() < 2;
    const std::vector<const ThreadWait*>& group = of_one_process ? threads : processes;
    for (const ThreadWait* wait : group) {
      is_told[static_cast<std::size_t>(wait - waits.data())] = true;
    }
    lines.push_back(describe_group(group, of_one_process));
  }
  if (found.unseen_processes > 0) {
    lines.push_back(fmt::format("{} more processes run, which were not looked at", found.unseen_processes));
  }
  return lines;
}

}  // namespace tracer::explain
