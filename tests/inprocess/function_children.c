// Children of all kinds, one of them created by a handler that has interrupted a function or what records its call.
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static volatile const char* text = "hello";
static volatile int is_child;

static void expect(int right) {
  if (!right) {
    _exit(1);
  }
}

static void call(int times) {
  for (int i = 0; i < times; ++i) {
    expect(strlen((const char*)text) == 5);
  }
}

static void create(int number) {
  (void)number;
  is_child = fork() == 0;
}

static void expect_end(int expected) {
  int status = 0;
  expect(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) {
      call(10);
      _exit(2);
    }
    expect_end(2);
  }
  if (vfork() == 0) {
    call(1);
    _exit(3);
  }
  expect_end(3);
  char* arguments[] = {"true", NULL};
  pid_t child = 0;
  expect(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
  expect_end(0);
  signal(SIGALRM, create);
  for (int i = 0; i < 20; ++i) {
    is_child = -1;
    ualarm(1000, 0);
    while (is_child < 0) {
      call(1);
    }
    if (is_child) {
      call(10);
      _exit(4);
    }
    expect_end(4);
  }
  puts("done");
  return 7;
}
