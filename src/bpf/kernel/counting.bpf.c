/* Counts system calls in the kernel, at the entry and the exit of every call of every thread that is counted. Nothing
 * leaves the kernel for a call; the loader reads the totals at the end.
 *
 * The programs are at the tracepoints sys_enter and sys_exit, through BTF, which takes no copy of the registers, no
 * perf event and no lock. The data of a thread is in its task storage. Each CPU has its own part of the array of
 * totals, in which each call has one cache line. */
#include "bpf/counting.h"
#include "base/latency_bucket.h"
#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char licence[] SEC("license") = "Dual MIT/GPL";

SEC(".rodata.settings") const volatile struct counting_settings settings = {};
SEC(".data.shared") struct counting_shared shared = {};

#include "bpf/kernel/leaders.bpf.h"
#include "bpf/kernel/threads.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, counting_slots); /* of each CPU */
  __type(key, __u32);
  __type(value, struct counting_totals);
} totals SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
  __uint(max_entries, latency_classes);
  __type(key, struct latency_key);
  __type(value, __u64);
} latencies SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, lifecycles_size);
} lifecycles SEC(".maps");

static __always_inline void add_time(struct counting_times* times, __u64 time, bool first) {
  times->total += time;
  if (first || time < times->shortest) {
    times->shortest = time;
  }
  if (time > times->longest) {
    times->longest = time;
  }
}

static __always_inline void sort_in(__u32 slot, __u64 time) {
  const struct latency_key key = {slot, latency_bucket_of(time)};
  __u64* count = bpf_map_lookup_elem(&latencies, &key);
  if (count) {
    (*count)++;
    return;
  }
  const __u64 once = 1;
  if (bpf_map_update_elem(&latencies, &key, &once, BPF_NOEXIST) != 0) {
    /* Full, or another CPU has made it meanwhile. */
    count = bpf_map_lookup_elem(&latencies, &key);
    if (count) {
      (*count)++;
    } else {
      __sync_fetch_and_add(&shared.unsorted, 1);
    }
  }
}

static __always_inline struct counting_totals* totals_of(__u32 slot) {
  const __u32 place = bpf_get_smp_processor_id() * counting_slots + slot;
  return bpf_map_lookup_elem(&totals, &place);
}

/* How many calls the one that begins is to stand for; 0: it is not to be timed. */
static __always_inline __u8 draw(struct counting_sample* sample) {
  if (sample->skip != 0) {
    sample->skip--;
    return 0;
  }
  __u8 stands_for = sample_block;
  if (sample->one_by_one < timed_at_first) {
    stands_for = 1;
    if (++sample->one_by_one < timed_at_first) {
      return stands_for;
    }
  }
  const __u16 before = bpf_get_prandom_u32() % sample_block;
  sample->skip = sample->rest + before;
  sample->rest = sample_block - 1 - before;
  return stands_for;
}

static __always_inline void call_begins(struct task_struct* task, const struct pt_regs* regs, long id) {
  struct thread_state* state = begin_call(task, id);
  if (!state || !settings.threads.times) {
    return;
  }
  if (settings.sampled) {
    struct counting_totals* sum = totals_of(state->slot);
    if (!sum) {
      return;
    }
    state->charged = task->stime;
    state->stands_for = draw(&sum->sample);
    if (state->stands_for == 0) {
      return;
    }
  }
  take_time(task, state);
}

/* Nanoseconds on a CPU, of `wall`. */
static __always_inline __u64 time_on_cpu(struct task_struct* task, struct thread_state* state, __u64 wall, __u64 now) {
  /* What was in its way when it was adopted is only roughly known. */
  const __u64 off = time_off_cpu(task, &state->stay, now);
  return wall > off ? wall - off : 0;
}

/* Whether a call stands for itself: every such call counts, whether it is timed or not. A tick charges the thread
 * that it meets with all the time since the last. */
static __always_inline bool is_long(__u64 charged) {
  return charged >= 2 * settings.tick;
}

/* While a call is on a CPU, ticks miss less than one of it. Somebody has taken the CPU away, such as the hypervisor:
 * that says nothing of other calls. */
static __always_inline bool is_delayed(__u64 time, __u64 charged) {
  return time >= charged + settings.tick;
}

static __always_inline void add_sample(struct counting_totals* sum, struct task_struct* task,
                                       struct thread_state* state) {
  struct counting_sample* sample = &sum->sample;
  const __u64 charged = task->stime - state->charged;
  __u64 time = charged;
  if (state->stands_for != 0) {
    const __u64 now = bpf_ktime_get_ns();
    time = time_on_cpu(task, state, now - state->entered, now);
  } else if (!is_long(charged)) {
    return;
  }
  if (is_long(charged) || is_delayed(time, charged)) {
    sample->represented++;
    sample->alone += time;
    sample->one_by_one = 0;
    sample->skip = 0;
    sample->rest = 0;
    return;
  }
  add_time(&sum->cpu, time, sum->cpu.longest == 0);
  sum->cpu.total += time * (state->stands_for - 1);
  sample->represented += state->stands_for;
}

static __always_inline void add_call(struct counting_totals* sum, struct task_struct* task, struct thread_state* state,
                                     long result) {
  const __u32 slot = state->slot;
  const bool first = sum->calls == 0;
  sum->calls++;
  sum->errors += is_failure(result, bpf_is_32_bit(slot / numbers_per_abi));
  if (!settings.threads.times) {
    return;
  }
  if (settings.sampled) {
    add_sample(sum, task, state);
    return;
  }
  const __u64 now = bpf_ktime_get_ns();
  const __u64 wall = now - state->entered;
  add_time(&sum->wall, wall, first);
  if (settings.latencies) {
    sort_in(slot, wall);
  }
  if (settings.threads.cpu_time) {
    add_time(&sum->cpu, time_on_cpu(task, state, wall, now), first);
  }
}

static __always_inline void call_ends(struct task_struct* task, const struct pt_regs* regs, long result) {
  struct thread_state* state = state_of(task);
  if (!state) {
    return;
  }
  const enum call_end end = end_call(task, state, regs, result);
  if (end == call_unseen) {
    return;
  }
  if (end == call_had_no_entry) {
    state->charged = task->stime;
    state->stands_for = 1;
  }
  struct counting_totals* sum = totals_of(state->slot);
  if (sum) {
    add_call(sum, task, state, result);
  }
}

/* The tracer looks by itself now and then. A wake-up for each process of a build would take the CPU from the build. */
static __always_inline __u64 wake_up(void) {
  const bool last = shared.threads.live == 0;
  return last || bpf_ringbuf_query(&lifecycles, BPF_RB_AVAIL_DATA) > lifecycles_size / 4 ? BPF_RB_FORCE_WAKEUP
                                                                                         : BPF_RB_NO_WAKEUP;
}

static __always_inline void report(__u32 kind, __u32 tid, struct task_struct* task, __u32 parent, __s32 status) {
  struct lifecycle_report* record = bpf_ringbuf_reserve(&lifecycles, sizeof *record, 0);
  if (!record) {
    count_lost();
    return;
  }
  record->kind = kind;
  record->tid = tid;
  record->tgid = local_id(BPF_CORE_READ(task, group_leader));
  record->parent = parent;
  record->status = status;
  bpf_ringbuf_submit(record, wake_up());
}

static __always_inline void thread_forks(struct task_struct* parent, struct task_struct* child) {
  if (follow(parent, child)) {
    report(lifecycle_fork, local_id(child), child, local_id(parent), 0);
  }
}

static __always_inline void report_exit(const struct thread_exit* end, struct task_struct* task) {
  if (end->counted) {
    report(lifecycle_exit, end->tid, task, 0, end->status);
  }
}

static __always_inline void program_execs(struct task_struct* task, int former, struct linux_binprm* program) {
  supersede_leader(task, former, state_of(task));
}

static __always_inline void thread_exits(struct task_struct* task) {
  struct thread_state* state = state_of(task);
  struct thread_exit end;
  if (state && !state->exited) {
    state->exited = 1;
    if (exits_now(task, state, &end)) {
      report_exit(&end, task);
    }
  }
  if (leader_exits(task, &end)) {
    report_exit(&end, task);
  }
}

#include "bpf/kernel/watched_events.bpf.h"
