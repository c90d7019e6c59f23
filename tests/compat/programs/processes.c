// MANY: forks, executions, ends and the waiting for them; ids, limits and accounting.
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t ended;  // SIGCHLD is blocked, since it may come before a wait returns or after it

// Takes the SIGCHLD of a child that has been waited for.
static void take_signal(void) {
  sigprocmask(SIG_UNBLOCK, &ended, NULL);
  sigprocmask(SIG_BLOCK, &ended, NULL);
}

static void child(void (*body)(void)) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(99);
  }
  int status;
  struct rusage usage;
  wait4(pid, &status, 0, &usage);
  take_signal();
}

static void ends(void) {
  exit(7);
}
static void aborts(void) {
  abort();
}
static void killed(void) {
  kill(getpid(), SIGKILL);
}
static void faults(void) {
  *(volatile int*)16 = 1;
}
static void divides(void) {
  volatile int zero = 0;
  zero = 1 / zero;
}

static void executes(void) {
  char* arguments[] = {"cat", "an \"argument\"", "\001\377", NULL};
  char* environment[] = {"A=1", "B=", NULL};
  execve("/missing", arguments, environment);
  execve("/mnt/work/hello.c", arguments, environment);
  execve(NULL, (char**)1, NULL);
  execve("data", arguments, NULL);
  syscall(SYS_execveat, AT_FDCWD, "bin/true", arguments, environment, AT_SYMLINK_NOFOLLOW);
  execve("/bin/true", arguments, environment);
}

static void stops(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  siginfo_t info;
  waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT);
  int status;
  waitpid(pid, &status, WUNTRACED);
  take_signal();
  kill(pid, SIGCONT);
  waitpid(pid, &status, 0);
  take_signal();
  waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
  waitpid(-1, &status, WNOHANG);
  waitpid(-5, NULL, WNOHANG | __WALL | __WCLONE);
}

static void ids(void) {
  getpid();
  getppid();
  syscall(SYS_gettid);
  getuid();
  getresuid(&(uid_t){0}, &(uid_t){0}, &(uid_t){0});
  getresgid((gid_t*)1, NULL, NULL);
  setresuid(-1, 0, -1);
  setreuid(0, -1);
  setfsuid(0);
  gid_t groups[3] = {1, 2, 3};
  setgroups(3, groups);
  getgroups(3, groups);
  getgroups(0, NULL);
  setpgid(0, 0);
  getpgid(0);
  getsid(12345);
  setsid();
  getpgrp();
}

static void limits(void) {
  struct rlimit limit = {1024, RLIM_INFINITY};
  getrlimit(RLIMIT_CORE, &limit);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 4096});
  prlimit(0, RLIMIT_NOFILE, NULL, &limit);
  prlimit(0, 77, &limit, NULL);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  getrusage(55, &usage);
  struct tms ticks;
  times(&ticks);
  getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PGRP, 0, 5);
  nice(1);
  struct utsname name;
  uname(&name);
  uname((struct utsname*)1);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  sched_yield();
  struct sched_param parameters = {0};
  sched_getparam(0, &parameters);
  sched_setscheduler(0, SCHED_BATCH, &parameters);
  sched_getscheduler(0);
  sched_get_priority_max(SCHED_FIFO);
  struct timespec slice;
  sched_rr_get_interval(12345678, &slice);
  syscall(SYS_personality, 0xffffffff);
  syscall(SYS_unshare, 0);
  syscall(SYS_clone3, &(struct clone_args){.flags = CLONE_THREAD, .exit_signal = SIGCHLD}, 64);
  syscall(SYS_pidfd_open, 12345678, 0);
  acct("missing");
}

int main(void) {
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, NULL);
  child(ends);
  child(aborts);
  child(killed);
  child(faults);
  child(divides);
  child(executes);
  child(stops);
  ids();
  limits();
  const pid_t pid = vfork();
  if (pid == 0) {
    _exit(3);
  }
  waitpid(pid, NULL, 0);
  take_signal();
  kill(getpid(), SIGTERM);
}
