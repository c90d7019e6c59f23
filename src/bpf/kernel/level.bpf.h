/* Finds the tracer's pid namespace: the level of it goes into `shared`, which the program that includes this has. */
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
