/* Reports the exits of threads. Like wait(2), it reports a thread group leader only when the last thread of the process
 * has exited. That thread may be one that is not watched, or one that has become the leader by its execve. */
#ifndef TRACER_BPF_LEADERS_BPF_H
#define TRACER_BPF_LEADERS_BPF_H

#include "bpf/kernel/threads.bpf.h"

/* The exit of a watched thread, which is to be reported now. */
struct thread_exit {
  __u32 tid; /* in the tracer's pid namespace */
  __s32 status;
  __u32 counted; /* among shared.threads.live */
};

/* The exits of leaders that other threads of their processes outlive. The keys are the processes' ids in the first pid
 * namespace. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct thread_exit);
} exited_leaders SEC(".maps");

static __always_inline void count_exit(const struct thread_exit* end) {
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

/* The status that wait(2) has for a thread whose own exit status is `own`. */
static __always_inline __s32 status_of_exit(struct task_struct* task, __s32 own) {
  const __u32 group_exit = 4; /* SIGNAL_GROUP_EXIT */
  return BPF_CORE_READ(task, signal, flags) & group_exit ? BPF_CORE_READ(task, signal, group_exit_code) : own;
}

/* Takes out the leader of the process of `task`; false: it has not exited, or it has been taken out already. */
static __always_inline bool take_exited_leader(struct task_struct* task, struct thread_exit* end) {
  const __u32 process = (__u32)task->tgid;
  const struct thread_exit* early = bpf_map_lookup_elem(&exited_leaders, &process);
  if (!early) {
    return false;
  }
  end->tid = early->tid;
  end->status = status_of_exit(task, early->status);
  end->counted = early->counted;
  if (bpf_map_delete_elem(&exited_leaders, &process) != 0) {
    return false;
  }
  count_exit(end);
  return true;
}

/* At the exit of a thread that is watched: whether it is to be reported now. */
static __always_inline bool exits_now(struct task_struct* task, const struct thread_state* state,
                                      struct thread_exit* end) {
  const struct thread_exit own = {local_id(task), task->exit_code, state->origin != origin_scope};
  const __u32 process = (__u32)task->tgid;
  if (is_leader(task) && !is_last_of_process(task) &&
      bpf_map_update_elem(&exited_leaders, &process, &own, BPF_ANY) == 0) {
    return is_last_of_process(task) && take_exited_leader(task, end); /* the others have exited meanwhile */
  }
  *end = own;
  end->status = status_of_exit(task, own.status);
  count_exit(end);
  return true;
}

/* At the exit of any thread: whether the exit of its leader is to be reported now. */
static __always_inline bool leader_exits(struct task_struct* task, struct thread_exit* end) {
  return is_last_of_process(task) && take_exited_leader(task, end);
}

/* A thread, which is watched if it has a state, has executed a program and is the leader from now on, if it was not.
 * The tracer learns by wait(2) all the same of the leader of the program that it has started. */
static __always_inline void supersede_leader(struct task_struct* task, int former, const struct thread_state* state) {
  struct thread_exit end;
  if (former != task->pid && (state || !is_child_of_tracer(task))) {
    take_exited_leader(task, &end);
  }
}

#endif
