// Signals with every shape of information, delivered, waited for and read.
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void noted(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info, (void)context;
}

static siginfo_t filled(int signal, int code) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = signal;
  info.si_code = code;
  unsigned words[20];
  memcpy(words, (char*)&info + 12, sizeof words);
  for (unsigned i = 0; i < 20; i++) {
    words[i] = i == 0 && sizeof(long) == 8 ? 0 : 0x100 + i;
  }
  memcpy((char*)&info + 12, words, sizeof info - 12 < sizeof words ? sizeof info - 12 : sizeof words);
  return info;
}

static void queue(int signal, int code) {
  siginfo_t info = filled(signal, code);
  syscall(SYS_rt_sigqueueinfo, getpid(), signal, &info);
}

int main(void) {
  const int all[] = {SIGILL,  SIGTRAP, SIGBUS,  SIGFPE,  SIGSEGV,  SIGCHLD,
                     SIGPOLL, SIGSYS,  SIGUSR1, SIGALRM, SIGRTMIN, SIGRTMAX};
  const int count = sizeof all / sizeof *all;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = noted;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int i = 0; i < count; i++) {
    sigaction(all[i], &action, NULL);
  }
  for (int i = 0; i < count; i++) {
    for (int code = 0; code < 10; code++) {
      queue(all[i], code);
    }
    queue(all[i], SI_KERNEL);
    for (int code = -1; code > -9; code--) {
      queue(all[i], code);
    }
    queue(all[i], SI_ASYNCNL);
    queue(all[i], 12345);
    queue(all[i], -12345);
  }

  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, NULL);
  const struct timespec soon = {0, 1};
  siginfo_t info;
  for (int i = 0; i < count; i++) {
    queue(all[i], SI_QUEUE);
    sigtimedwait(&set, &info, &soon);
    queue(all[i], 1);
    sigtimedwait(&set, &info, &soon);
    info = filled(all[i], SI_QUEUE);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), all[i], &info);
    sigtimedwait(&set, NULL, &soon);
  }
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGRTMIN + 3);
  const int descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  sigaddset(&set, SIGUSR2);
  signalfd(descriptor, &set, 0);
  queue(SIGUSR2, SI_QUEUE);
  queue(SIGRTMIN + 3, SI_QUEUE);
  struct signalfd_siginfo read_one;
  sigpending(&set);
  while (read(descriptor, &read_one, sizeof read_one) > 0) {
  }
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  event.sigev_value.sival_int = 77;
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, TIMER_ABSTIME, &(struct itimerspec){{0, 0}, {1, 0}}, NULL);
  sigtimedwait(&set, &info, &soon);
  timer_gettime(timer, &(struct itimerspec){{0, 0}, {0, 0}});
  event.sigev_notify = SIGEV_NONE;
  timer_create(CLOCK_BOOTTIME, &event, &timer);
  timer_create(CLOCK_THREAD_CPUTIME_ID, NULL, &timer);
  timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &timer);
  timer_delete(timer);
  return 0;
}
