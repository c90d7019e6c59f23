/* The programs at the tracepoints of calls, births, execve and ends. What they do says the program that includes this,
 * in call_begins(), call_ends(), thread_begins(), program_begins() and thread_ends().
 *
 * From Linux 7.0 on (commit a46023d5616e) another thread may get the CPU while a program runs at a tracepoint, and then
 * the kernel runs that program for nobody else there until the first one goes on. What is too frequent for that comes
 * by perf, which lets nobody in: the calls. What perf does not tell enough of, births, execve and ends, is seen by two
 * programs each, of which the second does what the first has not been run for. The loader leaves out what its kernel
 * does not need. */
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
  thread_begins(parent, child);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork_again, struct task_struct* parent, struct task_struct* child) {
  thread_begins(parent, child);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int former, struct linux_binprm* program) {
  program_begins(task, former, program);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec_again, struct task_struct* task, int former, struct linux_binprm* program) {
  program_begins(task, former, program);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct* task) {
  thread_ends(task);
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end_again, struct task_struct* task) {
  thread_ends(task);
  return 0;
}

#endif
