/* Calls made so often that a counter times only some of them, and knowledge of its own of how long they took.
 *
 * often_called long: readv, preadv and preadv2, each thousands of times for next to nothing, and four times for long;
 *     prints the CPU time of these, each in seconds
 *
 * often_called uneven: long and short calls of read by turns, and pread64 just so, but seldom */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { piece = 64 << 20, most_pieces = 256, big = 65536 };

static char* buffer;
static int zero;

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One call that takes as long as it takes to fill `pieces` pieces of memory. */
static void call(int which, int pieces) {
  static struct iovec all[most_pieces];
  for (int i = 0; i < pieces; ++i) {
    all[i] = (struct iovec){buffer, piece};
  }
  if (pieces == 0) {
    all[0] = (struct iovec){buffer, 1};
  }
  const int count = pieces == 0 ? 1 : pieces;
  const ssize_t done = which == 0   ? readv(zero, all, count)
                       : which == 1 ? preadv(zero, all, count, 0)
                                    : preadv2(zero, all, count, 0, RWF_HIPRI);
  if (done <= 0) {
    perror("often_called");
    exit(1);
  }
}

static void long_calls(void) {
  double begin = 0;
  double one = 1; /* the shortest of some: what the hypervisor takes counts, too */
  for (int i = 0; i < 5; ++i) {
    begin = cpu_time();
    if (read(zero, buffer, piece) != piece) {
      exit(1);
    }
    const double taken = cpu_time() - begin;
    one = taken < one ? taken : one;
  }
  int pieces = 1 + (int)(0.04 / one);
  pieces = pieces > 30 ? 30 : pieces; /* more than 2 GB are none */
  for (int which = 0; which < 3; ++which) {
    double taken = 0;
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 1000; ++i) {
        call(which, 0);
      }
      begin = cpu_time();
      call(which, pieces);
      taken += cpu_time() - begin;
    }
    printf("%f\n", taken);
  }
}

/* On one CPU, as each has a choice of its own. */
static void uneven_calls(void) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  for (int i = 0; i < 20000; ++i) {
    read(zero, buffer, i % 2 == 0 ? big : 1);
    if (i % 200 < 2) {
      pread(zero, buffer, i % 2 == 0 ? big : 1, 0);
    }
  }
}

int main(int count, char** arguments) {
  zero = open("/dev/zero", O_RDONLY);
  buffer = malloc(piece);
  if (count != 2 || zero < 0 || buffer == NULL) {
    return 2;
  }
  memset(buffer, 1, piece);
  if (strcmp(arguments[1], "long") == 0) {
    long_calls();
  } else {
    uneven_calls();
  }
  return 0;
}
