// Memory, scheduling, capabilities and attributes of a process, in calls that succeed.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096 };

static void policies(char* memory) {
  unsigned long nodes[2] = {1, 0};
  int mode;
  for (int kind = 0; kind < 6; kind++) {
    syscall(SYS_set_mempolicy, kind, kind % 4 == 0 ? NULL : nodes, 8);
    syscall(SYS_get_mempolicy, &mode, nodes, 64, NULL, 0);
    nodes[0] = 1;
    syscall(SYS_mbind, memory, page, kind, kind % 4 == 0 ? NULL : nodes, 8, kind % 2 == 0 ? 0 : 3);
    syscall(SYS_get_mempolicy, &mode, nodes, 64, memory, 2);
    nodes[0] = 1;
  }
  syscall(SYS_set_mempolicy, 2 | 1 << 15, nodes, 64);
  syscall(SYS_set_mempolicy, 3 | 1 << 14, nodes, 8);
  syscall(SYS_set_mempolicy, 0, NULL, 0);
  syscall(SYS_get_mempolicy, NULL, nodes, 64, NULL, 4);
  syscall(450, memory, (unsigned long)page, 0UL, 0UL);  // set_mempolicy_home_node
  syscall(SYS_migrate_pages, 0, 8, nodes, nodes);
  void* pages[2] = {memory, (void*)0x1000};
  const int to[2] = {0, 0};
  int status[2];
  syscall(SYS_move_pages, 0, 2, pages, to, status, 2);
}

static void mappings(char* memory) {
  for (int advice = 0; advice < 26; advice++) {
    if (advice != MADV_REMOVE && advice != MADV_DONTNEED) {
      madvise(memory + page, page, advice);
    }
  }
  mlock2(memory, page, 0);
  mlock2(memory, page, MLOCK_ONFAULT);
  mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
  munlockall();
  mremap(memory, page, page, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL);
  const int file = memfd_create("placed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ftruncate(file, 3 * page);
  char* shared = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  remap_file_pages(shared, page, 0, 2, 0);
  mmap(shared, page, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
#ifdef MAP_32BIT
  mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_32BIT | MAP_LOCKED | MAP_ANONYMOUS, -1, 0);
#endif
  const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
  pkey_mprotect(shared, page, PROT_READ | PROT_WRITE, -1);
  pkey_free(key);
  unsigned char resident[3];
  shared[2 * page] = 1;
  mincore(shared, 3 * page, resident);
  struct iovec local[2] = {{memory, 8}, {memory + 8, 8}}, remote = {shared, 16};
  process_vm_readv(getpid(), local, 2, &remote, 1, 0);
  process_vm_writev(getpid(), local, 2, &remote, 1, 0);
  const int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  syscall(440, self, &remote, 1, MADV_WILLNEED, 0);  // process_madvise
  syscall(448, self, 0);                             // process_mrelease
  syscall(447, O_CLOEXEC);                           // memfd_secret
}

static void scheduling(void) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  sched_setaffinity(getpid(), sizeof cpus, &cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  struct sched_param parameters = {5};
  for (int policy = 0; policy < 7; policy++) {
    sched_get_priority_max(policy);
    sched_get_priority_min(policy);
  }
  sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters);
  sched_getscheduler(0);
  sched_getparam(0, &parameters);
  parameters.sched_priority = 7;
  sched_setparam(0, &parameters);
  struct timespec slice;
  sched_rr_get_interval(0, &slice);
  struct {
    unsigned size, policy;
    unsigned long long flags;
    int nice;
    unsigned priority;
    unsigned long long runtime, deadline, period;
    unsigned least, most;
  } attributes;
  syscall(SYS_sched_getattr, 0, &attributes, 56, 0);
  memset(&attributes, 0, sizeof attributes);
  attributes.size = 48;
  attributes.policy = SCHED_IDLE;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  attributes.policy = SCHED_BATCH;
  attributes.nice = 3;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  attributes.policy = SCHED_OTHER;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  syscall(SYS_sched_getattr, 0, &attributes, 48, 0);
  for (int class = 0; class < 4; class ++) {
    syscall(SYS_ioprio_set, 1, 0, class << 13 | 2);
    syscall(SYS_ioprio_get, 1, 0);
  }
  syscall(SYS_ioprio_get, 3, 0);
  getpriority(PRIO_USER, 0);
  unsigned cpu, node;
  syscall(SYS_getcpu, &cpu, &node, NULL);
}

static void barriers(void) {
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
  syscall(SYS_membarrier, 1 << 7, 1, 0);
  struct {
    void* list;
    long offset;
    void* pending;
  } robust = {&robust, 0, NULL};
  syscall(SYS_set_robust_list, &robust, sizeof robust);
  void* head;
  size_t length;
  syscall(SYS_get_robust_list, 0, &head, &length);
  static struct rseq area __attribute__((aligned(32)));
  syscall(SYS_rseq, &area, 32, 0, 0x53053053);
  syscall(SYS_rseq, &area, 32, RSEQ_FLAG_UNREGISTER, 0x53053053);
}

static void attributes(void) {
  long got = 0;
  prctl(PR_SET_KEEPCAPS, 1);
  prctl(PR_GET_KEEPCAPS);
  prctl(PR_GET_SECUREBITS);
  prctl(PR_SET_SECUREBITS, 0x10 | 4);
  prctl(PR_GET_SECUREBITS);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_RAW, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  prctl(PR_CAPBSET_DROP, CAP_MAC_ADMIN);
  prctl(PR_CAPBSET_READ, CAP_MAC_ADMIN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_GET_CHILD_SUBREAPER, &got);
  prctl(PR_SET_TIMERSLACK, 60000);
  prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
  prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0);
  prctl(PR_MCE_KILL_GET, 0, 0, 0, 0);
  prctl(PR_GET_TSC, &got);
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
  prctl(PR_GET_TIMING);
  prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  prctl(PR_GET_IO_FLUSHER, 0, 0, 0, 0);
  prctl(PR_GET_TID_ADDRESS, &got);
  prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_FORCE_DISABLE, 0, 0);
  prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, 0, 0, &got);
  prctl(PR_SET_MM, PR_SET_MM_ARG_START, getauxval(AT_EXECFN), 0, 0);
  prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &got, 0, 0);
  char* named = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, named, page, "named");
  prctl(PR_GET_PDEATHSIG, &got);
  prctl(PR_TASK_PERF_EVENTS_DISABLE);
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_GET_DUMPABLE);
  prctl(PR_SET_DUMPABLE, 1);
  personality(PER_LINUX | ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC);
  personality(0xffffffff);
  personality(PER_LINUX32);
#ifdef __x86_64__
  unsigned long base;
  syscall(SYS_arch_prctl, 0x1003, &base);  // ARCH_GET_FS
  syscall(SYS_arch_prctl, 0x1004, &base);
  syscall(SYS_arch_prctl, 0x1001, 0);
#endif
#ifdef SYS_arch_prctl
  syscall(SYS_arch_prctl, 0x1011);
  syscall(SYS_arch_prctl, 0x1021, &got);
#endif
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_1, 0};
  struct __user_cap_data_struct sets[2];
  syscall(SYS_capget, &head, sets);
  syscall(SYS_capset, &head, sets);
  head.version = _LINUX_CAPABILITY_VERSION_3;
  head.pid = getpid();
  syscall(SYS_capget, &head, sets);
  sets[0].inheritable = 1 << CAP_CHOWN | 1 << CAP_KILL;
  syscall(SYS_capset, &head, sets);
  head.version = 5;
  syscall(SYS_capget, &head, NULL);
}

static void futexes(void) {
  static unsigned words[4];
  const struct timespec instant = {0, 1000};
  const struct timespec past = {1, 0};
  syscall(SYS_futex, words, FUTEX_LOCK_PI_PRIVATE, 0, NULL);
  syscall(SYS_futex, words, FUTEX_UNLOCK_PI_PRIVATE);
  syscall(SYS_futex, words, FUTEX_TRYLOCK_PI);
  syscall(SYS_futex, words, FUTEX_UNLOCK_PI);
  syscall(SYS_futex, words, 13 /* FUTEX_LOCK_PI2 */ | FUTEX_PRIVATE_FLAG, 0, &past);
  syscall(SYS_futex, words + 1, FUTEX_WAIT_BITSET_PRIVATE, 0, &past, NULL, 5);
  syscall(SYS_futex, words + 1, FUTEX_WAKE_BITSET, 1, NULL, NULL, 5);
  syscall(SYS_futex, words + 1, FUTEX_CMP_REQUEUE, 1, 1, words + 2, 0);
  syscall(SYS_futex, words + 1, FUTEX_CMP_REQUEUE_PI, 1, 1, words + 3, 0);
  syscall(SYS_futex, words + 1, FUTEX_WAIT_REQUEUE_PI, 0, &past, words + 3, 0);
  for (int operation = 0; operation < 5; operation++) {
    for (int comparison = 0; comparison < 6; comparison++) {
      syscall(SYS_futex, words + 1, FUTEX_WAKE_OP, 1, 1, words + 2, FUTEX_OP(operation, 1, comparison, 2));
    }
  }
  syscall(SYS_futex, words + 1, FUTEX_WAKE_OP, 1, 1, words + 2,
          FUTEX_OP(FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_EQ, 2));
  words[1] = 0;
  syscall(SYS_futex, words + 1, FUTEX_WAIT, 0, &instant);
}

static void clocks(void) {
  struct timex times;
  memset(&times, 0, sizeof times);
  adjtimex(&times);
  times.modes = ADJ_OFFSET_SS_READ;
  clock_adjtime(CLOCK_REALTIME, &times);
  struct timespec now;
  clock_getres(CLOCK_MONOTONIC_COARSE, &now);
  clock_getres(CLOCK_TAI, NULL);
}

int main(void) {
  char* memory = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory[0] = 1;
  policies(memory);
  mappings(memory);
  scheduling();
  barriers();
  attributes();
  futexes();
  clocks();
  return 0;
}
