// Programs that make it hard to trace them: hard_to_trace WHAT. Each ends with its own status if it has come to what
// it comes to untraced.
#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { children = 50 };

// Children that have no rest, and a parent that has some things to do meanwhile.
static int crowding(void) {
  pid_t child[children];
  int ready[2];
  char byte = 0;
  if (pipe(ready) != 0) {
    return 1;
  }
  for (int i = 0; i < children; ++i) {
    child[i] = fork();
    if (child[i] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (write(ready[1], &byte, 1) != 1) {
        _exit(1);
      }
      for (;;) {
        getppid();
      }
    }
  }
  for (int i = 0; i < children; ++i) {
    if (read(ready[0], &byte, 1) != 1) {
      return 2;
    }
  }
  for (int i = 0; i < children; ++i) {
    getppid();
  }
  for (int i = 0; i < children; ++i) {
    int status = 0;
    if (kill(child[i], SIGKILL) != 0 || waitpid(child[i], &status, 0) != child[i] || WTERMSIG(status) != SIGKILL) {
      return 3;
    }
  }
  return 40;
}

// Its own filter has a tracer asked, and there is none that would say anything.
static int asking(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 9),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    return 1;
  }
  if (syscall(SYS_getuid) != -1 || errno != ENOSYS) {
    return 2;
  }
  errno = 0;
  return syscall(SYS_getppid) != -1 || errno != ENOSYS ? 3 : 41;
}

static void* execute(void* nothing) {
  (void)nothing;
  execl("/proc/self/exe", "hard_to_trace", "executed", (char*)NULL);
  _exit(1);
}

// A thread that is not the first one executes this program again.
static int executing(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, execute, NULL) != 0) {
    return 1;
  }
  for (;;) {
    pause();
  }
}

static int executed(void) {
  return 42;
}

// A child that must not be traced.
static int untraced(void) {
  const long child = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    _exit(getppid() == 0);
  }
  int status = 0;
  return waitpid((pid_t)child, &status, 0) != child || status != 0 ? 1 : 43;
}

/// A child that the kernel attaches to our tracer, if we have one, without asking it.
static int ptraced(unsigned long more) {
  const long child = syscall(SYS_clone, CLONE_PTRACE | more | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    _exit(44);
  }
  int status = 0;
  return waitpid((pid_t)child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  return strcmp(what, "crowding") == 0     ? crowding()
         : strcmp(what, "asking") == 0     ? asking()
         : strcmp(what, "executing") == 0  ? executing()
         : strcmp(what, "executed") == 0   ? executed()
         : strcmp(what, "untraced") == 0   ? untraced()
         : strcmp(what, "ptraced") == 0    ? ptraced(0)
         : strcmp(what, "unreported") == 0 ? ptraced(CLONE_UNTRACED)
                                           : 2;
}
