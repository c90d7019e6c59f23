// called N: calls a function of its own and one of a library N times each, and says how long a call took, in
// nanoseconds: `calls: OWN LIBRARY OWN LIBRARY`, at first by the clock on the wall, then on a CPU.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef LIBRARY
int theirs(int value) {
  return value < 0 ? -value : value;
}
#else

int theirs(int value);
volatile int sink;

// Begins as most functions do that call others: with a push.
__attribute__((noinline)) void own(int value) {
  if (value < 0) {
    puts("never");
    own(value + 1);
  }
  sink = value;
}

struct times {
  double wall;
  double cpu;
};

static double read_clock(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static struct times now(void) {
  return (struct times){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const struct times first = now();
  for (int i = 0; i < count; ++i) {
    own(i);
  }
  const struct times second = now();
  for (int i = 0; i < count; ++i) {
    sink = theirs(i);
  }
  const struct times third = now();
  printf("calls: %.1f %.1f %.1f %.1f\n", (second.wall - first.wall) / count, (third.wall - second.wall) / count,
         (second.cpu - first.cpu) / count, (third.cpu - second.cpu) / count);
  return 0;
}
#endif
