/* Lets only one program at a time use the data of a CPU, such as the record that it makes, even if another thread may
 * get the CPU in between (see watched_events.bpf.h). The including program defines `settings` with a member
 * `threads`. */
#ifndef TRACER_BPF_PREEMPTION_BPF_H
#define TRACER_BPF_PREEMPTION_BPF_H

#include "bpf/threads.h"

#include <bpf/bpf_helpers.h>

extern void bpf_preempt_disable(void) __ksym __weak; /* from Linux 6.10 on */
extern void bpf_preempt_enable(void) __ksym __weak;

/* Until enable_preemption(), no other thread runs on this CPU. */
static __always_inline void disable_preemption(void) {
  if (settings.threads.preemptible) {
    bpf_preempt_disable();
  }
}

static __always_inline void enable_preemption(void) {
  if (settings.threads.preemptible) {
    bpf_preempt_enable();
  }
}

#endif
