// called N: calls a function of its own and one of a library N times each, and says how long a call took, in
// nanoseconds: `calls: OWN LIBRARY`.
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

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  const double first = now();
  for (int i = 0; i < count; ++i) {
    own(i);
  }
  const double second = now();
  for (int i = 0; i < count; ++i) {
    sink = theirs(i);
  }
  const double third = now();
  printf("calls: %.1f %.1f\n", (second - first) / count, (third - second) / count);
  return 0;
}
#endif
