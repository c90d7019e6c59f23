// Two coroutines on stacks beside each other, each of which leaves its function in the middle of every call.
#include <ucontext.h>

enum { ROUNDS = 50, STACK = 65536 };

static char stacks[2][STACK];
static ucontext_t home;
static ucontext_t contexts[2];

__attribute__((noinline)) int yielding(int which, int round) {
  swapcontext(&contexts[which], &contexts[1 - which]);
  return round;
}

static void run(int which) {
  for (int round = 0; round < ROUNDS; ++round) {
    yielding(which, round);
  }
}

int main() {
  for (int which = 0; which < 2; ++which) {
    getcontext(&contexts[which]);
    contexts[which].uc_stack.ss_sp = stacks[which];
    contexts[which].uc_stack.ss_size = STACK;
    contexts[which].uc_link = &home;
    makecontext(&contexts[which], (void (*)(void))run, 1, which);
  }
  swapcontext(&home, &contexts[0]);
  return 6;
}
