/* Traces calls without stopping a thread: at the entry and the exit of every call that is watched, it makes a record of
 * the arguments and the memory that they point to (records.bpf.h). A capture plan for each call, a list of operations
 * that the loader has made from the descriptions, says what to copy. No record wakes the reader, which polls. */
#include "bpf/tracing.h"
#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char licence[] SEC("license") = "Dual MIT/GPL";

SEC(".rodata.settings") const volatile struct tracing_settings settings = {};
SEC(".data.shared") struct tracing_shared shared = {};

#include "bpf/kernel/capture.bpf.h"
#include "bpf/kernel/crash.bpf.h"
#include "bpf/kernel/leaders.bpf.h"
#include "bpf/kernel/names.bpf.h"
#include "bpf/kernel/pending_entries.bpf.h"
#include "bpf/kernel/plans.bpf.h"
#include "bpf/kernel/preemption.bpf.h"
#include "bpf/kernel/program_texts.bpf.h"
#include "bpf/kernel/records.bpf.h"
#include "bpf/kernel/signals.bpf.h"
#include "bpf/kernel/task_state.bpf.h"
#include "bpf/kernel/threads.bpf.h"

/* A record of no thread and no call yet. Null: there is no place for it. */
static __always_inline void* begin_nameless(struct scratch* s, __u8 kind, __u64 time, __u32 size) {
  struct trace_record* head = next_place(s);
  s->used = size;
  s->faults = 0;
  s->named_count = 0;
  if (head) {
    head->kind = kind;
    head->abi = 0;
    head->arguments = 0;
    head->incomplete = 0;
    head->time = time;
    head->number = 0;
  }
  return head;
}

static __always_inline void* begin_record(struct scratch* s, __u8 kind, const struct thread_state* state, __u64 time,
                                          __u32 size) {
  struct trace_record* head = begin_nameless(s, kind, time, size);
  if (head) {
    head->abi = (__u8)(state->slot / numbers_per_abi);
    head->tid = state->tid;
    head->tgid = state->tgid;
    head->number = state->slot % numbers_per_abi;
  }
  return head;
}

static __always_inline struct lifecycle_record* begin_lifecycle(struct scratch* s, __u8 kind,
                                                                const struct thread_state* state, __s64 value) {
  struct lifecycle_record* record = begin_record(s, kind, state, bpf_ktime_get_ns(), sizeof *record);
  if (record) {
    record->value = value;
  }
  return record;
}

static __always_inline void submit_name(struct scratch* s, struct task_struct* task, struct thread_state* state,
                                        const void* name, __u64 time) {
  struct name_record* record = begin_record(s, record_name, state, time, sizeof *record);
  if (record) {
    record->head.tid = local_id(task); /* which another thread's execve may have given it */
    __builtin_memset(record->comm, 0, sizeof record->comm);
    bpf_probe_read_kernel_str(record->comm, sizeof record->comm, name);
    submit(s);
  }
  state->named = 1;
}

static __always_inline void enter(struct scratch* s, struct task_struct* task, struct thread_state* state,
                                  const struct pt_regs* regs) {
  const __u32 slot = state->slot;
  if (state->tid == 0) {
    name_thread(task, state);
  }
  if (settings.commands && !state->named) {
    submit_name(s, task, state, &task->comm, state->entered);
  }
  struct enter_record* record = begin_record(s, record_enter, state, state->entered, sizeof *record);
  if (!record) {
    return;
  }
  record->instruction_pointer = bpf_instruction_pointer(regs);
  record->stack_pointer = bpf_stack_pointer(regs);
  bpf_call_arguments(regs, slot / numbers_per_abi, s->slot);
  __builtin_memcpy(record->args, s->slot, sizeof record->args);
  choose_plan(slot);
  record->head.arguments = most_arguments;
  if (s->plan.arguments < most_arguments) {
    record->head.arguments = s->plan.arguments;
    s->used -= (most_arguments - s->plan.arguments) * sizeof record->args[0];
  }
  if (settings.stack_bytes != 0) {
    copy_stack(s, regs);
  }
  if (s->plan.entry_count != 0) {
    s->slot[slot_stack] = record->stack_pointer;
    run_plan(s, s->plan.entry_first, s->plan.entry_count);
    name_wanted(s);
  }
  state->incomplete = s->faults != 0;
  record->head.incomplete = s->faults != 0;
  submit_entry(s, task);
}

static __always_inline void call_begins(struct task_struct* task, const struct pt_regs* regs, long id) {
  struct thread_state* state = begin_call(task, id);
  struct scratch* s = state ? own_scratch() : 0;
  if (state && s) {
    take_time(task, state);
    enter(s, task, state, regs);
  }
}

static __always_inline void leave(struct scratch* s, struct task_struct* task, struct thread_state* state,
                                  const struct pt_regs* regs, long result) {
  const enum call_end end = end_call(task, state, regs, result);
  if (end == call_unseen) {
    return;
  }
  if (end == call_had_no_entry) {
    enter(s, task, state, regs);
    state->incomplete = 0; /* there is no better time to read it */
  }
  const __u32 slot = state->slot;
  const __u32 abi = slot / numbers_per_abi;
  __u64 now = bpf_ktime_get_ns();
  struct pending_entry* entry = pending_of(task);
  if (entry && !is_wanted_end(result, bpf_is_32_bit(abi), now - state->entered)) {
    entry->size = 0;
    return;
  }
  if (entry) {
    submit_pending(s, entry);
    now = bpf_ktime_get_ns(); /* what follows from a record is later than it */
  }
  bpf_call_arguments(regs, abi, s->slot);
  choose_plan(slot);
  struct exit_record* record = begin_record(s, record_exit, state, now, sizeof *record);
  if (!record) {
    return;
  }
  record->head.number = (__u32)state->entered;
  record->result = bpf_is_32_bit(abi) ? (__s32)result : result;
  record->instruction_pointer = bpf_instruction_pointer(regs);
  record->off_time = settings.threads.cpu_time ? time_off_cpu(task, &state->stay, now) : 0;
  record->late = 0;
  const bool failed = is_failure(result, bpf_is_32_bit(abi));
  const __u32 operations = failed && !s->plan.exit_if_failed ? 0 : s->plan.exit_count;
  if (operations != 0 || state->incomplete) {
    s->slot[slot_result] = (__u64)record->result;
    run_plan(s, s->plan.exit_first, operations);
    name_wanted(s);
    if (state->incomplete) {
      record->late = s->used;
      s->slot[slot_stack] = bpf_stack_pointer(regs);
      run_plan(s, s->plan.entry_first, s->plan.entry_count);
      name_wanted(s);
    }
  }
  if (settings.task_states && (failed || has_slot(&settings.turning_points, slot))) {
    copy_task_state(s, task, s->slot[0]);
  }
  submit(s);
}

static __always_inline void call_ends(struct task_struct* task, const struct pt_regs* regs, long result) {
  struct thread_state* state = state_of(task);
  struct scratch* s = state ? own_scratch() : 0;
  if (state && s) {
    leave(s, task, state, regs, result);
  }
}

static __always_inline void thread_forks(struct task_struct* parent, struct task_struct* child) {
  struct thread_state* state = follow(parent, child);
  struct scratch* s = own_scratch();
  if (state && s) {
    name_thread(child, state);
    disable_preemption();
    if (settings.commands) {
      submit_name(s, child, state, &child->comm, bpf_ktime_get_ns());
    }
    if (begin_lifecycle(s, record_fork, state, local_id(parent))) {
      submit(s);
    }
    enable_preemption();
  }
}

static __always_inline void submit_exec(struct scratch* s, struct task_struct* task, struct thread_state* state,
                                        struct linux_binprm* program) {
  const __u32 former_tid = state->tid;
  name_thread(task, state);
  if (settings.commands && !state->named) {
    submit_name(s, task, state, &task->comm, bpf_ktime_get_ns());
  }
  if (state->phase == phase_in_call) {
    struct pending_entry* entry = pending_of(task);
    if (entry) {
      submit_pending(s, entry);
    }
  }
  /* Whether its execve is watched or not; but a thread that has left the scope is in no call. */
  if ((state->phase == phase_in_call || state->origin != origin_scope) &&
      begin_lifecycle(s, record_exec, state, former_tid)) {
    if (state->phase == phase_in_call && state->incomplete) {
      copy_program_texts(s, task, program);
    }
    submit(s);
  }
}

static __always_inline void program_execs(struct task_struct* task, int former, struct linux_binprm* program) {
  struct thread_state* state = state_of(task);
  struct scratch* s = own_scratch();
  supersede_leader(task, former, state);
  if (state && s && state->executed != task->self_exec_id) {
    state->executed = task->self_exec_id;
    disable_preemption();
    submit_exec(s, task, state, program);
    enable_preemption();
  }
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct* task, const char* name) {
  struct thread_state* state = state_of(task);
  struct scratch* s = own_scratch();
  if (state && s && state->named) {
    disable_preemption();
    submit_name(s, task, state, name, bpf_ktime_get_ns());
    enable_preemption();
  }
  return 0;
}

/* Reports the memory of a thread that a signal is killing. */
static __always_inline void submit_crash(struct task_struct* task, struct thread_state* state) {
  __u32 slot;
  struct crash_record* crash = state->crash != 0 && BPF_CORE_READ(task, mm) ? claim_crash(&slot) : 0;
  if (!crash) {
    return;
  }
  fill_crash(crash, slot, task, state);
  state->crash = 0;
  __u64 size = offsetof(struct crash_record, mappings) + crash->mapping_count * sizeof crash->mappings[0];
  asm volatile("" : "+r"(size)); /* as in submit() */
  if (size <= sizeof *crash) {
    crash->head.size = (__u32)size;
    if (bpf_ringbuf_output(&records, crash, size, wake_up()) != 0) {
      __sync_fetch_and_add(&shared.lost, 1);
    }
  }
  bpf_map_delete_elem(&claimed_crashes, &slot);
}

/* Early enough on all kernels, where programs can sit on functions. */
SEC("fentry/do_group_exit")
int BPF_PROG(on_group_exit) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* state = state_of(task);
  if (state) {
    submit_crash(task, state);
  }
  return 0;
}

static __always_inline void submit_exited(struct scratch* s, struct task_struct* task, const struct thread_exit* end) {
  struct lifecycle_record* record = begin_nameless(s, record_exited, bpf_ktime_get_ns(), sizeof *record);
  if (record) {
    record->head.tid = end->tid;
    record->head.tgid = local_id(BPF_CORE_READ(task, group_leader));
    record->value = end->status;
    submit(s);
  }
}

static __always_inline void submit_exits(struct scratch* s, struct task_struct* task, struct thread_state* state) {
  struct thread_exit end;
  if (state && !state->exited) {
    state->exited = 1;
    struct pending_entry* entry = pending_of(task);
    if (entry) {
      submit_pending(s, entry);
    }
    if (settings.task_states) {
      submit_crash(task, state); /* from Linux 6.16 on the memory is still there */
    }
    if (exits_now(task, state, &end)) {
      submit_exited(s, task, &end);
    } else if (begin_lifecycle(s, record_exiting, state, 0)) {
      submit(s);
    }
  }
  if (leader_exits(task, &end)) {
    submit_exited(s, task, &end);
  }
}

static __always_inline void thread_exits(struct task_struct* task) {
  struct scratch* s = own_scratch();
  if (s) {
    disable_preemption();
    submit_exits(s, task, state_of(task));
    enable_preemption();
  }
}

#include "bpf/kernel/watched_events.bpf.h"
