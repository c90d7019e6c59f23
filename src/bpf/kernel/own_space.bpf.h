/* Finds the tracer's PID namespace and stores it in `shared`, which the including program defines, with the time. */
#ifndef TRACER_BPF_OWN_SPACE_BPF_H
#define TRACER_BPF_OWN_SPACE_BPF_H

#include "bpf/kernel/local_id.bpf.h"

/* Run once by the tracer. */
SEC("iter/task")
int find_space(struct bpf_iter__task* ctx) {
  shared.space = space_of(bpf_get_current_task_btf());
  shared.clock = bpf_ktime_get_ns();
  return 0;
}

#endif
