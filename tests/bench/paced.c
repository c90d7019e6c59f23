/* paced N RATE: N system calls (getppid), RATE a second, in bursts of a thousandth of a second. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time); /* no system call: the vdso's */
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char** arguments) {
  const long calls = count > 2 ? atol(arguments[1]) : 0;
  const long rate = count > 2 ? atol(arguments[2]) : 1;
  const long long start = now();
  for (long done = 0; done < calls;) {
    const long due = (long)((now() - start) / 1000000 + 1) * (rate / 1000);
    for (; done < due && done < calls; ++done) {
      syscall(SYS_getppid);
    }
  }
  return 0;
}
