/* What the programs in the kernel and their loader share about the processes that they watch. Plain C, for both
 * compilers. */
#ifndef TRACER_BPF_THREADS_H
#define TRACER_BPF_THREADS_H

#include <linux/types.h>

#include "bpf/pid_space.h"
#include "capture/plan.h"

enum {
  comm_size = 16, /* TASK_COMM_LEN */
  most_comms = 16,
  most_cgroups = 16,
};

/* One bit for each call's place in tables. */
struct call_set {
  __u64 bits[watched_abis * numbers_per_abi / 64];
};

/* Written before the programs are loaded, constant for the verifier. */
struct thread_settings {
  struct call_set wanted;
  __u32 preemptible; /* other threads may run on the CPU while a program at a tracepoint runs, unless it disables
                        preemption */
  __u32 times;       /* when calls begin and end is to be known */
  __u32 cpu_time;    /* time that threads are not on a CPU is to be known */
  /* Scopes beside the processes that are adopted. */
  __u32 system_wide;
  __u32 cgroups; /* how many of the map are filled */
  __u32 comms;
  __u64 comm[most_comms][comm_size / 8]; /* filled up with zeros */
};

/* Changes while the programs run; the loader reads and writes it in place. */
struct thread_shared {
  __u64 live;             /* threads that are watched, those of a scope left out */
  __u64 lost;             /* forks that could not be followed, and reports that found no room */
  __u64 beyond;           /* calls of numbers that no table has, which nobody watches */
  struct pid_space space; /* the tracer's */
  __u64 clock;            /* of the programs, when the iterator below looked at a thread last; nanoseconds */
  /* For the iterator that adopts threads. */
  __u32 adopt;           /* id in the tracer's pid namespace */
  __u32 adopt_threads;   /* all of that process, not that thread alone */
  __u32 adopt_launching; /* it is watched from its execve on */
  __u32 adopted;         /* how many it found that were not watched yet */
  __u32 tracer;          /* the tracer's process in the first pid namespace */
  __u32 launching;       /* a child of the tracer's is not to be watched yet */
};

#endif
