// Calls a function of a library TIMES times by its linkage table, while signals come. The function returns r11, in
// which an entry may leave something for a resolver.
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#ifdef LIBRARY

__asm__(
    ".globl number\n.type number, @function\n"
    "number:\n mov %r11d, %eax\n ret\n"
    ".size number, . - number\n");

#else

int call(void);
__asm__("call:\n mov $7, %r11d\n jmp number@PLT\n");

static volatile int signals;

static void on_alarm(int number) {
  (void)number;
  ++signals;
}

int main(int argc, char** argv) {
  const struct itimerval often = {{0, 500}, {0, 500}};
  int wrong = argc != 2;
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = atoi(argv[1]); i > 0; --i) {
    wrong |= call() != 7;
  }
  while (signals < 20) {
  }
  return wrong ? 1 : 7;
}

#endif
