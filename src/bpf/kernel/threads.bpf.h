/* Decides which processes are watched, and holds what the programs know of each thread. The including program defines
 * `settings` and `shared`, each with a member `threads`. */
#ifndef TRACER_BPF_THREADS_BPF_H
#define TRACER_BPF_THREADS_BPF_H

#include "bpf/kernel/kernel_types.h"
#include "bpf/kernel/local_id.bpf.h"
#include "bpf/kernel/time_on_cpu.bpf.h"
#include "bpf/threads.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

enum phase {
  phase_idle,      /* between calls; a call that seccomp denies has an exit and no entry */
  phase_in_call,   /* in a call that counts */
  phase_unwanted,  /* in a call that does not */
  phase_forked,    /* on the way out of the call that created it, which was its parent's */
  phase_adopted,   /* not seen yet: it may be inside a call */
  phase_launching, /* still the tracer's own code: nothing counts but its execve */
};

enum origin {
  origin_chosen,    /* asked for, or a follower of such a one */
  origin_launching, /* will be chosen once it has its program */
  origin_scope,     /* fits a scope */
};

/* What each call needs stands first, within the cache line that the kernel reads to find this (of 56 bytes). */
struct thread_state {
  __u64 entered; /* when the call began, or when the thread was adopted */
  struct cpu_stay stay;
  __u64 charged; /* system time that ticks had charged it with when the call began */
  __u32 slot;    /* of the call in `totals` */
  __u8 phase;
  __u8 origin;
  __u8 incomplete; /* not all could be read that the entry wanted */
  __u8 crash;      /* the signal that is killing it as a crash does; 0: none */
  __u8 named;      /* the name of its program has been reported */
  __u8 exited;     /* its exit has been reported */
  __u8 stands_for; /* how many calls the time of this one is to stand for; 0: it is not timed */
  __u32 tid;       /* and its process, in the tracer's pid namespace; 0 until somebody asks */
  __u32 tgid;
  __u32 executed; /* which execve of the thread has been reported: its self_exec_id */
  __u64 fault;    /* address of the last signal that has one */
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_state);
} threads SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, most_cgroups);
  __type(key, __u32);
  __type(value, __u32);
} cgroups SEC(".maps");

/* Pointers of the kernel's are followed by BPF_CORE_READ where speed does not matter: for each that is followed as it
 * is, the verifier looks through all types of the kernel, which takes half a millisecond. */

static __always_inline struct thread_state* state_of(struct task_struct* task) {
  return bpf_task_storage_get(&threads, task, 0, 0);
}

static __always_inline bool has_slot(const volatile struct call_set* set, __u32 slot) {
  __u32 word = slot / 64;
  asm volatile("" : "+r"(word)); /* one register, so that the verifier sees that what is compared is what is used */
  return word < watched_abis * numbers_per_abi / 64 && (set->bits[word] >> (slot % 64) & 1);
}

static __always_inline __u32 slot_of(struct bpf_call_number call) {
  return call.abi * numbers_per_abi + (__u32)call.number;
}

static __always_inline bool is_wanted(struct bpf_call_number call) {
  return call.number < numbers_per_abi && call.abi < watched_abis && has_slot(&settings.threads.wanted, slot_of(call));
}

static __always_inline bool is_failure(long result, bool is_32_bit) {
  const long value = is_32_bit ? (int)result : result;
  return value < 0 && value >= -4095;
}

/* A thread that is being killed makes no way out of the kernel, and a tracer that stops it would not see the
 * result. With another fatal signal it would: there, the kernel kills at once only what is not traced. */
static __always_inline bool is_being_killed(struct task_struct* task) {
  const int sigkill = 9;
  if (!(task->pending.signal.sig[0] >> (sigkill - 1) & 1)) {
    return false;
  }
  const int signal = BPF_CORE_READ(task, signal, group_exit_code) & 0x7f;
  return signal == 0 || signal == sigkill;
}

static __always_inline void count_lost(void) {
  __sync_fetch_and_add(&shared.threads.lost, 1);
}

static __always_inline bool has_scope(void) {
  return settings.threads.system_wide || settings.threads.comms || settings.threads.cgroups;
}

static __always_inline bool is_child_of_tracer(struct task_struct* task) {
  return (__u32)BPF_CORE_READ(task, real_parent, tgid) == shared.threads.tracer;
}

static __always_inline __u32 local_id(struct task_struct* task) {
  return id_in(task, shared.threads.space);
}

static __always_inline bool is_in_scope(struct task_struct* task) {
  if (shared.threads.space.level != 0 && local_id(task) == 0) {
    return false; /* it has no id in the tracer's PID namespace, and no event could name it */
  }
  if ((__u32)task->tgid == shared.threads.tracer || (shared.threads.launching && is_child_of_tracer(task))) {
    return false;
  }
  if (settings.threads.system_wide) {
    return true;
  }
  if (settings.threads.comms) {
    __u64 name[comm_size / 8];
    BPF_CORE_READ_INTO(&name, task, group_leader, comm);
    for (__u32 i = 0; i < most_comms && i < settings.threads.comms; ++i) {
      if (name[0] == settings.threads.comm[i][0] && name[1] == settings.threads.comm[i][1]) {
        return true;
      }
    }
  }
  for (__u32 i = 0; i < most_cgroups && i < settings.threads.cgroups; ++i) {
    if (bpf_current_task_under_cgroup(&cgroups, i) == 1) {
      return true;
    }
  }
  return false;
}

/* The state of a thread at the entry of a call; nothing if it does not count. */
static __always_inline struct thread_state* entering(struct task_struct* task) {
  struct thread_state* state = state_of(task);
  if (!has_scope() || (state && state->origin != origin_scope)) {
    return state;
  }
  if (is_in_scope(task)) {
    if (!state) {
      state = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
      if (state) {
        state->origin = origin_scope;
      } else {
        count_lost();
      }
    }
    return state;
  }
  if (state) {
    state->phase = phase_unwanted; /* it has left the scope: the exit is not to be taken for a denied call's */
  }
  return 0;
}

/* The current thread has entered a call, whose time is wanted. */
static __always_inline void take_time(struct task_struct* task, struct thread_state* state) {
  state->entered = bpf_ktime_get_ns();
  if (settings.threads.cpu_time) {
    begin_stay(task, &state->stay, state->entered);
  }
}

/* Holds until the thread executes a program, which gives it its process's id. */
static __always_inline void name_thread(struct task_struct* task, struct thread_state* state) {
  state->tid = local_id(task);
  state->tgid = local_id(BPF_CORE_READ(task, group_leader));
}

/* At the entry: the thread's state if the call is one to be watched. */
static __always_inline struct thread_state* begin_call(struct task_struct* task, long id) {
  struct thread_state* state = entering(task);
  if (!state) {
    return 0;
  }
  const struct bpf_call_number call = bpf_call_number_of(&task->thread_info, (__u64)id);
  if (state->phase == phase_launching && !bpf_is_execve(call)) {
    return 0;
  }
  if (!is_wanted(call)) {
    state->phase = phase_unwanted;
    if (call.number >= numbers_per_abi) {
      __sync_fetch_and_add(&shared.threads.beyond, 1);
    }
    return 0;
  }
  state->slot = slot_of(call);
  state->phase = phase_in_call;
  return state;
}

enum call_end {
  call_unseen,       /* not one to be watched, or no tracer would see its end */
  call_seen,         /* from its entry on */
  call_had_no_entry, /* seccomp denied it, or the thread was adopted inside it; `entered` is a guess */
};

/* At the exit. */
static __always_inline enum call_end end_call(struct task_struct* task, struct thread_state* state,
                                              const struct pt_regs* regs, long result) {
  const __u8 phase = state->phase;
  if (phase == phase_launching) {
    return call_unseen;
  }
  state->phase = phase_idle;
  if (state->origin == origin_launching) {
    state->origin = origin_chosen;
    if (is_failure(result, bpf_is_32_bit(state->slot / numbers_per_abi))) {
      state->phase = phase_launching;
    }
  }
  if (phase == phase_forked || phase == phase_unwanted || is_being_killed(task)) {
    return call_unseen;
  }
  if (phase == phase_in_call) {
    return call_seen;
  }
  const struct bpf_call_number call = bpf_call_number_of(&task->thread_info, bpf_raw_number(regs));
  if (!is_wanted(call)) {
    return call_unseen;
  }
  state->slot = slot_of(call);
  if (phase == phase_idle) {
    take_time(task, state);
  }
  return call_had_no_entry;
}

/* At a fork: the child's state if it is to be watched, too, and is not yet. */
static __always_inline struct thread_state* follow(struct task_struct* parent, struct task_struct* child) {
  const struct thread_state* creator = state_of(parent);
  if (!creator || creator->origin != origin_chosen || state_of(child)) {
    return 0;
  }
  struct thread_state* state = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!state) {
    count_lost();
    return 0;
  }
  state->phase = phase_forked;
  __sync_fetch_and_add(&shared.threads.live, 1);
  return state;
}

/* Run by the tracer, which reads it to its end: over all threads that there are. */
SEC("iter/task")
int adopt(struct bpf_iter__task* ctx) {
  struct task_struct* task = ctx->task;
  if (!task) {
    return 0;
  }
  struct task_struct* tracer = bpf_get_current_task_btf();
  shared.threads.space = space_of(tracer);
  shared.threads.tracer = (__u32)tracer->tgid;
  shared.threads.clock = bpf_ktime_get_ns();
  const __u32 id = shared.threads.adopt_threads ? local_id(BPF_CORE_READ(task, group_leader)) : local_id(task);
  struct thread_state* state = state_of(task);
  if (id != shared.threads.adopt || id == 0 || (state && state->origin != origin_scope)) {
    return 0;
  }
  state = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!state) {
    count_lost();
    return 0;
  }
  state->phase = shared.threads.adopt_launching ? phase_launching : phase_adopted;
  state->origin = shared.threads.adopt_launching ? origin_launching : origin_chosen;
  name_thread(task, state);
  state->entered = bpf_ktime_get_ns();
  state->stay.switches = never_equal; /* it may have left its CPU already */
  state->stay.not_charged = time_of_charge(tracer) - task->se.sum_exec_runtime;
  __sync_fetch_and_add(&shared.threads.live, 1);
  shared.threads.adopted++;
  return 0;
}

#endif
