/* What the counting programs in the kernel and their loader share. Plain C, for both compilers. */
#ifndef TRACER_BPF_COUNTING_H
#define TRACER_BPF_COUNTING_H

#include <linux/types.h>

#include "bpf/threads.h"

enum {
  counting_slots = watched_abis * numbers_per_abi,
  latency_classes = 32768,      /* of all calls together; each has a dozen or two */
  lifecycles_size = 256 * 1024, /* bytes of reports that wait for the tracer */
};

struct counting_settings {
  struct thread_settings threads;
  __u32 latencies; /* single times are to be sorted into `latencies` */
  __u32 sampled;   /* the sums of times on CPU may be estimates: see struct counting_sample */
  __u64 tick;      /* nanoseconds between two timer interrupts */
};

struct counting_shared {
  struct thread_shared threads;
  __u64 unsorted; /* times that found no room in `latencies` */
};

struct counting_times {
  __u64 total; /* nanoseconds */
  __u64 shortest;
  __u64 longest;
};

enum {
  timed_at_first = 256, /* calls, before it becomes a sample, and again after each long call */
  sample_block = 8,     /* of so many calls one is timed then, whichever chance picks; a power of 2 */
};

/* How much of `cpu` stands for how many calls: reading the clock twice costs as much as all else that counting takes.
 * So of a call that is made often, not every one is timed. Those of two ticks and more are charged for by the
 * scheduler's ticks, timed or not, and are never estimated from others. */
struct counting_sample {
  __u64 represented; /* calls that the times in `cpu` stand for */
  __u64 alone;       /* nanoseconds of long calls, which stand for themselves and are not in `cpu` */
  __u16 one_by_one;  /* calls that were timed since the last long one, up to timed_at_first */
  __u16 skip;        /* calls that are not to be timed now */
  __u16 rest;        /* calls of the block that come after the timed one */
};

/* One call of one ABI, on one CPU: a cache line. */
struct counting_totals {
  __u64 calls;
  __u64 errors;
  struct counting_times cpu;
  union {
    struct counting_times wall;
    struct counting_sample sample; /* where settings.sampled */
  };
};

/* Key in `latencies`: of a call and a latency_bucket_of(). */
struct latency_key {
  __u32 slot;
  __u32 bucket;
};

enum lifecycle_kind { lifecycle_fork = 1, lifecycle_exit = 2 };

/* A followed thread, by its ids in the tracer's pid namespace. */
struct lifecycle_report {
  __u32 kind;
  __u32 tid;
  __u32 tgid;
  __u32 parent; /* thread that created it */
  __s32 status; /* as from waitpid(2), where it ended */
};

#endif
