// Signals interrupt functions, and whatever records their calls, again and again. The handler calls functions, too, and
// now and then jumps away. The argument is how many signals there are to be.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static sigjmp_buf start;
static volatile int signals;
static volatile const char* text = "a text of some length";
static const size_t length = 21;

static void expect(int right) {
  if (!right) {
    abort();
  }
}

static void handle(int number) {
  (void)number;
  ++signals;
  expect(strlen((const char*)text) == length);
  if (signals % 7 == 0) {
    siglongjmp(start, 1);
  }
}

int main(int argc, char** argv) {
  const int wanted = atoi(argv[argc - 1]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 500}, {0, 500}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  sigsetjmp(start, 1);
  setitimer(ITIMER_REAL, &often, NULL);
  while (signals < wanted) {
    expect(strlen((const char*)text) == length);
    expect(strchr((const char*)text, 't') == (const char*)text + 2);
    expect(strtol("-7", NULL, 10) == -7);
    expect(abs(-4) == 4);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  puts("done");
  return 5;
}
