// Calls that a signal interrupts, and what becomes of them with and without SA_RESTART.
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void ignore(int signal) {
  (void)signal;
}

static void in_a_moment(void) {
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  setitimer(ITIMER_REAL, &soon, NULL);
}

int main(void) {
  struct sigaction action = {.sa_handler = ignore};
  sigaction(SIGALRM, &action, NULL);
  int pipes[2];
  pipe(pipes);
  char byte;
  const struct timespec nap = {0, 40000000};

  in_a_moment();
  poll(NULL, 0, 1000);
  in_a_moment();
  nanosleep(&nap, NULL);
  in_a_moment();
  clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
  in_a_moment();
  read(pipes[0], &byte, 1);
  in_a_moment();
  pause();
  sigset_t none;
  sigemptyset(&none);
  in_a_moment();
  sigsuspend(&none);

  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  const pid_t child = fork();
  if (child == 0) {
    usleep(60000);
    write(pipes[1], "x", 1);
    _exit(0);
  }
  in_a_moment();
  read(pipes[0], &byte, 1);
  waitpid(child, NULL, 0);
  in_a_moment();
  poll(NULL, 0, 40);
  return 0;
}
