#include "inprocess/dispatch.h"

#include <dirent.h>
#include <fmt/core.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <span>
#include <string>

#include "arch/syscall_abi.h"
#include "base/read_file.h"
#include "inprocess/layout.h"
#include "proc/proc_files.h"
#include "proc/proc_text.h"

namespace tracer::inprocess {

bool changes_dispatch(const ptrace::CallState& entry, const trace::Memory& memory) {
  if (entry.abi != arch::native_abi()) {
    return false;
  }
  if (entry.number == SYS_prctl) {
    constexpr std::uint32_t set_dispatch = 59;  // PR_SET_SYSCALL_USER_DISPATCH, linux/prctl.h
    return static_cast<std::uint32_t>(entry.args[0]) == set_dispatch;
  }
  if (entry.number != SYS_rt_sigaction || static_cast<std::int32_t>(entry.args[0]) != SIGSYS || entry.args[1] == 0) {
    return false;
  }
  std::uint64_t handler = 0;  // the first member of the kernel's struct sigaction
  const auto into = std::as_writable_bytes(std::span(&handler, 1));
  return memory.read(RemoteAddr(entry.args[1]), into) != into.size() ||
         handler == reinterpret_cast<std::uint64_t>(SIG_IGN);
}

bool ignores_dispatch(pid_t process) {
  const std::uint64_t ignored = std::strtoull(proc::status_field(process, "SigIgn").c_str(), nullptr, 16);
  return (ignored >> (SIGSYS - 1) & 1) != 0;
}

bool has_strangers_memory(pid_t process) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc"), ::closedir);
  while (const dirent* entry = all != nullptr ? ::readdir(all.get()) : nullptr) {
    const auto other = static_cast<pid_t>(std::atoi(entry->d_name));
    if (other > 0 && other != process && ::syscall(SYS_kcmp, process, other, KCMP_VM, 0, 0) == 0 &&
        proc::id_field(other, "TracerPid") != ::getpid()) {
      return true;
    }
  }
  return false;
}

bool sleeps_outside(pid_t process, pid_t tid) {
  if (!proc::status_field(tid, "State").starts_with('D')) {
    return false;
  }
  // The last of its words is the instruction pointer; there is a single one where the thread runs, and the first one is
  // -1 where it is in no call.
  const std::string call = read_file(proc::proc_path(process, fmt::format("task/{}/syscall", tid)));
  const std::size_t last = call.rfind(' ');
  if (last == std::string::npos || call[0] == '-') {
    return false;
  }
  const std::uint64_t at = std::strtoull(call.c_str() + last + 1, nullptr, 16);
  return at != 0 && !is_in_recorder(at);
}

bool comes_to_stop(pid_t tid) {
  constexpr unsigned most_looks = 400;
  const timespec moment{0, 50'000};
  for (unsigned look = 0; look < most_looks; ++look) {
    const std::string state = proc::status_field(tid, "State");
    if (state.empty() || state[0] == 't' || state[0] == 'Z' || state[0] == 'X') {
      return true;
    }
    if (look > 2) {
      ::nanosleep(&moment, nullptr);
    }
  }
  return false;
}

}  // namespace tracer::inprocess
