/* Ids of threads and processes where the tracer lives. */
#ifndef TRACER_BPF_LOCAL_ID_BPF_H
#define TRACER_BPF_LOCAL_ID_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* In the pid namespace at `level`, counted from the first; 0 if there is none. */
static __always_inline __u32 id_of_pid(struct pid* pid, __u32 level) {
  struct upid number = {};
  if (!pid || BPF_CORE_READ(pid, level) < level) {
    return 0;
  }
  const void* numbers = &pid->numbers[0];
  bpf_probe_read_kernel(&number.nr, sizeof number.nr, numbers + level * bpf_core_type_size(struct upid));
  return (__u32)number.nr;
}

/* The same of a thread. */
static __always_inline __u32 id_at_level(struct task_struct* task, __u32 level) {
  return id_of_pid(BPF_CORE_READ(task, thread_pid), level);
}

#endif
