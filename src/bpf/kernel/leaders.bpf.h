/* How threads end. Of a process's first thread nobody hears before its last one has ended (wait(2)), whichever that is,
 * whether it is watched, and even if another thread's execve has put it in the first one's place meanwhile. */
#ifndef TRACER_BPF_LEADERS_BPF_H
#define TRACER_BPF_LEADERS_BPF_H

#include "bpf/kernel/threads.bpf.h"

/* A watched thread's, which is to be told now. */
struct thread_end {
  __u32 tid; /* in the tracer's pid namespace */
  __s32 status;
  __u32 counted; /* among shared.threads.live */
};

/* Of first threads that have ended before others of their processes, whose ids in the first pid namespace are the keys.
 */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct thread_end);
} early_leaders SEC(".maps");

static __always_inline void count_end(const struct thread_end* end) {
  if (end->counted) {
    __sync_fetch_and_sub(&shared.threads.live, 1);
  }
}

static __always_inline bool is_leader(const struct task_struct* task) {
  return task->pid == task->tgid;
}

static __always_inline bool is_last_of_process(struct task_struct* task) {
  return BPF_CORE_READ(task, signal, live.counter) == 0;
}

/* What wait(2) says of the end of a thread that would end by itself with `own`. */
static __always_inline __s32 status_of_end(struct task_struct* task, __s32 own) {
  const __u32 group_exit = 4; /* SIGNAL_GROUP_EXIT */
  return BPF_CORE_READ(task, signal, flags) & group_exit ? BPF_CORE_READ(task, signal, group_exit_code) : own;
}

/* Takes out what waits for the process of `task`; false: nothing does, or it has been taken out already. */
static __always_inline bool take_early_leader(struct task_struct* task, struct thread_end* end) {
  const __u32 process = (__u32)task->tgid;
  const struct thread_end* early = bpf_map_lookup_elem(&early_leaders, &process);
  if (!early) {
    return false;
  }
  end->tid = early->tid;
  end->status = status_of_end(task, early->status);
  end->counted = early->counted;
  if (bpf_map_delete_elem(&early_leaders, &process) != 0) {
    return false;
  }
  count_end(end);
  return true;
}

/* At the end of a thread that is watched: whether it is to be told now. */
static __always_inline bool ends_now(struct task_struct* task, const struct thread_state* state,
                                     struct thread_end* end) {
  const struct thread_end own = {local_id(task), task->exit_code, state->origin != origin_scope};
  const __u32 process = (__u32)task->tgid;
  if (is_leader(task) && !is_last_of_process(task) &&
      bpf_map_update_elem(&early_leaders, &process, &own, BPF_ANY) == 0) {
    return is_last_of_process(task) && take_early_leader(task, end); /* the others have ended meanwhile */
  }
  *end = own;
  end->status = status_of_end(task, own.status);
  count_end(end);
  return true;
}

/* At the end of any thread: whether that of its process's first one is to be told now. */
static __always_inline bool ends_leader(struct task_struct* task, struct thread_end* end) {
  return is_last_of_process(task) && take_early_leader(task, end);
}

/* A thread that is watched if it has a state has executed a program: if it was not the first one, it is from now on. Of
 * the first one of the program that the tracer started, the tracer hears by wait(2) all the same. */
static __always_inline void supersede_leader(struct task_struct* task, int former, const struct thread_state* state) {
  struct thread_end end;
  if (former != task->pid && (state || !is_child_of_tracer(task))) {
    take_early_leader(task, &end);
  }
}

#endif
