// Process ids inside PID namespaces, and ids of processes, groups and threads in general. MANY
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char stack[65536];

static void ask_about(int pid) {
  kill(pid, 0);
  kill(-pid, 0);
  syscall(SYS_tkill, pid, 0);
  syscall(SYS_tgkill, pid, pid, 0);
  getpriority(PRIO_PROCESS, (unsigned)pid);
  getpriority(PRIO_PGRP, (unsigned)pid);
  syscall(SYS_ioprio_get, 1, pid);
  syscall(SYS_ioprio_get, 2, pid);
  sched_getscheduler(pid);
  getpgid(pid);
  syscall(SYS_waitid, P_PID, pid, NULL, WEXITED | WNOHANG, NULL);
  syscall(SYS_waitid, P_PGID, pid, NULL, WEXITED | WNOHANG, NULL);
  const int null = open("/dev/null", O_RDONLY);
  fcntl(null, F_SETOWN, pid);
  for (int type = 0; type < 3; ++type) {
    struct f_owner_ex owner = {type, pid};
    fcntl(null, F_SETOWN_EX, &owner);
    fcntl(null, F_GETOWN_EX, &owner);
  }
  close(null);
}

static int first_of_namespace(void* unused) {
  getpid();
  getppid();
  getpgrp();
  setpgid(0, 0);
  if (fork() == 0) {
    getpid();
    getppid();
    ask_about(1);
    ask_about(2);
    ask_about(99);
    _exit(0);
  }
  wait(NULL);
  close(syscall(SYS_pidfd_open, 1, 0));
  int pair[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &credentials, &length);
  return 0;
}

int main(void) {
  ask_about(getpid());
  waitpid(clone(first_of_namespace, stack + sizeof stack, CLONE_NEWPID | SIGCHLD, NULL), NULL, 0);
  unshare(CLONE_NEWPID);
  if (fork() == 0) {
    getpid();
    _exit(0);
  }
  wait(NULL);
  return 0;
}
