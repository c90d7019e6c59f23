/* Records each entry of a function, each return and each hit of a static probe, with registers and the memory that a
 * plan names. The programs may sleep, so another thread may run on the CPU in between: each thread makes its records in
 * a buffer of its own. A thread is in only one of these programs at a time. */
#include "bpf/function_records.h"
#include "bpf/kernel/kernel_types.h"
#include "bpf/record_block.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define TRACER_BPF_MAY_SLEEP

char licence[] SEC("license") = "Dual MIT/GPL";

SEC(".rodata.settings") const volatile struct tracing_settings settings = {};
SEC(".data.shared") struct thread_shared shared = {};

#include "bpf/kernel/capture.bpf.h"
#include "bpf/kernel/own_space.bpf.h"

enum {
  sigstop = 19,
  most_watched_returns = 64, /* MAX_URETPROBE_DEPTH of kernel/events/uprobes.c */
};

struct thread_scratch {
  struct scratch scratch;
  __u8 record[largest_made];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_scratch);
} scratches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024 * 1024);
} records SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, most_recorded_places);
  __type(key, __u32);
  __type(value, struct recorded_place);
} places SEC(".maps");

struct open_call_key {
  __u32 thread; /* in the first pid namespace */
  __u32 place;
  __u64 stack_pointer;
};

/* What the plan of the return may look at. */
struct open_call {
  __u64 slot[most_arguments];
};

/* Calls that are never seen to return, as a jump has left them, make room for others. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, most_recorded_calls);
  __type(key, struct open_call_key);
  __type(value, struct open_call);
} open_calls SEC(".maps");

static __always_inline struct scratch* own_scratch(void) {
  return bpf_task_storage_get(&scratches, bpf_get_current_task_btf(), 0, 0);
}

static __always_inline void* record_place(struct scratch* s) {
  return ((struct thread_scratch*)s)->record;
}

static __always_inline void count_lost(void) {
  __sync_fetch_and_add(&shared.lost, 1);
}

static __always_inline struct function_record* begin(struct scratch* s, struct task_struct* task, __u8 kind,
                                                     __u32 place, const struct pt_regs* regs) {
  struct function_record* record = record_place(s);
  record->head.kind = kind;
  record->head.abi = 0;
  record->head.arguments = 0;
  record->head.incomplete = 0;
  record->head.tid = id_in(task, shared.space);
  record->head.tgid = id_in(BPF_CORE_READ(task, group_leader), shared.space);
  record->head.time = bpf_ktime_get_ns();
  record->head.number = place;
  record->head.lost = 0;
  record->error = 0;
  record->flags = 0;
  bpf_probe_read_kernel(record->registers, bpf_registers_size, regs);
  s->used = sizeof *record;
  s->faults = 0;
  s->named_count = 0;
  return record;
}

/* Whether there is little room left for records: the thread waits until the reader has made some. */
static __always_inline bool is_crowded(void) {
  const __u64 size = bpf_ringbuf_query(&records, BPF_RB_RING_SIZE);
  return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) > size - size / 4;
}

/* False: it is lost. */
static __always_inline bool submit(struct scratch* s) {
  struct function_record* record = record_place(s);
  if (is_crowded()) {
    record->flags |= record_held;
  }
  __u64 size = s->used;
  asm volatile("" : "+r"(size)); /* one register, so that the verifier sees that what is compared is what is used */
  if (size > largest_made) {
    return false;
  }
  record->head.size = (__u32)size;
  if (bpf_ringbuf_output(&records, record, size, BPF_RB_NO_WAKEUP) != 0) {
    count_lost();
    return false;
  }
  if (record->flags & record_held) {
    bpf_send_signal_thread(sigstop);
  }
  return true;
}

struct sources_job {
  __u32 place;
  __u32 unused;
};

static long fill_slot(__u32 i, struct sources_job* job) {
  struct scratch* s = own_scratch();
  const __u32 at = job->place;
  const struct recorded_place* place = bpf_map_lookup_elem(&places, &at);
  if (!s || !place || i >= most_sources) {
    return 1;
  }
  const struct function_record* record = record_place(s);
  const struct recorded_source* source = &place->source[i];
  const __u32 base = source->base;
  const __u32 index = source->index;
  __u64 value = (__u64)source->displacement;
  if (base < record_words) {
    value += record->registers[base];
  }
  if (index < record_words) {
    value += record->registers[index] * source->scale;
  }
  s->slot[i] = source->size == 0 ? value : read_number(s, value, source->size);
  return 0;
}

/* Fills the slots, and copies what the plan of the entry names. */
static __always_inline struct function_record* begin_entry(struct scratch* s, struct task_struct* task, __u32 at,
                                                           const struct recorded_place* place, struct pt_regs* regs) {
  struct function_record* record = begin(s, task, record_place_reached, at, regs);
  const __u64 stack_pointer = bpf_stack_pointer(regs);
  record->stack_pointer = stack_pointer;
  struct sources_job sources = {at, 0};
  bpf_loop(place->sources, fill_slot, &sources, 0);
  s->slot[slot_stack] = stack_pointer;
  return record;
}

/* A static probe. */
SEC("uprobe.s")
int on_place(struct pt_regs* regs) {
  const __u32 at = (__u32)bpf_get_attach_cookie(regs) & (most_recorded_places - 1);
  const struct recorded_place* place = bpf_map_lookup_elem(&places, &at);
  struct task_struct* task = bpf_get_current_task_btf();
  if (!place || !(place->flags & recorded_in_use)) {
    return 0;
  }
  struct scratch* s = bpf_task_storage_get(&scratches, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!s) {
    count_lost();
    return 0;
  }
  begin_entry(s, task, at, place, regs);
  run_plan(s, place->plan.entry_first, place->plan.entry_count);
  submit(s);
  return 0;
}

/* The kernel has no room for more, or what it would replace is no return address: the place was jumped to. */
static __always_inline bool is_return_unseen(struct task_struct* task, struct pt_regs* regs) {
  return BPF_CORE_READ(task, utask, depth) >= most_watched_returns || !bpf_has_return_address(regs);
}

/* Whether the kernel is to watch the return. */
static __always_inline bool enter_function(struct task_struct* task, __u32 at, const struct recorded_place* place,
                                           struct pt_regs* regs) {
  struct scratch* s = bpf_task_storage_get(&scratches, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!s) {
    count_lost();
    return false;
  }
  struct function_record* record = begin_entry(s, task, at, place, regs);
  copy_block(s, record->stack_pointer, recorded_stack);
  run_plan(s, place->plan.entry_first, place->plan.entry_count);
  const bool unseen = (place->flags & recorded_leaves_returns) || is_return_unseen(task, regs);
  if (unseen) {
    record->flags |= record_return_unseen | record_held;
  }
  if (!submit(s) || unseen) {
    return false;
  }
  const struct open_call_key key = {(__u32)task->pid, at, record->stack_pointer};
  struct open_call call;
  __builtin_memcpy(call.slot, s->slot, sizeof call.slot);
  if (bpf_map_update_elem(&open_calls, &key, &call, BPF_ANY) != 0) {
    count_lost();
    return false;
  }
  return true;
}

static __always_inline void note_errno(struct function_record* record, struct task_struct* task,
                                       const struct recorded_place* place) {
  __u64 address = bpf_thread_pointer(&task->thread) + (__u64)place->errno_offset;
  if (place->errno_word != 0) {
    __u64 more = 0;
    if (read_memory(&more, sizeof more, place->errno_word) != 0) {
      return;
    }
    address += more;
  }
  __s32 error = 0;
  if (read_memory(&error, sizeof error, address) == 0) {
    record->error = error;
    record->flags |= record_has_error;
  }
}

static __always_inline void leave_function(struct task_struct* task, __u32 at, const struct recorded_place* place,
                                           struct pt_regs* regs) {
  const struct open_call_key key = {(__u32)task->pid, at, bpf_entry_stack_pointer(regs)};
  const struct open_call* call = bpf_map_lookup_elem(&open_calls, &key);
  struct scratch* s = own_scratch();
  if (!call || !s) {
    count_lost();
    return;
  }
  __builtin_memcpy(s->slot, call->slot, sizeof call->slot);
  bpf_map_delete_elem(&open_calls, &key);
  struct function_record* record = begin(s, task, record_returned, at, regs);
  record->stack_pointer = key.stack_pointer;
  if (place->flags & recorded_has_errno) {
    note_errno(record, task, place);
  }
  s->slot[slot_stack] = bpf_stack_pointer(regs);
  s->slot[slot_result] = bpf_function_result(regs);
  run_plan(s, place->plan.exit_first, place->plan.exit_count);
  submit(s);
}

/* Runs at the entry of a function, and, unless it has returned 1 there, at the return. */
SEC("uprobe.s")
int on_function(struct pt_regs* regs) {
  const __u32 at = (__u32)bpf_get_attach_cookie(regs) & (most_recorded_places - 1);
  const struct recorded_place* place = bpf_map_lookup_elem(&places, &at);
  struct task_struct* task = bpf_get_current_task_btf();
  if (!place || !(place->flags & recorded_in_use)) {
    return 1;
  }
  if (bpf_instruction_pointer(regs) == place->address) {
    return enter_function(task, at, place, regs) ? 0 : 1;
  }
  leave_function(task, at, place, regs);
  return 0;
}
