// Calls getppid(), which is a function and a system call, TIMES times in each thread, process and program. The first
// argument says where. A library calls it by a pointer.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int times;

static void call(void) {
  for (int i = 0; i < times; ++i) {
    getppid();
  }
}

#ifdef LIBRARY

void call_by_pointer(int n) {
  times = n;
  call();
}

#else

static void* work(void* unused) {
  call();
  return unused;
}

static void in_threads(int count) {
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) {
    pthread_create(&threads[i], NULL, work, NULL);
  }
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
  }
}

/// Each of the children has one of its own.
static int in_children(int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    if (fork() == 0) {
      call();
      const pid_t child = fork();
      call();
      _exit(child != 0 && (wait(NULL) != child) ? 1 : 0);
    }
  }
  for (int status = 0; wait(&status) > 0;) {
    wrong |= status;
  }
  return wrong;
}

static volatile int signals;

static void on_alarm(int number) {
  (void)number;
  if (signals < 50) {
    getppid();
    ++signals;
  }
}

static int interrupted(void) {
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  const struct itimerval often = {{0, 200}, {0, 200}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  call();
  while (signals < 20) {
  }
  setitimer(ITIMER_REAL, &never, NULL);
  return signals;
}

int main(int argc, char** argv) {
  const char* way = argv[1];
  times = atoi(argv[2]);
  if (strcmp(way, "threads") == 0) {
    in_threads(atoi(argv[3]));
  } else if (strcmp(way, "children") == 0) {
    return in_children(atoi(argv[3])) == 0 ? 7 : 1;
  } else if (strcmp(way, "exec") == 0) {
    call();
    execl(argv[0], argv[0], "threads", argv[2], "2", (char*)0);
  } else if (strcmp(way, "interrupted") == 0) {
    const int more = interrupted();  // the handler's
    for (int i = more; i < times; ++i) {
      getppid();
    }
    return more < times ? 7 : 1;
  } else if (strcmp(way, "endless") == 0) {
    call();
    close(STDOUT_FILENO);
    for (;;) {
      call();
    }
  } else if (strcmp(way, "library") == 0) {
    call();
    void* library = dlopen(argv[3], RTLD_NOW);
    void (*by_pointer)(int) = (void (*)(int))dlsym(library, "call_by_pointer");
    by_pointer(times);
    call();
  }
  (void)argc;
  return 7;
}

#endif
