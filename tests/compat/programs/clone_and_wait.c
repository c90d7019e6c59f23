// MANY: processes made, found, signalled, waited for and moved between namespaces.
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t make(struct clone_args* arguments, size_t size) {
  const pid_t child = (pid_t)syscall(435, arguments, size);
  if (child == 0) {
    _exit(3);
  }
  return child;
}

static void cloned(void) {
  siginfo_t info;
  struct rusage usage;
  int pidfd = -1;
  pid_t parents = 0, childs = 0;
  struct clone_args arguments;
  memset(&arguments, 0, sizeof arguments);
  arguments.flags = CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_CLEAR_SIGHAND;
  arguments.pidfd = (uintptr_t)&pidfd;
  arguments.parent_tid = (uintptr_t)&parents;
  arguments.child_tid = (uintptr_t)&childs;
  arguments.exit_signal = SIGCHLD;
  make(&arguments, sizeof arguments);
  struct pollfd ended = {pidfd, POLLIN, 0};
  poll(&ended, 1, -1);
  syscall(SYS_waitid, 3 /* P_PIDFD */, pidfd, &info, WEXITED | WNOWAIT, NULL);
  syscall(SYS_waitid, 3, pidfd, &info, WEXITED, &usage);
  syscall(SYS_waitid, 3, pidfd, &info, WEXITED, NULL);
  syscall(424, pidfd, SIGTERM, NULL, 0);  // pidfd_send_signal
  close(pidfd);

  memset(&arguments, 0, sizeof arguments);
  arguments.exit_signal = SIGCHLD;
  arguments.flags = CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWCGROUP;
  make(&arguments, sizeof arguments);
  wait(NULL);
  arguments.flags = CLONE_VFORK | CLONE_VM;
  static char stack[65536];
  arguments.stack = (uintptr_t)stack;
  arguments.stack_size = 1;
  arguments.flags = CLONE_THREAD;
  make(&arguments, 64);
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.cgroup = 99;
  make(&arguments, sizeof arguments);
}

static void ignore(int signal) {
  (void)signal;
}

static int nothing(void* unused) {
  (void)unused;
  return 5;
}

static void signalled(void) {
  int status;
  int pipes[2];
  pipe(pipes);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    raise(SIGSTOP);
    read(pipes[0], &byte, 1);
    _exit(4);
  }
  const int pidfd = (int)syscall(434, child, O_NONBLOCK);
  siginfo_t info;
  syscall(SYS_waitid, 3, pidfd, &info, WEXITED, NULL);
  syscall(SYS_waitid, P_PID, child, &info, WSTOPPED | WNOWAIT, NULL);
  waitpid(child, &status, WUNTRACED);
  const int copy = (int)syscall(438, pidfd, 1, 0);  // pidfd_getfd
  fcntl(copy, F_GETFD);
  struct rlimit before;
  prlimit(child, RLIMIT_NOFILE, &(struct rlimit){64, 128}, &before);
  syscall(SYS_kcmp, getpid(), child, 2 /* KCMP_FILES */, 0, 0);
  setns(pidfd, CLONE_NEWUTS | CLONE_NEWIPC);
  memset(&info, 0, sizeof info);
  info.si_signo = SIGCONT;
  info.si_code = SI_QUEUE;
  info.si_value.sival_int = 9;
  syscall(424, pidfd, SIGCONT, &info, 0);
  syscall(SYS_waitid, P_PGID, 0, &info, WCONTINUED, NULL);
  setpgid(child, child);
  getpgid(child);
  write(pipes[1], "x", 1);
  wait4(child, &status, 0, NULL);
  syscall(424, pidfd, SIGKILL, NULL, 0);
}

static void moved(void) {
  const int before = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  unshare(CLONE_NEWUTS);
  unshare(CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWCGROUP | CLONE_SYSVSEM);
  setns(before, CLONE_NEWUTS);
  setns(before, 0);
  setns(before, CLONE_NEWNET);
  close(before);
  static char stack[65536];
  waitpid(clone(nothing, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL), NULL, 0);
  waitpid(clone(nothing, stack + sizeof stack, CLONE_IO | SIGUSR1, NULL), NULL, __WALL);
  sigset_t exit_signal;
  sigemptyset(&exit_signal);
  sigaddset(&exit_signal, SIGUSR1);
  sigprocmask(SIG_UNBLOCK, &exit_signal, NULL);
  unshare(CLONE_NEWUSER);
  const int map = open("/proc/self/uid_map", O_WRONLY);
  write(map, "0 0 1", 5);
}

int main(void) {
  signal(SIGUSR1, ignore);
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);  // It may come before a call returns or after it,
  sigaddset(&ended, SIGUSR1);  // and so may this one, of a child that sends it at its end.
  sigprocmask(SIG_BLOCK, &ended, NULL);
  cloned();
  signalled();
  moved();
  return 0;
}
