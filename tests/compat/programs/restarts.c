// Calls that a signal interrupts, and what becomes of them with and without SA_RESTART.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

static int wakes_child[2];

static void ignore(int signal) {
  (void)signal;
}

static void wake_child(int signal) {
  (void)signal;
  write(wakes_child[1], "w", 1);
}

int main(void) {
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGALRM, &action, NULL);
  int pipes[2];
  pipe(pipes);
  pipe(wakes_child);
  char byte;
  const struct timespec nap = {100, 0};
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);  // which may come before waitpid returns or after it
  sigprocmask(SIG_BLOCK, &ended, NULL);

  signal_when_asleep(SIGALRM);
  poll(NULL, 0, 100000);
  signal_when_asleep(SIGALRM);
  nanosleep(&nap, NULL);
  signal_when_asleep(SIGALRM);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
  signal_when_asleep(SIGALRM);
  read(pipes[0], &byte, 1);
  signal_when_asleep(SIGALRM);
  pause();
  sigset_t none;
  sigemptyset(&none);
  signal_when_asleep(SIGALRM);
  sigsuspend(&none);

  action.sa_flags = SA_RESTART;
  action.sa_handler = wake_child;
  sigaction(SIGALRM, &action, NULL);
  const pid_t child = fork();
  if (child == 0) {
    read(wakes_child[0], &byte, 1);
    await_sleep(getppid());
    write(pipes[1], "x", 1);
    _exit(0);
  }
  signal_when_asleep(SIGALRM);
  read(pipes[0], &byte, 1);
  waitpid(child, NULL, 0);
  signal_when_asleep(SIGALRM);
  poll(NULL, 0, 100000);
  return 0;
}
