// What the live tests trace: `tracee MODE [ARG]`. Each mode says "ready" when it has reached its steady state, and what
// it prints besides is what the tests compare with an untraced run.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char* text) {
  puts(text);
  fflush(stdout);
}

static pthread_t start(void* (*body)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) != 0) {
    exit(3);
  }
  return thread;
}

static void* busy(void* unused) {
  (void)unused;
  for (;;) {
    for (int i = 0; i < 100; ++i) {
      syscall(SYS_getppid);
    }
    usleep(500);
  }
  return NULL;
}

// ARG busy threads; a line for each line read, so that a test can see that it is alive.
static int threads(const char* arg) {
  for (int i = 1; i < atoi(arg); ++i) {
    start(busy);
  }
  say("ready");
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    say("alive");
  }
  return 0;
}

static void* exec_true(void* unused) {
  (void)unused;
  execl("/proc/self/exe", "tracee", "hello", (char*)NULL);
  return NULL;
}

static void* exec_cat(void* unused) {
  (void)unused;
  execl("/bin/cat", "cat", (char*)NULL);
  return NULL;
}

// A thread other than the leader execs; with ARG "cat", that, when it has read a line.
static int exec_thread(const char* arg) {
  const int cat = strcmp(arg, "cat") == 0;
  char line[64];
  if (cat && fgets(line, sizeof line, stdin) == NULL) {
    return 1;
  }
  start(busy);
  start(cat ? exec_cat : exec_true);
  for (;;) {
    pause();
  }
}

static int hello(const char* arg) {
  (void)arg;
  say("hello");
  return 0;
}

static void* late_exit(void* unused) {
  (void)unused;
  usleep(100000);
  say("late");
  exit(7);
}

// The leader ends first and stays a zombie until the other thread ends the process.
static int zombie_leader(const char* arg) {
  (void)arg;
  start(late_exit);
  pthread_exit(NULL);
}

static int await_hello(pid_t child) {
  if (child == 0) {
    execl("/proc/self/exe", "tracee", "hello", (char*)NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int vfork_exec(const char* arg) {
  (void)arg;
  return await_hello(vfork());
}

// A child that has no memory of its own yet in which the texts are that it hands over.
static int fork_exec(const char* arg) {
  (void)arg;
  return await_hello(fork());
}

// Waits for a child that says so and then sleeps for long in its parent's memory.
static int vfork_sleep(const char* arg) {
  (void)arg;
  if (vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)!write(STDOUT_FILENO, "asleep\n", 7);
    sleep(1000);
    _exit(0);
  }
  return 0;
}

static volatile sig_atomic_t caught;
static void count_signal(int signal) {
  (void)signal;
  ++caught;
}

// Counts what ARG queued SIGUSR1 and blocking ones bring.
static int signals(const char* arg) {
  signal(SIGUSR1, count_signal);
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < atoi(arg); ++i) {
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = i});
  }
  printf("caught %d\n", (int)caught);
  return 0;
}

// ARG short-lived children, some of which make threads.
static int fork_storm(const char* arg) {
  say("ready");
  for (int i = 0; i < atoi(arg); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      start(busy);
      syscall(SYS_getppid);
      _exit(0);
    }
    if (i % 4 == 3) {
      while (waitpid(-1, NULL, 0) > 0) {
      }
    }
  }
  while (waitpid(-1, NULL, 0) > 0) {
  }
  say("done");
  return 0;
}

// Has a filter of its own, as sandboxes do, decide about a call.
static int answer_by_filter(unsigned call, unsigned answer) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int deny(unsigned call) {
  return answer_by_filter(call, SECCOMP_RET_ERRNO | EPERM);
}

static int killed_by_filter(const char* arg) {
  (void)arg;
  const struct rlimit no_core = {0, 0};
  if (setrlimit(RLIMIT_CORE, &no_core) != 0 || answer_by_filter(SYS_getppid, SECCOMP_RET_KILL_PROCESS) != 0) {
    return 3;
  }
  syscall(SYS_getppid);
  return 4;
}

static int own_filter(const char* arg) {
  (void)arg;
  if (deny(SYS_getppid) != 0) {
    return 3;
  }
  const long result = syscall(SYS_getppid);
  printf("getppid %s\n", result == -1 && errno == EPERM ? "denied" : "allowed");
  return 0;
}

static int refused_exit(const char* arg) {
  (void)arg;
  if (deny(SYS_exit) != 0) {
    return 3;
  }
  syscall(SYS_exit, 5);
  return 6;
}

static void* pause_for_ever(void* started) {
  sem_post(started);
  for (;;) {
    pause();
  }
}

static int exit_over_threads(const char* arg) {
  sem_t started;
  sem_init(&started, 0, 0);
  for (int i = atoi(arg); i > 0; --i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, pause_for_ever, &started) != 0) {
      return 3;
    }
    sem_wait(&started);
  }
  usleep(50000);
  return 6;
}

// Ends its first thread and lives on in another.
static int headless(const char* arg) {
  (void)arg;
  static sem_t started;
  pthread_t thread;
  sem_init(&started, 0, 0);
  if (pthread_create(&thread, NULL, pause_for_ever, &started) != 0) {
    return 3;
  }
  sem_wait(&started);
  say("ready");
  syscall(SYS_exit, 0);
  return 4;
}

// Asks about a device that cannot be, twice: until the first time the socket has no address.
static int ask_netlink(const char* arg) {
  (void)arg;
  const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  struct {
    struct nlmsghdr header;
    struct ifinfomsg link;
  } request = {{sizeof request, RTM_GETLINK, NLM_F_REQUEST, 1, 0}, {.ifi_index = 0x7fffffff}};
  const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  for (int i = 0; i < 2; ++i) {
    if (sendto(fd, &request, sizeof request, 0, (const struct sockaddr*)&kernel, sizeof kernel) < 0) {
      return 3;
    }
  }
  return 0;
}

// Makes a request that two file systems have, of a file, of a device and of a terminal, and one of terminals.
static int ask_devices(const char* file) {
  const int fds[] = {open(file, O_RDONLY), open("/dev/null", O_RDWR), open("/dev/ptmx", O_RDWR)};
  for (size_t i = 0; i < sizeof fds / sizeof fds[0]; ++i) {
    ioctl(fds[i], 0x40049409, -1);
    ioctl(fds[i], 0x5404, 0);
    ioctl(fds[i], 0x5603, 0);
    close(fds[i]);
  }
  return 0;
}

// Runs ARG... without PTRACE_GET_SYSCALL_INFO and process_vm_readv, as on an old kernel or in a sandbox.
static int poorly(char** args) {
  enum { get_syscall_info = 0x420e };
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, get_syscall_info, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    return 3;
  }
  execv(args[0], args);
  return 4;
}

// Does a call twenty times a second for ARG twentieths and prints whether one of them failed.
static int getppid_slowly(const char* arg) {
  say("ready");
  for (int i = 0; i < atoi(arg); ++i) {
    if (syscall(SYS_getppid) < 0) {
      say("failed");
      return 1;
    }
    usleep(50000);
  }
  say("worked");
  return 0;
}

// Leaves such a process behind and ends.
static int leave_behind(const char* arg) {
  if (fork() == 0) {
    return getppid_slowly(arg);
  }
  return 5;
}

// Sleeps as a call of its own until a signal ends that.
static int sleeper(const char* arg) {
  (void)arg;
  say("ready");
  for (;;) {
    pause();
  }
}

#if defined(__x86_64__)
static int int80(const char* arg) {
  (void)arg;
  long result = 64;  // getppid of i386
  __asm__ volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
  printf("%s\n", result == getppid() ? "same" : "different");
  return 0;
}
#endif

// A child that nobody collects; prints its id.
static int keep_zombie(const char* arg) {
  (void)arg;
  const pid_t child = fork();
  if (child == 0) {
    _exit(0);
  }
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  printf("%d\n", child);
  fflush(stdout);
  for (;;) {
    pause();
  }
}

// Stops itself by job control and says so when it goes on.
static int stop_self(const char* arg) {
  (void)arg;
  say("ready");
  raise(SIGSTOP);
  say("continued");
  return 0;
}

// A child that stops itself, and is continued once it has stopped.
static int stopped_child(const char* arg) {
  (void)arg;
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && kill(child, SIGCONT) == 0 &&
                 waitpid(child, &status, 0) == child && status == 0
             ? 0
             : 1;
}

// Whether a child that its maker's tracer must not follow, and a child of its own, can make calls; what it was made
// with is as it was, for both.
static int untraced_child_fails(long pid, const volatile uint64_t* flags) {
  if (pid == 0) {
    if (*flags != CLONE_UNTRACED || syscall(SYS_getppid) < 0) {
      _exit(1);
    }
    const pid_t own = fork();
    if (own == 0) {
      _exit(syscall(SYS_getppid) < 0);
    }
    int status = 0;
    waitpid(own, &status, 0);
    _exit(status != 0);
  }
  int status = 0;
  return pid < 0 || waitpid((pid_t)pid, &status, __WALL) != pid || status != 0 || *flags != CLONE_UNTRACED;
}

static int untraced(const char* arg) {
  (void)arg;
  uint64_t flags = CLONE_UNTRACED;
  long pid = 0;
#if defined(__x86_64__)
  // By hand: what the registers hold afterwards counts as well.
  register long r10 __asm__("r10") = 0;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(pid), "+D"(flags)
                   : "a"(SYS_clone), "S"(0L), "d"(0L), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
#else
  pid = syscall(SYS_clone, CLONE_UNTRACED, 0, 0, 0, 0);
#endif
  say(untraced_child_fails(pid, &flags) ? "clone: lost" : "clone: well");

  static const struct clone_args read_only = {.flags = CLONE_UNTRACED};
  pid = syscall(SYS_clone3, &read_only, sizeof read_only);
  say(untraced_child_fails(pid, (const volatile uint64_t*)&read_only.flags) ? "clone3: lost" : "clone3: well");

  struct clone_args wrong = {.flags = CLONE_UNTRACED | CLONE_SIGHAND};
  pid = syscall(SYS_clone3, &wrong, sizeof wrong);
  const volatile uint64_t* kept = (const volatile uint64_t*)&wrong.flags;
  say(pid != -1 || *kept != (CLONE_UNTRACED | CLONE_SIGHAND) ? "failed: lost" : "failed: well");
  return 0;
}

static const struct {
  const char* name;
  int (*run)(const char*);
} modes[] = {
    {"threads", threads},
    {"exec_thread", exec_thread},
    {"hello", hello},
    {"zombie_leader", zombie_leader},
    {"vfork_exec", vfork_exec},
    {"fork_exec", fork_exec},
    {"killed_by_filter", killed_by_filter},
    {"vfork_sleep", vfork_sleep},
    {"signals", signals},
    {"fork_storm", fork_storm},
    {"own_filter", own_filter},
    {"refused_exit", refused_exit},
    {"ask_netlink", ask_netlink},
    {"ask_devices", ask_devices},
    {"exit_over_threads", exit_over_threads},
    {"headless", headless},
    {"getppid_slowly", getppid_slowly},
    {"leave_behind", leave_behind},
    {"sleeper", sleeper},
#if defined(__x86_64__)
    {"int80", int80},
#endif
    {"keep_zombie", keep_zombie},
    {"stop_self", stop_self},
    {"stopped_child", stopped_child},
    {"untraced", untraced},
};

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "poorly") == 0) {
    return poorly(argv + 2);
  }
  for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof modes[0]; ++i) {
    if (strcmp(argv[1], modes[i].name) == 0) {
      return modes[i].run(argc > 2 ? argv[2] : "1");
    }
  }
  return 2;
}
