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

#ifdef __x86_64__
/// jumps_on() ends in a conditional jump to another function. twice() has a second name, of a size that leaves out the
/// jump back to its first bytes.
__asm__(
    ".text\n"
    ".globl jumps_on\n.type jumps_on, @function\n"
    "jumps_on: test %edi, %edi\n  jg handed_on@PLT\n  mov %edi, %eax\n  ret\n.size jumps_on, . - jumps_on\n"
    ".globl twice_named\n.type twice_named, @function\n.globl twice\n.type twice, @function\n"
    "twice_named:\ntwice: test %edi, %edi\n  .Lback: js .Lnegative\n  mov %edi, %eax\n  ret\n"
    ".Lnegative: add $1, %edi\n.Lend: jmp .Lback\n"
    ".size twice, .Lend - twice\n.size twice_named, . - twice_named\n");
#endif

#else

int checked(const int* number);
int looped(unsigned number);
int chosen(int number);
int handed_on(int number);
#ifdef __x86_64__
int jumps_on(int number);
int twice(int number);
#endif

int main(int argc, char** argv) {
  const int calls = argc > 1 ? atoi(argv[1]) : 0;
  int sum = 0;
  for (int i = 0; i < calls; ++i) {
    sum += checked(i % 2 == 0 ? &i : 0) + looped((unsigned)i) + chosen(i % 6) + handed_on(-i);
#ifdef __x86_64__
    sum += jumps_on(-i) + twice(-10);
#endif
  }
  return sum == 0 ? 1 : 7;
}

#endif
