// Static probes. With one argument the counter of those who watch is printed at the end.
#define _SDT_HAS_SEMAPHORES 1
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

#define SEMAPHORE(name) unsigned short demo_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(plain);
SEMAPHORE(text);
SEMAPHORE(numbers);
SEMAPHORE(floats);
SEMAPHORE(memory);
SEMAPHORE(loop);

int numbers_of_all[4] = {10, 20, 30, 40};

int main(int argc, char** argv) {
  volatile double d = 2.5;
  volatile float f = -1.5f;
  volatile long big = -123456789012;
  volatile unsigned char c = 200;
  int i = atoi("2");
  DTRACE_PROBE(demo, plain);
  DTRACE_PROBE2(demo, text, "a name", i);
  DTRACE_PROBE4(demo, numbers, (long)big, c, (unsigned short)65535, -7);
  DTRACE_PROBE2(demo, floats, (double)d, (float)f);
  DTRACE_PROBE1(demo, memory, numbers_of_all[i]);
  for (int k = 0; k < 3; k++) {
    DTRACE_PROBE1(demo, loop, k);
  }
  if (argc > 1) {
    signal(SIGTERM, SIG_IGN); /* which ends the tracer */
    printf("%d %d\n", demo_loop_semaphore, demo_text_semaphore);
    fflush(stdout);
    for (int tries = 0; demo_loop_semaphore != 0 && tries < 20000; tries++) {
      usleep(1000);
    }
    puts(demo_loop_semaphore == 0 ? "nobody watches" : "still watched");
  }
  return 4;
}
