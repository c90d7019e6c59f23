// What 32-bit arm programs (EABI) do in a way of their own: 64-bit arguments in aligned pairs of registers, a different
// order of arguments, structures of 32-bit layout, calls of the processor's own. Compared with narrow.txt.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { arm_cacheflush = 0xf0002, arm_set_tls = 0xf0005, arm_get_tls = 0xf0006 };

static uint64_t far(void) {
  return 0x123456789aULL;
}

static void caught(int signal) {
  (void)signal;
}

int main(void) {
  char bytes[8];
  const unsigned low = (unsigned)far();
  const unsigned high = (unsigned)(far() >> 32);
  // Not in the way of glibc, which would choose other calls: each as the kernel has it.
  syscall(SYS_pread64, -1, bytes, sizeof bytes, 0, low, high);
  syscall(SYS_pwrite64, -1, "text", 4, 0, low, high);
  syscall(SYS_ftruncate64, -1, 0, low, high);
  syscall(SYS_truncate64, "/nowhere/file", 0, low, high);
  syscall(SYS_arm_fadvise64_64, -1, POSIX_FADV_DONTNEED, low, high, 7, 0);
  syscall(SYS_arm_sync_file_range, -1, SYNC_FILE_RANGE_WRITE, low, high, 7, 0);
  syscall(SYS_readahead, -1, 0, low, high, 4096);
  syscall(SYS_fallocate, -1, FALLOC_FL_KEEP_SIZE, low, high, 7, 0);
  syscall(SYS__llseek, -1, high, low, bytes, SEEK_SET);
  syscall(SYS_mmap2, 0, 4096, 1, 0x22, -1, 3);
  struct iovec parts[2] = {{"one", 3}, {"three", 5}};
  syscall(SYS_writev, -1, parts, 2);
  int32_t pause[2] = {0, 1000};
  syscall(SYS_nanosleep, pause, NULL);
  int64_t wide_pause[2] = {0, 1000};
  syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, wide_pause, NULL);
  char status[128];
  syscall(SYS_stat64, "/dev/null", status);
  syscall(SYS_ugetrlimit, 3, bytes);
  syscall(arm_cacheflush, bytes, bytes + sizeof bytes, 0);
  syscall(arm_set_tls, syscall(arm_get_tls));
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = caught;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  syscall(SYS_exit_group, 5);
}
