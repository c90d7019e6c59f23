// A program whose calls are known. calls MODE [N [THREADS]]
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long count = 1000;
static volatile sig_atomic_t handled;
static int zero;

static void on_signal(int signal) {
  (void)signal;
  ++handled;
  getppid();
}

static void must(int holds, const char* what) {
  if (!holds) {
    dprintf(1, "wrong: %s (errno %d)\n", what, errno);
    _exit(1);
  }
}

static void* work(void* unused) {
  for (long i = 0; i < count; ++i) {
    getppid();
  }
  return unused;
}

static void threads(int number) {
  pthread_t all[128];
  work(NULL);  // the place is patched while there is one thread
  for (int i = 0; i < number; ++i) {
    pthread_create(&all[i], NULL, work, NULL);
  }
  for (int i = 0; i < number; ++i) {
    pthread_join(all[i], NULL);
  }
}

static void forks(void) {
  for (volatile long i = 0; i < count; ++i) {
    const pid_t child = i % 2 == 0 ? fork() : vfork();
    if (child == 0) {
      if (i % 2 == 0) {
        for (int j = 0; j < 8; ++j) {
          getppid();
        }
      }
      _exit((int)(i % 8));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != i % 8) {
      abort();
    }
  }
}

/// Signals come while calls run, and every call is made to its end or says EINTR as it should.
static void signals(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = flags;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, NULL);
  int pipes[2];
  if (pipe(pipes) != 0) {
    abort();
  }
  const pid_t child = fork();
  if (child == 0) {
    close(pipes[0]);
    for (long i = 0; i < count; ++i) {
      const struct timespec moment = {0, 300000};
      nanosleep(&moment, NULL);
      if (write(pipes[1], "x", 1) != 1) {
        _exit(1);
      }
    }
    _exit(0);
  }
  close(pipes[1]);
  long got = 0;
  long interrupted = 0;
  for (;;) {
    char byte = 0;
    const ssize_t size = read(pipes[0], &byte, 1);
    if (size == 0) {
      break;
    }
    if (size == 1 && byte == 'x') {
      ++got;
    } else if (size < 0 && errno == EINTR && (flags & SA_RESTART) == 0) {
      ++interrupted;
    } else {
      printf("read: %zd %s\n", size, strerror(errno));
      exit(1);
    }
    getppid();
  }
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  waitpid(child, NULL, 0);
  printf("%ld bytes, %s, %s\n", got, handled > 0 ? "handled" : "not handled",
         (interrupted > 0) == ((flags & SA_RESTART) == 0) ? "as it should be" : "restarted wrongly");
}

// A number that two drivers share, by a descriptor that is another device soon after.
static void devices(void) {
  const int terminal = open("/dev/ptmx", O_RDWR);
  const int null = open("/dev/null", O_RDWR);
  for (long i = 0; i < count; ++i) {
    const int copy = dup(i % 2 != 0 ? terminal : null);
    ioctl(copy, TCSETSF, NULL);
    close(copy);
  }
}

/// Descriptors of all kinds, which others take the place of at once: what one stands for is known at the call only.
static void descriptors(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/calls-%d", getpid());
  for (long i = 0; i < count; ++i) {
    char byte = 0;
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const int again = dup(file);
    if (write(again, "x", 1) != 1 || lseek(again, 0, SEEK_SET) != 0 || dup2(zero, file) != file ||
        read(file, &byte, 1) != 1) {
      abort();
    }
    unlink(path);
    fsync(again);
    close(again);
    close(file);
    const int directory = open("/etc", O_RDONLY | O_DIRECTORY);
    const int there = openat(directory, "passwd", O_RDONLY);
    struct pollfd polled[2] = {{there, POLLIN, 0}, {directory, POLLIN, 0}};
    poll(polled, 2, 0);
    close(there);
    close(directory);
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "y", 1) != 1 || read(ends[0], &byte, 1) != 1) {
      abort();
    }
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval none = {0, 0};
    select(ends[0] + 1, &set, NULL, NULL, &none);
    close(ends[0]);
    close(ends[1]);
    close(1000);
    const int pair = socket(AF_UNIX, SOCK_STREAM, 0);
    getpeername(pair, NULL, NULL);
    close(pair);
    const int events = eventfd(3, 0);
    unsigned long value = 0;
    if (read(events, &value, sizeof value) != sizeof value) {
      abort();
    }
    close(events);
    const int memory = memfd_create("calls", 0);
    ftruncate(memory, 4096);
    if (pread(memory, &byte, 1, 0) != 1) {
      abort();
    }
    close(memory);
    kill(getpid(), 0);
  }
}

/// Files whose names end as if they were deleted, and are not, or are.
static void odd_names(void) {
  char path[80];
  char link_to[96];
  snprintf(path, sizeof path, "/tmp/calls-%d (deleted)", getpid());
  snprintf(link_to, sizeof link_to, "%s (deleted)", path);
  for (long i = 0; i < count; ++i) {
    char byte = 0;
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    pread(file, &byte, 1, 0);
    link(path, link_to);
    unlink(path);
    pread(file, &byte, 1, 0);
    close(open(link_to, O_RDONLY));
    unlink(link_to);
    pread(file, &byte, 1, 0);
    close(file);
  }
}

/// Stacks that are larger than what anybody copies, too.
__attribute__((noinline)) static long deep(long depth) {
  volatile char room[1000];
  room[0] = 0;
  if (depth > 0) {
    return deep(depth - 1) + getppid();
  }
  return 0;
}

/// Another root directory: where it needs rights that are not there, it is a failed call among others.
static void roots(void) {
  for (long i = 0; i < count; ++i) {
    close(open("/etc/passwd", O_RDONLY));
  }
  if (chroot("/usr") == 0 || errno == EPERM) {
    for (long i = 0; i < count; ++i) {
      const int directory = open("/bin", O_RDONLY | O_DIRECTORY);
      close(openat(directory, "env", O_RDONLY));
      close(directory);
    }
  }
}

/// Pointers that lead nowhere, to the end of a page, and to memory that goes away.
static void pointers(void) {
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  memset(pages, 'a', 4096);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);  // SIGSEGV, too: nothing may come of what a tracer reads
  struct iovec vector[2] = {{pages + 4090, 6}, {pages + 4000, 200}};
  for (long i = 0; i < count; ++i) {
    open((const char*)8, O_RDONLY);
    open(pages + 4092, O_RDONLY);
    open("/nonexistent", O_RDONLY);
    writev(zero, vector, 2);
    writev(zero, (struct iovec*)(pages + 4088), 2);
    access((const char*)~0UL, R_OK);
    read(zero, pages + 4000, 90);
    open(pages + 4092, O_RDONLY);
    if (i % 2 == 0) {
      munmap(pages, 4096);
    } else {
      mprotect(pages, 4096, PROT_NONE);
    }
    open(pages, O_RDONLY);
    mmap(pages, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset(pages, 'a', 4096);
  }
  struct sigaction now;
  sigaction(SIGSEGV, NULL, &now);
  sigset_t mask;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  printf("SIGSEGV is %s and %s\n", now.sa_handler == SIG_DFL ? "default" : "changed",
         sigismember(&mask, SIGSEGV) == 1 ? "blocked" : "not blocked");
}

/// Stops that come at any moment, while the tracer prepares the recording, too.
static void stops(void) {
  for (int i = 0; i < 10; ++i) {
    getppid();
  }
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    while (child == 0) {
      getppid();
    }
    const struct timespec moment = {0, (i % 64) * 5000};
    nanosleep(&moment, NULL);
    int status = 0;
    kill(child, SIGSTOP);
    if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) {
      abort();
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
}

/// The program wants memory of its own where the tracer's is.
static void mappings(void) {
  char* const recorder = (char*)0x7ea000000000;
  const size_t size = 0x9000000;
  work(NULL);
  char* own = mmap(recorder + 0x800000, size - 0x800000, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  work(NULL);
  for (size_t i = 0; i < size - 0x800000; i += 512) {
    if (own[i] != 0) {
      puts("somebody has written to new memory");
      return;
    }
  }
  munmap(recorder, size);
  work(NULL);
}

static void* scribble(void* unused) {
  char* const area = (char*)0x7ea000801000;  // the first one, of the main thread
  unsigned long* const ring = (unsigned long*)(area + 65536);
  unsigned long number = 88172645463325252UL;
  for (long i = 0;; ++i) {
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    const unsigned long small[] = {number % 512, number % 8, 0x10000 | (number % 3), number, number % 4096, 112};
    ring[number / 64 % (1UL << 17)] = small[i % 6];
    if (i % 100000 == 0) {
      *(volatile unsigned long*)(area + 144) += number % (1UL << 20);  // ThreadArea::written
    }
  }
  return unused;
}

/// Writes nonsense where its calls are recorded, at any time. What is shown is its own affair.
static void forged(void) {
  work(NULL);
  char path[64] = "/etc/passwd";
  pthread_t other;
  pthread_create(&other, NULL, scribble, NULL);
  for (long i = 0; i < count; ++i) {
    getppid();
    close(open(path, O_RDONLY));
    access(path, R_OK);
  }
  exit(0);
}

/// A child can neither see what threads of its parent return to, nor change the code that they run.
static void children(void) {
  work(NULL);
  char* const code = (char*)0x7ea000000000;
  const pid_t child = fork();
  if (child == 0) {
    must(mprotect(code, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0, "code of others is read-only");
    must(msync(code + 0x801000, 4096, MS_ASYNC) != 0, "areas are the parent's own");
    work(NULL);
    _exit(0);
  }
  int status = 1;
  must(waitpid(child, &status, 0) == child && status == 0, "child");
}

/// Memory of a file that is truncated: the call fails, and SIGBUS stays as the program has set it.
static void truncation(void) {
  struct sigaction action = {.sa_handler = on_signal};
  struct sigaction found;
  sigset_t set;
  sigset_t blocked;
  char path[] = "/tmp/truncation-XXXXXX";
  const int file = mkstemp(path);
  must(file >= 0 && ftruncate(file, 4096) == 0, "file");
  const char* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  const int output = memfd_create("out", 0);
  sigaction(SIGBUS, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGBUS);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (long i = 0; i < count; ++i) {
    close(open(path, O_RDWR));
    must(write(output, memory, 64) == 64, "write");
  }
  close(open(path, O_RDWR | O_TRUNC));
  must(write(output, memory, 64) == -1 && errno == EFAULT, "EFAULT");
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  sigaction(SIGBUS, NULL, &found);
  must(sigismember(&blocked, SIGBUS) == 1 && found.sa_handler == on_signal, "SIGBUS is as it was");
  unlink(path);
}

static int clone_body(void* unused) {
  (void)unused;
  work(NULL);
  return 7;
}

/// Processes that have their memory and their thread-local data in common, and run at once.
static void shared(void) {
  enum { stack_size = 65536 };
  char* stack = malloc(stack_size);
  for (int i = 0; i < 10; ++i) {
    work(NULL);
    const pid_t child = clone(clone_body, stack + stack_size, CLONE_VM | SIGCHLD, NULL);
    work(NULL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
      abort();
    }
  }
}

static void execs(char* self) {
  if (count > 0) {
    char rest[32];
    snprintf(rest, sizeof rest, "%ld", count - 1);
    for (int i = 0; i < 8; ++i) {
      getppid();
    }
    execl(self, self, "execs", rest, (char*)NULL);
  }
}

/// A tight loop with a checksum of the registers that a call must leave alone.
#ifdef __aarch64__
static void registers(void) {
  for (long i = 0; i < count; ++i) {
    unsigned long before[32], after[32];
    double vectors[2] = {(double)i, 0};
    for (unsigned k = 0; k < 32; ++k) {
      before[k] = (unsigned long)i * 31 + k;
    }
    before[30] = (unsigned long)(i % 16) << 28;  // NZCV
    register unsigned long* from asm("x19") = before;
    register unsigned long* to asm("x20") = after;
    register double* vector asm("x21") = vectors;
    asm volatile(
        "sub sp, sp, #256\n str x19, [sp, #8]\n"
        "ldr d9, [x21]\n ldr d20, [x21]\n"
        "ldr x1, [x19, #240]\n msr nzcv, x1\n"
        "ldp x1, x2, [x19, #8]\n ldp x3, x4, [x19, #24]\n ldp x5, x6, [x19, #40]\n ldr x7, [x19, #56]\n"
        "ldp x9, x10, [x19, #72]\n ldp x11, x12, [x19, #88]\n ldp x13, x14, [x19, #104]\n ldp x15, x16, [x19, #120]\n"
        "ldp x17, x18, [x19, #136]\n ldp x22, x23, [x19, #176]\n ldp x24, x25, [x19, #192]\n ldp x26, x27, [x19, "
        "#208]\n"
        "ldp x28, x30, [x19, #224]\n"
        "mov x8, #173\n"
        "svc #0\n"
        "str x0, [x20]\n"
        "stp x1, x2, [x20, #8]\n stp x3, x4, [x20, #24]\n stp x5, x6, [x20, #40]\n stp x7, x8, [x20, #56]\n"
        "stp x9, x10, [x20, #72]\n stp x11, x12, [x20, #88]\n stp x13, x14, [x20, #104]\n stp x15, x16, [x20, #120]\n"
        "stp x17, x18, [x20, #136]\n stp x22, x23, [x20, #176]\n stp x24, x25, [x20, #192]\n"
        "stp x26, x27, [x20, #208]\n stp x28, x30, [x20, #224]\n mrs x1, nzcv\n str x1, [x20, #240]\n"
        "fadd d9, d9, d20\n str d9, [x21, #8]\n"
        "ldr x1, [sp, #8]\n str x1, [x20, #152]\n add sp, sp, #256"
        :
        : "r"(from), "r"(to), "r"(vector)
        : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
          "x17", "x18", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v9", "v20", "memory", "cc");
    before[0] = (unsigned long)getppid();
    before[8] = 173;
    before[19] = (unsigned long)before;
    for (unsigned k = 0; k < 31; ++k) {
      if (before[k] != after[k] && k != 20 && k != 21) {
        printf("register %u has changed: %lx instead of %lx\n", k, after[k], before[k]);
        exit(1);
      }
    }
    must(vectors[1] == 2 * (double)i, "vectors");
  }
}
#else
static void registers(void) {
  for (long i = 0; i < count; ++i) {
    long rbx = i, r12 = ~i, r13 = i * 3, result = 0;
    unsigned long before = 0, after = 0;
    register long r8 asm("r8") = 8, r9 asm("r9") = 9, r10 asm("r10") = 10;
    long rdx = 2, rsi = 3, rdi = 4;
    asm volatile(
        "sub $256, %%rsp\n movq $77, 128(%%rsp)\n cmp $1, %%edi\n pushf\n pop %[before]\n mov $110, %%eax\n"
        "syscall\n"
        "pushf\n pop %[after]\n add $256, %%rsp"
        : "=a"(result), [before] "=&r"(before), [after] "=&r"(after), "+b"(rbx), "+d"(rdx), "+S"(rsi), "+D"(rdi),
          "+r"(r8), "+r"(r9), "+r"(r10)
        : [r12] "r"(r12), [r13] "r"(r13)
        : "rcx", "r11", "memory", "cc");
    if (rbx != i || r12 != ~i || r13 != i * 3 || r8 != 8 || r9 != 9 || r10 != 10 || rdx != 2 || rsi != 3 || rdi != 4 ||
        before != after || result != getppid()) {
      puts("a register has changed");
      exit(1);
    }
  }
}
#endif

static volatile sig_atomic_t ending;

static void on_end(int signal) {
  (void)signal;
  ending = 1;
}

/// Checks the results of calls of all kinds: short, blocking, interrupted, with signals blocked.
static void* busy(void* number) {
  const long mine = (long)number;
  int ends[2];
  must(pipe(ends) == 0, "pipe");
  sigset_t all, before, now;
  sigfillset(&all);
  for (long i = 0; ending == 0; ++i) {
    char byte = 0;
    must(getppid() > 0, "getppid");
    must(read(zero, &byte, 1) == 1 && byte == 0, "read of zero");
    must(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1 && byte == 'x', "pipe of its own");
    must(close(-1) == -1 && errno == EBADF, "close");
    if (i % 16 == mine % 16) {
      pthread_sigmask(SIG_SETMASK, &all, &before);
      must(getppid() > 0, "getppid with signals blocked");
      pthread_sigmask(SIG_SETMASK, NULL, &now);
      must(sigismember(&now, SIGSYS) == 1 && sigismember(&now, SIGTRAP) == 1, "mask");
      pthread_sigmask(SIG_SETMASK, &before, NULL);
      const struct timespec moment = {0, 200000};
      must(nanosleep(&moment, NULL) == 0 || errno == EINTR, "nanosleep");
      struct pollfd polled = {ends[0], POLLIN, 0};
      const int ready = poll(&polled, 1, 1);
      must(ready == 0 || (ready == -1 && errno == EINTR), "poll");
    }
    if (i % 64 == 0 && mine == 0) {
      pthread_kill(pthread_self(), SIGUSR1);
    }
  }
  return NULL;
}

static int endless;

static void make_endless_pipe(void) {
  int ends[2];
  must(pipe(ends) == 0, "pipe");
  endless = ends[0];
}

static void* idle(void* unused) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char byte;
  pthread_once(&once, make_endless_pipe);
  while (ending == 0) {
    const ssize_t got = read(endless, &byte, 1);  // nothing ever comes
    must(got == -1 && errno == EINTR && ending != 0, "endless read");
  }
  return unused;
}

/// Runs until SIGTERM, in threads, and says whether all was as it should be. What is odd makes children, too. Only the
/// first few threads are busy.
static void run_until_told(int threads_wanted) {
  enum { most_threads = 2000, most_busy = 8 };
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_end;
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  static pthread_t all[most_threads + 1];
  must(threads_wanted <= most_threads, "threads");
  const int busy_ones = threads_wanted < most_busy ? threads_wanted : most_busy;
  for (long i = 0; i <= threads_wanted; ++i) {
    must(pthread_create(&all[i], NULL, i < busy_ones ? busy : idle, (void*)i) == 0, "thread");
  }
  dprintf(1, "ready\n");
  while (ending == 0 && count > 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 20; ++i) {
        getppid();
      }
      _exit(7);
    }
    int status = 0;
    while (waitpid(child, &status, 0) != child) {
      must(errno == EINTR, "waitpid");
    }
    errno = status;
    must(WIFEXITED(status) && WEXITSTATUS(status) == 7, "child");
    pthread_t other;
    pthread_create(&other, NULL, work, NULL);
    pthread_join(other, NULL);
  }
  for (int i = 0; i <= threads_wanted; ++i) {
    if (i >= busy_ones) {
      pthread_kill(all[i], SIGTERM);
    }
    pthread_join(all[i], NULL);
  }
  dprintf(1, "all right\n");
}

/// Waits for a line, and then makes calls that are known.
static void when_told(char* self, int executes) {
  char byte = 0;
  dprintf(1, "ready\n");
  must(read(0, &byte, 1) == 1 && byte == 'g', "told");
  pthread_t other;
  work(NULL);
  if (executes) {
    execl(self, self, "execs", "4", (char*)NULL);
  }
  must(pthread_create(&other, NULL, work, NULL) == 0, "thread");
  for (long i = 0; i < count; ++i) {
    must(read(zero, &byte, 1) == 1, "read");
    close(open("/etc/passwd", O_RDONLY));
    access("/nonexistent", R_OK);
  }
  pthread_join(other, NULL);
  const pid_t child = fork();
  if (child == 0) {
    work(NULL);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  dprintf(1, "all right\n");
}

/// A filter that lets everything pass.
static void install_filter(void) {
  struct sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const struct sock_fprog program = {1, allow};
  must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
       "filter");
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  count = argc > 2 ? atol(argv[2]) : count;
  zero = open("/dev/zero", O_RDWR);
  if (strcmp(mode, "threads") == 0) {
    threads(argc > 3 ? atoi(argv[3]) : 8);
  } else if (strcmp(mode, "forks") == 0) {
    forks();
  } else if (strcmp(mode, "restart") == 0) {
    signals(SA_RESTART);
  } else if (strcmp(mode, "interrupt") == 0) {
    signals(0);
  } else if (strcmp(mode, "pointers") == 0) {
    pointers();
  } else if (strcmp(mode, "devices") == 0) {
    devices();
  } else if (strcmp(mode, "descriptors") == 0) {
    descriptors();
  } else if (strcmp(mode, "odd-names") == 0) {
    odd_names();
  } else if (strcmp(mode, "deep") == 0) {
    // At the end of its mapping, and with a third argument one that the kernel forgets while it is used.
    enum { other_size = 65536 };
    stack_t other = {mmap(NULL, other_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                     argc > 3 ? (int)(1U << 31) : 0, other_size};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    sigaltstack(&other, NULL);
    for (int i = 0; i < 10; ++i) {
      deep(i % 2 == 0 ? 3 * count : count / 4);
      raise(SIGUSR1);
    }
  } else if (strcmp(mode, "when-told") == 0) {
    when_told(argv[0], argc > 3);
  } else if (strcmp(mode, "until-told") == 0) {
    if (argc > 4) {
      install_filter();
    }
    run_until_told(argc > 3 ? atoi(argv[3]) : 4);
  } else if (strcmp(mode, "forged") == 0) {
    forged();
  } else if (strcmp(mode, "children") == 0) {
    children();
  } else if (strcmp(mode, "truncation") == 0) {
    truncation();
  } else if (strcmp(mode, "roots") == 0) {
    roots();
  } else if (strcmp(mode, "stops") == 0) {
    stops();
  } else if (strcmp(mode, "mappings") == 0) {
    mappings();
  } else if (strcmp(mode, "shared") == 0) {
    shared();
  } else if (strcmp(mode, "execs") == 0) {
    execs(argv[0]);
  } else if (strcmp(mode, "registers") == 0) {
    registers();
  } else {
    for (long i = 0; i < count; ++i) {
      char byte = 0;
      getppid();
      if (read(zero, &byte, 1) != 1) {
        abort();
      }
    }
  }
  return 0;
}
