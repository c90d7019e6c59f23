/* Reports signals and stops. They can occur while another program of ours makes a record on this CPU. */
#ifndef TRACER_BPF_SIGNALS_BPF_H
#define TRACER_BPF_SIGNALS_BPF_H

#include "bpf/kernel/names.bpf.h"
#include "bpf/kernel/records.bpf.h"
#include "bpf/kernel/threads.bpf.h"

/* Whether a signal ends as a crash where nobody handles it (signal(7): Core). */
static __always_inline bool is_crash(int signal) {
  const __u64 crashes = 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 6 | 1ULL << 7 | 1ULL << 8 | 1ULL << 11 |
                        1ULL << 24 | 1ULL << 25 | 1ULL << 31;
  return signal > 0 && signal < 32 && (crashes >> signal & 1);
}

/* The kernel's own signals have none yet where they are generated: 1 stands for that of the kernel, 0 for that of the
 * thread that runs. */
static __always_inline void copy_siginfo(void* into, int signal, const void* info, struct task_struct* task) {
  __u32* words = into; /* si_signo, si_errno, si_code, one of padding, si_pid, si_uid */
  if (bpf_probe_read_kernel(into, sizeof(struct kernel_siginfo), info) == 0) {
    return;
  }
  words[0] = (__u32)signal;
  __u64 whose = 0; /* a number, as the verifier takes the pointer itself for one that is never 0 */
  bpf_probe_read_kernel(&whose, sizeof whose, &info);
  if (whose != 0) {
    words[2] = 0x80; /* SI_KERNEL */
    return;
  }
  struct task_struct* sender = bpf_get_current_task_btf();
  words[4] = id_in(BPF_CORE_READ(sender, group_leader), space_of(task));
  words[5] = user_in(BPF_CORE_READ(task, cred, user_ns), BPF_CORE_READ(sender, cred, uid.val));
}

static __always_inline void report_signal(__u8 kind, int signal, const void* info, long value, struct task_struct* task,
                                          bool crashes) {
  struct thread_state* state = state_of(task);
  if (!state || state->phase == phase_launching) {
    return;
  }
  if (state->tid == 0) { /* of a scope, and no call of the thread has been reported */
    name_thread(task, state);
  }
  struct named_signal_record* named = bpf_ringbuf_reserve(&records, sizeof *named, 0);
  if (!named) {
    __sync_fetch_and_add(&shared.lost, 1);
    return;
  }
  __builtin_memset(named, 0, sizeof *named);
  struct signal_record* made = &named->signal;
  made->head.size = settings.processes ? sizeof *named : sizeof *made;
  made->head.kind = kind;
  made->head.tid = state->tid;
  made->head.tgid = state->tgid;
  made->head.time = bpf_ktime_get_ns();
  made->head.number = (__u32)signal;
  made->value = value;
  made->head.incomplete = crashes;
  copy_siginfo(made->siginfo, signal, info, task);
  if (settings.processes) {
    const __u32 sender = (__u32) * (const __u64*)&made->siginfo[16]; /* si_pid */
    named->chunk.address = sender;
    named->chunk.size = sizeof named->sender;
    named->chunk.kind = chunk_named_process;
    fill_process(&named->sender, task, sender);
  }
  bpf_ringbuf_submit(named, wake_up());
}

static __always_inline bool is_stopped(const struct task_struct* task) {
  const __u64 stopped = 4; /* __TASK_STOPPED */
  const struct task_struct___before_5_14* older = (const void*)task;
  return (bpf_core_field_exists(task->__state) ? task->__state : (__u64)older->state) & stopped;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo* info, struct k_sigaction* action) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* state = state_of(task);
  const __u64 immutable = 0x00800000; /* SA_IMMUTABLE: it kills at once, past any tracer, as seccomp(2) does */
  if (!settings.task_states && BPF_CORE_READ(action, sa.sa_flags) & immutable) {
    return 0;
  }
  const bool crashes = settings.task_states && is_crash(signal) && BPF_CORE_READ(action, sa.sa_handler) == 0;
  if (state && crashes) {
    state->crash = (__u8)signal;
    state->fault = 0;
    bpf_probe_read_kernel(&state->fault, sizeof state->fault, &info->words[2]); /* si_addr */
  }
  report_signal(record_signal, signal, info, BPF_CORE_READ(task, signal, group_exit_code), task, crashes);
  return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal_generated, int signal, struct kernel_siginfo* info, struct task_struct* task, int group,
             int fate) {
  const __u32 group_exit = 4; /* SIGNAL_GROUP_EXIT: nothing reaches a process that is dying */
  const int ignored = 1;
  if (fate == ignored && BPF_CORE_READ(task, signal, flags) & group_exit) {
    return 0;
  }
  report_signal(record_signal_generated, signal, info, fate, task, false);
  return 0;
}

/* A thread that leaves its CPU because its process is stopped. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct* previous) {
  const __u64 signal_bits = 0xffff; /* JOBCTL_STOP_SIGMASK */
  if (!preempted && is_stopped(previous)) {
    report_signal(record_stop, (int)(previous->jobctl & signal_bits), 0, 0, previous, false);
  }
  return 0;
}

#endif
