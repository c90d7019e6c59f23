/* Finds the level of the tracer's PID namespace and stores it in `shared`, which the including program defines. */
#ifndef TRACER_BPF_LEVEL_BPF_H
#define TRACER_BPF_LEVEL_BPF_H

#include "bpf/kernel/local_id.bpf.h"

/* Run once by the tracer. */
SEC("iter/task")
int find_level(struct bpf_iter__task* ctx) {
  struct task_struct* tracer = bpf_get_current_task_btf();
  struct pid* pid = BPF_CORE_READ(tracer, thread_pid);
  if (pid) {
    shared.level = BPF_CORE_READ(pid, level);
  }
  return 0;
}

#endif
