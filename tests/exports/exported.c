// A program of known shape for exports: exported WHAT.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void* work(void* unused) {
  (void)unused;
  for (int i = 0; i < 20; ++i) {
    close(open("/dev/null", O_RDONLY));
  }
  return NULL;
}

// Threads that work side by side, and a child that does too.
static int threads(void) {
  const pid_t child = fork();  // before there are threads, of which it would inherit what they have open just then
  if (child == 0) {
    work(NULL);
    _exit(7);
  }
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) {
      return 1;
    }
  }
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], NULL);
  }
  return waitpid(child, NULL, 0) == child ? 0 : 1;
}

static void* execute(void* program) {
  execl(program, "exported", "quiet", (char*)NULL);
  return NULL;
}

// A thread that executes this program again while the leader waits.
static int replaced(char* program) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, execute, program) != 0) {
    return 1;
  }
  pause();
  return 1;
}

static void answer(int unused) {
  (void)unused;
  if (write(1, "again\n", 6) != 6) {
    _exit(1);
  }
}

// Names that whoever does not escape them takes for his own syntax.
static int hostile(char* program) {
  static const char* const names[] = {"new\nline",
                                      "quote\"back\\slash",
                                      "\xff\xfe bytes",
                                      "\x1b[31mred\x07",
                                      "</script><b>",
                                      "'; DROP TABLE event; --",
                                      "a\tb\x01",
                                      "\xe2\x80\xae"
                                      "rtl",
                                      "{}[]<|>"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    prctl(PR_SET_NAME, names[i]);
    close(open(names[i], O_RDONLY));
    char variable[64];
    snprintf(variable, sizeof variable, "X%zu", i);
    setenv(variable, names[i], 1);
    if (fork() == 0) {
      execl(program, names[i], "quiet", names[i], (char*)NULL);
      _exit(1);
    }
    wait(NULL);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "quiet";
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) {
    return 1;
  }
  program[length] = '\0';
  if (strcmp(what, "threads") == 0) {
    return threads();
  }
  if (strcmp(what, "replaced") == 0) {
    return replaced(program);
  }
  if (strcmp(what, "hostile") == 0) {
    return hostile(program);
  }
  if (strcmp(what, "waits") == 0) {
    signal(SIGUSR1, answer);
    if (write(1, "ready\n", 6) == 6) {
      for (;;) {
        pause();
      }
    }
  }
  return 0;
}
