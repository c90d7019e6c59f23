// short_timer KIND MICROSECONDS CALLS: calls of a function, system calls and a signal of its own each time, while a
// timer of this period expires: setitimer's ("interval"), or timer_create's ("posix"). Waits for its signal now and
// then. The last line of output is the sum of the results.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;

static volatile sig_atomic_t own;

static void tick(int signal) {
  (void)signal;
  ++ticks;
}

static void arrive(int signal) {
  (void)signal;
  ++own;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  const int is_interval = strcmp(argv[1], "interval") == 0;
  const long period = atol(argv[2]);
  const int calls = atoi(argv[3]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  signal(SIGUSR1, arrive);
  const int timer_signal = is_interval ? SIGALRM : SIGRTMIN;
  sigaction(timer_signal, &action, NULL);
  timer_t timer;
  if (is_interval) {
    const struct itimerval every = {{0, period}, {0, period}};
    setitimer(ITIMER_REAL, &every, NULL);
  } else {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = timer_signal;
    const struct itimerspec every = {{0, period * 1000}, {0, period * 1000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &every, NULL) != 0) {
      return 2;
    }
  }
  sigset_t all_but_it;
  sigfillset(&all_but_it);
  sigdelset(&all_but_it, timer_signal);
  long sum = 0;
  for (int call = 1; call <= calls; ++call) {
    sum += labs(-call);
    getppid();
    kill(getpid(), SIGUSR1);  // has arrived when this returns
    if (own != call) {
      return 3;
    }
    if (call % 20 == 0) {
      sigsuspend(&all_but_it);
    }
  }
  printf("%ld\n", ticks > 0 ? sum : -1);
  fflush(stdout);
  _exit(0);
}
