/* What belongs to a CPU, such as the record that it makes, is one program's at a time, also where another thread may
 * get the CPU meanwhile (see watched_events.bpf.h). The program that includes this has `settings` with a member
 * `threads`. */
#ifndef TRACER_BPF_KEPT_CPU_BPF_H
#define TRACER_BPF_KEPT_CPU_BPF_H

#include "bpf/threads.h"

#include <bpf/bpf_helpers.h>

extern void bpf_preempt_disable(void) __ksym __weak; /* from Linux 6.10 on */
extern void bpf_preempt_enable(void) __ksym __weak;

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
