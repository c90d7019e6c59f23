/* The programs at the tracepoints of calls, fork, execve and exit. The including program defines what they do:
 * call_begins(), call_ends(), thread_forks(), program_execs() and thread_exits().
 *
 * From Linux 7.0 on (commit a46023d5616e) another thread may get the CPU while a program runs at a tracepoint. Until
 * the first one goes on, the kernel then skips that program for all other threads on this CPU. System calls are too
 * frequent for that, so there they come by perf, which disables preemption. Perf does not report enough of fork, execve
 * and exit: two programs see each of these, and the second does the work if the first was skipped. The loader leaves
 * out what its kernel does not need. */
#ifndef TRACER_BPF_WATCHED_EVENTS_BPF_H
#define TRACER_BPF_WATCHED_EVENTS_BPF_H

#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* As perf hands them to programs (events/raw_syscalls/.../format in tracefs). */
struct perf_entered {
  __u64 common;
  long number;
  unsigned long arguments[6];
};

struct perf_left {
  __u64 common;
  long number;
  long result;
};

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs* regs, long id) {
  call_begins(bpf_get_current_task_btf(), regs, id);
  return 0;
}

SEC("tp/raw_syscalls/sys_enter")
int on_perf_enter(const struct perf_entered* call) {
  struct task_struct* task = bpf_get_current_task_btf();
  call_begins(task, (const struct pt_regs*)bpf_task_pt_regs(task), call->number);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs* regs, long result) {
  call_ends(bpf_get_current_task_btf(), regs, result);
  return 0;
}

SEC("tp/raw_syscalls/sys_exit")
int on_perf_exit(const struct perf_left* call) {
  struct task_struct* task = bpf_get_current_task_btf();
  call_ends(task, (const struct pt_regs*)bpf_task_pt_regs(task), call->result);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  thread_forks(parent, child);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork_again, struct task_struct* parent, struct task_struct* child) {
  thread_forks(parent, child);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int former, struct linux_binprm* program) {
  program_execs(task, former, program);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec_again, struct task_struct* task, int former, struct linux_binprm* program) {
  program_execs(task, former, program);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit, struct task_struct* task) {
  thread_exits(task);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_thread_exit_again, struct task_struct* task) {
  thread_exits(task);
  return 0;
}

#endif
