/* Ids of threads, processes and users in the namespaces of others. */
#ifndef TRACER_BPF_LOCAL_ID_BPF_H
#define TRACER_BPF_LOCAL_ID_BPF_H

#include "bpf/kernel/kernel_types.h"

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

/* The id that a user namespace has for a user of the first one; "nobody" if it has none. */
static __always_inline __u32 user_in(struct user_namespace* space, __u32 user) {
  const __u32 ranges = BPF_CORE_READ(space, uid_map.nr_extents);
  for (__u32 i = 0; i < 5 && i < ranges; ++i) {
    const struct uid_gid_extent* range = &space->uid_map.extent[i];
    const __u32 place = user - BPF_CORE_READ(range, lower_first);
    if (place < BPF_CORE_READ(range, count)) {
      return BPF_CORE_READ(range, first) + place;
    }
  }
  return 65534; /* where there are more, too */
}

#endif
