/* How long a thread was not on a CPU between two moments at which it is. The scheduler notes in each thread what that
 * takes, so nothing of ours has to run whenever it switches between threads. */
#ifndef TRACER_BPF_TIME_ON_CPU_BPF_H
#define TRACER_BPF_TIME_ON_CPU_BPF_H

#include "bpf/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* How far the clock by which the scheduler charges threads is behind that of their CPU, which all CPUs have in common:
 * it stands still in interrupts, and while the hypervisor lets others run. */
static __always_inline __u64 charging_is_behind(const struct task_struct* current) {
  const struct cfs_rq* any = 0;
  if (!bpf_core_field_exists(any->rq) ||
      !(bpf_core_field_exists(any->rq->prev_irq_time) || bpf_core_field_exists(any->rq->prev_steal_time_rq))) {
    return 0;
  }
  const struct rq* mine = current->se.cfs_rq->rq; /* its CPU's, whatever its scheduling class is */
  return mine->clock - mine->clock_task;
}

/* When the scheduler has last charged the current thread for its time. */
static __always_inline __u64 time_of_charge(const struct task_struct* current) {
  return current->se.exec_start + charging_is_behind(current);
}

/* Grows by the time that the current thread is not on a CPU, and by nothing else. */
static __always_inline __u64 time_not_charged(const struct task_struct* current) {
  return time_of_charge(current) - current->se.sum_exec_runtime;
}

/* Since it was `before`. */
static __always_inline __u64 time_off_cpu(const struct task_struct* current, __u64 before) {
  const __s64 off = (__s64)(time_not_charged(current) - before);
  return off > 0 ? (__u64)off : 0; /* the clock may have been read between a charge and the next */
}

#endif
