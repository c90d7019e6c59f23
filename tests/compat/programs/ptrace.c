// Requests of ptrace that succeed, on a child that stops, runs, is signalled and ends.
#include <elf.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;
static long word = 0x1234567;

static long ask(int request, const void* address, const void* data) {
  return syscall(SYS_ptrace, request, child, address, data);
}

static void next_stop(void) {
  int status;
  waitpid(child, &status, __WALL);
}

static void body(void) {
  syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL);
  raise(SIGSTOP);
  syscall(SYS_getppid);
  raise(SIGUSR1);
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 7),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {4, code};
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
  syscall(SYS_getppid);
  _exit(5);
}

static void registers(void) {
  static char state[16384];  // more than the kernel writes
  struct iovec part = {state, sizeof(struct user_regs_struct)};
  ask(PTRACE_GETREGSET, (void*)NT_PRSTATUS, &part);
  ask(PTRACE_SETREGSET, (void*)NT_PRSTATUS, &part);
  part.iov_len = 16;
  ask(PTRACE_GETREGSET, (void*)NT_PRSTATUS, &part);
  part.iov_len = 1000;
  ask(PTRACE_GETREGSET, (void*)NT_PRSTATUS, &part);
  part.iov_len = 12;
  ask(PTRACE_GETREGSET, (void*)NT_PRSTATUS, &part);
  part.iov_len = 512;
  ask(PTRACE_GETREGSET, (void*)NT_PRFPREG, &part);
  part.iov_len = 1000;
  ask(PTRACE_GETREGSET, (void*)NT_PRFPREG, &part);
  part.iov_len = 64;
  ask(PTRACE_GETREGSET, (void*)NT_X86_XSTATE, &part);
  ask(PTRACE_GETREGSET, (void*)0x12345, &part);
#if defined __x86_64__ || defined __i386__
  ask(PTRACE_GETREGS, NULL, state);
  ask(PTRACE_SETREGS, NULL, state);
  ask(PTRACE_GETFPREGS, NULL, state);
  ask(PTRACE_SETFPREGS, NULL, state);
  ask(PTRACE_PEEKUSER, (void*)offsetof(struct user, regs), &word);
  ask(PTRACE_PEEKUSER, (void*)offsetof(struct user, u_debugreg[7]), &word);
  ask(PTRACE_POKEUSER, (void*)offsetof(struct user, u_debugreg[0]), &word);
  ask(PTRACE_POKEUSER, (void*)offsetof(struct user, u_debugreg[0]), NULL);
#endif
#ifdef __i386__
  ask(PTRACE_GETFPXREGS, NULL, state);
  ask(PTRACE_SETFPXREGS, NULL, state);
  part.iov_len = 512;
  ask(PTRACE_GETREGSET, (void*)NT_PRXFPREG, &part);
#endif
}

static void memory(void) {
  long fetched;
  ask(PTRACE_PEEKTEXT, &word, &fetched);
  ask(PTRACE_PEEKDATA, &word, &fetched);
  ask(PTRACE_POKEDATA, &word, (void*)0x7654321);
  ask(PTRACE_POKETEXT, &word, (void*)-2);
}

static void signals(void) {
  siginfo_t info;
  ask(PTRACE_GETSIGINFO, NULL, &info);
  ask(PTRACE_SETSIGINFO, NULL, &info);
  siginfo_t queued[2];
  struct __ptrace_peeksiginfo_args which = {0, 1, 2};
  ask(PTRACE_PEEKSIGINFO, &which, queued);
  unsigned long long mask = 0;
  ask(PTRACE_GETSIGMASK, (void*)8, &mask);
  mask = 1 << (SIGUSR2 - 1);
  ask(PTRACE_SETSIGMASK, (void*)8, &mask);
}

static void call_information(void) {
  struct __ptrace_syscall_info info;
  memset(&info, 0, sizeof info);
  ask(PTRACE_GET_SYSCALL_INFO, (void*)sizeof info, &info);
  ask(PTRACE_GET_SYSCALL_INFO, (void*)24, &info);
  unsigned long message = 0;
  ask(PTRACE_GETEVENTMSG, NULL, &message);
}

int main(void) {
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);  // which may come before wait4 returns or after it
  sigprocmask(SIG_BLOCK, &ended, NULL);
  child = fork();
  if (child == 0) {
    body();
  }
  next_stop();
  ask(PTRACE_SETOPTIONS, NULL,
      (void*)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
  registers();
  memory();
  signals();
  call_information();
  ask(PTRACE_SYSCALL, NULL, NULL);
  next_stop();
  call_information();
  ask(PTRACE_SYSCALL, NULL, NULL);
  next_stop();
  call_information();
  ask(PTRACE_SINGLESTEP, NULL, NULL);
  next_stop();
  ask(PTRACE_CONT, NULL, NULL);
  next_stop();
  signals();
  ask(PTRACE_CONT, NULL, (void*)SIGUSR2);  // blocked
  next_stop();
  call_information();
  ask(PTRACE_CONT, NULL, NULL);
  next_stop();
  call_information();
  ask(PTRACE_DETACH, NULL, NULL);
  next_stop();

  child = fork();
  if (child == 0) {
    for (;;) {
      pause();
    }
  }
  ask(PTRACE_SEIZE, NULL, (void*)(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK));
  ask(PTRACE_INTERRUPT, NULL, NULL);
  next_stop();
  ask(PTRACE_LISTEN, NULL, NULL);
  ask(PTRACE_INTERRUPT, NULL, NULL);
  next_stop();
  ask(PTRACE_CONT, NULL, NULL);
  kill(child, SIGSTOP);
  next_stop();
  ask(PTRACE_DETACH, NULL, (void*)SIGSTOP);
  ask(PTRACE_ATTACH, NULL, NULL);
  next_stop();
  ask(PTRACE_KILL, NULL, NULL);
  kill(child, SIGKILL);
  next_stop();
  return 0;
}
