// Handlers, masks, queued signals and what the tracer prints about their delivery.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "asleep.h"

static void plain(int signal) {
  (void)signal;
}
static void detailed(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
  getppid();
}

int main(void) {
  struct sigaction action = {.sa_handler = plain};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaddset(&action.sa_mask, SIGRTMIN);
  sigaction(SIGUSR1, &action, NULL);
  action.sa_sigaction = detailed;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND | SA_ONSTACK;
  struct sigaction former;
  sigaction(SIGUSR2, &action, &former);
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGRTMIN + 1, &action, &former);
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = detailed, .sa_flags = SA_SIGINFO | SA_RESETHAND}, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_DFL);
  signal(SIGKILL, SIG_IGN);
  signal(99, SIG_IGN);
  raise(SIGUSR1);
  kill(getpid(), SIGUSR2);
  kill(-77777, 0);
  kill(getpid(), 0);
  syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
  syscall(SYS_tkill, getpid(), SIGUSR1);
  sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_ptr = (void*)0x1234});
  siginfo_t info = {.si_signo = SIGUSR1, .si_code = SI_QUEUE};
  syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &info);
  syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, (void*)1);

  sigset_t some, old;
  sigemptyset(&some);
  sigaddset(&some, SIGINT);
  sigaddset(&some, SIGUSR1);
  sigprocmask(SIG_BLOCK, &some, &old);
  raise(SIGUSR1);
  sigpending(&old);
  sigtimedwait(&some, &info, &(struct timespec){1, 500});
  sigtimedwait(&some, &info, &(struct timespec){0, 1000});
  sigfillset(&some);
  sigprocmask(SIG_SETMASK, &some, NULL);
  sigdelset(&some, SIGCHLD);
  sigprocmask(SIG_UNBLOCK, &some, &old);
  sigprocmask(77, &some, &old);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void*)1, NULL, 8);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &old, 4);
  signalfd(-1, &some, SFD_CLOEXEC | SFD_NONBLOCK);

  static char area[65536];
  sigaltstack(&(stack_t){.ss_sp = area, .ss_size = sizeof area}, NULL);
  stack_t stack = {.ss_flags = SS_DISABLE};
  sigaltstack(&stack, &stack);
  sigaltstack(&(stack_t){.ss_sp = area, .ss_size = 1}, NULL);

  signal_when_asleep(SIGALRM);
  pause();
  alarm(100);
  alarm(0);
  signal_when_asleep(SIGALRM);
  poll(NULL, 0, -1);
  // Blocked, so that it does not count whether the signal comes before the call.
  sigemptyset(&some);
  sigaddset(&some, SIGALRM);
  sigprocmask(SIG_BLOCK, &some, NULL);
  sigemptyset(&some);
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 20000}}, NULL);
  sigsuspend(&some);
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 20000}}, NULL);
  syscall(SYS_rt_sigsuspend, &some, 8);
  *(volatile int*)0x10 = 1;  // handled once, then fatal
}
