// Functions are called from libraries that come and go, from threads with small stacks and on a signal's stack. The
// argument is the path of a library with a function length().
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char stack[1 << 14];
static volatile const char* text = "hello";
static volatile int handled;

static void expect(int right) {
  if (!right) {
    abort();
  }
}

static void handle(int number) {
  (void)number;
  expect(strlen((const char*)text) == 5);
  handled = 1;
}

static void* run(void* nothing) {
  expect(strlen((const char*)text) == 5);
  free(strdup("a"));
  return nothing;
}

int main(int argc, char** argv) {
  for (int i = 0; i < 20; ++i) {
    void* library = dlopen(argv[argc - 1], RTLD_NOW);
    expect(library != NULL);
    int (*length)(const char*) = (int (*)(const char*))dlsym(library, "length");
    expect(length("abc") == 3);
    dlclose(library);
  }
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, NULL);
  for (int i = 0; i < 20; ++i) {
    handled = 0;
    ualarm(1000, 0);
    while (!handled) {
      expect(strlen((const char*)text) == 5);
    }
  }
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  for (int i = 0; i < 150; ++i) {
    pthread_t thread;
    expect(pthread_create(&thread, &small, run, NULL) == 0);
    pthread_join(thread, NULL);
  }
  puts("done");
  return 6;
}
