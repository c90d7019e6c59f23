// Functions that jump or call before anything else, for uprobes that are not at their start.
#include <stdlib.h>

#define CALLED __attribute__((noinline, noclone, visibility("default")))

#ifdef LIBRARY

/// Returns early.
CALLED int checked(const int* number) {
  return number == 0 ? -1 : abs(*number);
}

/// A loop that starts right behind the start, at most.
CALLED int looped(unsigned number) {
  int bits = 0;
  while (number != 0) {
    bits += (int)(number & 1);
    number >>= 1;
  }
  return bits;
}

/// With a table of addresses, where the compiler makes one.
CALLED int chosen(int number) {
  switch (number) {
    case 0:
      return abs(4);
    case 1:
      return abs(9);
    case 2:
      return abs(number + 1);
    case 3:
      return abs(22 - number);
    case 4:
      return number;
    default:
      return 0;
  }
}

/// Calls at once.
CALLED int handed_on(int number) {
  return abs(number) + 1;
}

#else

int checked(const int* number);
int looped(unsigned number);
int chosen(int number);
int handed_on(int number);

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 0;
  int sum = 0;
  for (int i = 0; i < calls; ++i) {
    sum += checked(i % 2 == 0 ? &i : 0) + looped((unsigned)i) + chosen(i % 6) + handed_on(-i);
  }
  return sum == 0 ? 1 : 7;
}

#endif
