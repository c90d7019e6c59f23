/* Ids of threads, processes and users in the namespaces of others. */
#ifndef TRACER_BPF_LOCAL_ID_BPF_H
#define TRACER_BPF_LOCAL_ID_BPF_H

#include "bpf/kernel/kernel_types.h"
#include "bpf/pid_space.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* What a thread is called at a level of PID namespaces, and in which one. */
static __always_inline struct upid upid_at(struct pid* pid, __u32 level) {
  struct upid at = {};
  const void* place = (const void*)&pid->numbers[0] + level * bpf_core_type_size(struct upid);
  bpf_probe_read_kernel(&at.nr, sizeof at.nr, place + bpf_core_field_offset(struct upid, nr));
  bpf_probe_read_kernel(&at.ns, sizeof at.ns, place + bpf_core_field_offset(struct upid, ns));
  return at;
}

/* The PID namespace of a thread. */
static __always_inline struct pid_space space_of(struct task_struct* task) {
  struct pid_space space = {};
  struct pid* pid = BPF_CORE_READ(task, thread_pid);
  if (pid) {
    space.level = BPF_CORE_READ(pid, level);
    space.address = (__u64)upid_at(pid, space.level).ns;
  }
  return space;
}

/* In a PID namespace; 0 if there is none. */
static __always_inline __u32 id_of_pid(struct pid* pid, struct pid_space space) {
  if (!pid || BPF_CORE_READ(pid, level) < space.level) {
    return 0;
  }
  const struct upid at = upid_at(pid, space.level);
  return (__u64)at.ns == space.address ? (__u32)at.nr : 0;
}

/* The same of a thread. */
static __always_inline __u32 id_in(struct task_struct* task, struct pid_space space) {
  return id_of_pid(BPF_CORE_READ(task, thread_pid), space);
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
