/* Computes how long a thread was off the CPU between two moments, from times that the scheduler keeps in each task. So
 * no program of ours has to run at context switches. */
#ifndef TRACER_BPF_TIME_ON_CPU_BPF_H
#define TRACER_BPF_TIME_ON_CPU_BPF_H

#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* What was known of a thread when it was looked at last. Few calls make a thread leave its CPU, and what it takes to
 * find out how long it was away lies all over the kernel's memory: that is looked up only where its count of switches
 * moves. */
struct cpu_stay {
  __u64 switches;    /* times that it had left its CPU; never_equal: to be found out anew */
  __u64 not_charged; /* time_not_charged() then */
  __u64 looked;      /* when, by the clock of the call */
};

/* Nanoseconds for which `not_charged` holds: interrupts and the hypervisor make it grow, too. */
static const __u64 still_fresh = 1000000;
static const __u64 never_equal = ~0ULL;

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

/* Grows by the time that the current thread is not on a CPU, and by nothing else that lasts. */
static __always_inline __u64 time_not_charged(const struct task_struct* current) {
  return time_of_charge(current) - current->se.sum_exec_runtime;
}

static __always_inline __u64 switches_of(const struct task_struct* task) {
  return task->nvcsw + task->nivcsw;
}

static __always_inline void look_at_stay(const struct task_struct* current, struct cpu_stay* stay, __u64 now) {
  stay->switches = switches_of(current);
  stay->not_charged = time_not_charged(current);
  stay->looked = now;
}

/* From `now` on, time_off_cpu() is asked for. */
static __always_inline void begin_stay(const struct task_struct* current, struct cpu_stay* stay, __u64 now) {
  if (stay->switches != switches_of(current) || now - stay->looked > still_fresh) {
    look_at_stay(current, stay, now);
  }
}

/* Until `now`. */
static __always_inline __u64 time_off_cpu(const struct task_struct* current, struct cpu_stay* stay, __u64 now) {
  if (stay->switches == switches_of(current)) {
    return 0;
  }
  const __u64 before = stay->not_charged;
  look_at_stay(current, stay, now);
  const __s64 off = (__s64)(stay->not_charged - before);
  return off > 0 ? (__u64)off : 0; /* the clock may have been read between a charge and the next */
}

#endif
