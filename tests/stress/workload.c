// Programs that are hard to follow: workload KIND N
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t received;

static void count(int signal) {
  (void)signal;
  ++received;
}

static void* one_call(void* unused) {
  getppid();
  return unused;
}

static void* many_calls(void* unused) {
  for (;;) {
    getppid();
  }
  return unused;
}

/// N children, at most 50 at a time; each makes one call and ends with a status of its own.
static int forks(int n) {
  int living = 0;
  for (int i = 0; i < n; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      getppid();
      _exit(i & 7);
    }
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (++living == 50) {
      wait(NULL);
      --living;
    }
  }
  while (wait(NULL) > 0) {
  }
  return 0;
}

static int threads(int n) {
  pthread_t* all = calloc((size_t)n, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < n; ++i) {
    if (pthread_create(&all[i], &small, one_call, NULL) != 0) {
      perror("pthread_create");
      return 1;
    }
  }
  for (int i = 0; i < n; ++i) {
    pthread_join(all[i], NULL);
  }
  return 0;
}

/// N real-time signals, all queued before the first is taken.
static int signals(int n) {
  struct sigaction action = {.sa_handler = count};
  sigaction(SIGRTMIN, &action, NULL);
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &held, NULL);
  for (int i = 0; i < n; ++i) {
    if (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) != 0) {
      perror("sigqueue");
      return 1;
    }
  }
  sigprocmask(SIG_UNBLOCK, &held, NULL);
  return received == n ? 0 : 2;
}

/// N times: a program whose second thread executes another one.
static void* executes(void* words) {
  execv("/proc/self/exe", words);
  return NULL;
}
static int execs(int n, char** argv) {
  if (n == 0) {
    return 0;
  }
  char rest[16];
  snprintf(rest, sizeof rest, "%d", n - 1);
  char* words[] = {argv[0], argv[1], rest, NULL};
  pthread_t other;
  pthread_create(&other, NULL, many_calls, NULL);
  pthread_create(&other, NULL, executes, words);
  for (;;) {
    pause();
  }
}

/// Works on with N threads, children and signals until it is killed; a line a second says that it lives.
static int work(int n) {
  struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t other;
  for (int i = 0; i < n; ++i) {
    pthread_create(&other, NULL, many_calls, NULL);
  }
  for (unsigned long round = 0;; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(0);
    }
    if (waitpid(child, NULL, 0) != child) {
      perror("waitpid");
      return 1;
    }
    kill(getpid(), SIGUSR1);
    if (round % 8 == 0) {
      puts("alive");
      fflush(stdout);
    }
    usleep(500);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) {
    return 1;
  }
  const int n = atoi(argv[2]);
  if (strcmp(argv[1], "forks") == 0) {
    return forks(n);
  }
  if (strcmp(argv[1], "threads") == 0) {
    return threads(n);
  }
  if (strcmp(argv[1], "signals") == 0) {
    return signals(n);
  }
  return strcmp(argv[1], "execs") == 0 ? execs(n, argv) : work(n);
}
