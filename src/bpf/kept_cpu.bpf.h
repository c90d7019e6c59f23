/* What belongs to a CPU, such as its sums and the record that it makes, is one program's at a time. From Linux 7.0 on
 * (commit a46023d5616e) another thread may get the CPU while a program runs at a tracepoint, and then the kernel runs
 * that program for nobody else there until the first one goes on. What is too frequent for that comes by perf, which
 * lets nobody in: the calls. What perf does not tell enough of, births, execve and ends, is seen by two programs each,
 * of which the second does what the first has not been run for. The program that includes this has `settings` with a
 * member `threads`. */
#ifndef TRACER_BPF_KEPT_CPU_BPF_H
#define TRACER_BPF_KEPT_CPU_BPF_H

#include "bpf/threads.h"

#include <bpf/bpf_helpers.h>

extern void bpf_preempt_disable(void) __ksym __weak; /* from Linux 6.10 on */
extern void bpf_preempt_enable(void) __ksym __weak;

/* As perf hands them to programs (events/raw_syscalls/.../format in tracefs). */
struct perf_entered {
  __u64 common;
  long number;
  unsigned long arguments[6];
};

struct perf_left {
  __u64 common;
  long number;
  long result;
};

/* Until give_cpu_back(), no other thread runs on this CPU. */
static __always_inline void keep_cpu(void) {
  if (settings.threads.keeps_cpu) {
    bpf_preempt_disable();
  }
}

static __always_inline void give_cpu_back(void) {
  if (settings.threads.keeps_cpu) {
    bpf_preempt_enable();
  }
}

#endif
