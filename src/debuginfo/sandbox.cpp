#include "debuginfo/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "arch/syscall_abi.h"
#include "base/read_file.h"

namespace tracer::debuginfo {

namespace {

/// What computing, allocating, reading descriptors and ending take.
constexpr long allowed_calls[] = {
    SYS_read,         SYS_pread64,     SYS_readv,       SYS_preadv,        SYS_recvmsg,      SYS_sendto,
    SYS_sendmsg,      SYS_lseek,       SYS_fstat,       SYS_close,         SYS_fcntl,        SYS_brk,
    SYS_mmap,         SYS_munmap,      SYS_mremap,      SYS_mprotect,      SYS_madvise,      SYS_futex,
    SYS_getpid,       SYS_gettid,      SYS_sched_yield, SYS_clock_gettime, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit,        SYS_exit_group,    SYS_dup,          SYS_getrandom,
    SYS_newfstatat,  // fstat(3) calls it
};

std::uint64_t private_memory() {
  unsigned long pages[6] = {};
  const std::string text = read_file("/proc/self/statm");
  const int found = std::sscanf(text.c_str(), "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2], &pages[3],
                                &pages[4], &pages[5]);
  return found == 6 ? std::uint64_t{pages[5]} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

bool limit(__rlimit_resource_t resource, rlim_t now, rlim_t most) {
  const rlimit both{now, most};
  return ::setrlimit(resource, &both) == 0;
}

std::vector<sock_filter> filter() {
  const auto load = [](std::size_t at) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(at)};
  };
  const auto end = [](std::uint32_t with) { return sock_filter{BPF_RET | BPF_K, 0, 0, with}; };
  const auto if_equal = [](std::uint32_t value, std::uint8_t skip) {
    return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, skip, value};
  };
  constexpr std::uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> code = {
      load(offsetof(seccomp_data, arch)), if_equal(arch::filter_arch_of(arch::native_abi())->audit_arch, 1),
      sock_filter{BPF_JMP | BPF_JA, 0, 0, 1}, end(SECCOMP_RET_KILL_PROCESS), load(offsetof(seccomp_data, nr))};
  for (const long number : allowed_calls) {
    code.push_back(if_equal(static_cast<std::uint32_t>(number), 1));
    code.push_back(end(SECCOMP_RET_ALLOW));
  }
  code.push_back(end(refused));
  return code;
}

}  // namespace

bool enter_sandbox(std::uint64_t memory, std::uint64_t most_memory) {
  // Files are mapped, which is not their data: only what is allocated counts.
  const std::uint64_t own = private_memory();
  std::vector<sock_filter> code = filter();
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return own != 0 && limit(RLIMIT_DATA, own + memory, own + most_memory) && limit(RLIMIT_CORE, 0, 0) &&
         limit(RLIMIT_FSIZE, 0, 0) && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

}  // namespace tracer::debuginfo
