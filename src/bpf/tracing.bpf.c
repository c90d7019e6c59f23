/* Whole traces without stopping anybody: at the entry and the exit of every call that is watched, a record with the
 * arguments and with the memory that they point to goes into a ring buffer. What to copy says a plan for each call: a
 * list of operations that the loader has made of the descriptions. Nobody is woken for a record; the reader polls. */
#include "bpf/tracing.h"
#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char licence[] SEC("license") = "Dual MIT/GPL";

SEC(".rodata.settings") const volatile struct tracing_settings settings = {};
SEC(".data.shared") struct tracing_shared shared = {};

#include "bpf/threads.bpf.h"

struct scratch {
  __u64 slot[slots];
  __u32 used;
  __u32 faults;
  __u32 lost; /* records, since the last that found room */
  __u32 padding;
  union {
    struct trace_record head;
    struct enter_record enter;
    struct exit_record exit;
    struct life_record life;
    __u8 bytes[largest_record + sizeof(struct trace_chunk) + largest_text];
  };
};

/* One for each CPU; the loader says how many. An array for each CPU would be too small. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct scratch);
} scratches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, watched_abis* numbers_per_abi);
  __type(key, __u32);
  __type(value, struct capture_plan);
} plans SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, most_operations);
  __type(key, __u32);
  __type(value, struct capture_operation);
} operations SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024 * 1024);
} records SEC(".maps");

/* The record of an entry whose end decides whether it is wanted. */
struct pending_entry {
  __u32 size; /* 0: there is none */
  __u32 padding;
  __u8 bytes[largest_pending];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct pending_entry);
} pending SEC(".maps");

static __always_inline struct scratch* scratch_of_cpu(void) {
  const __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&scratches, &cpu);
}

static __always_inline __u64 wake_up(void) {
  return shared.sleeping ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void submit(struct scratch* s) {
  __u64 size = s->used;
  asm volatile("" : "+r"(size)); /* one register, so that the verifier sees that what is compared is what is used */
  if (size > sizeof s->bytes) {
    return;
  }
  s->head.size = (__u32)size;
  s->head.lost = s->lost;
  if (bpf_ringbuf_output(&records, s->bytes, size, wake_up()) == 0) {
    s->lost = 0;
  } else {
    s->lost++;
    __sync_fetch_and_add(&shared.lost, 1);
  }
}

static __always_inline void begin_record(struct scratch* s, __u8 kind, const struct thread_state* state, __u64 time,
                                         __u32 size) {
  s->used = size;
  s->faults = 0;
  s->head.kind = kind;
  s->head.abi = (__u8)(state->slot / numbers_per_abi);
  s->head.arguments = 0;
  s->head.incomplete = 0;
  s->head.tid = state->tid;
  s->head.tgid = state->tgid;
  s->head.time = time;
  s->head.number = state->slot % numbers_per_abi;
}

static __always_inline void submit_life(struct scratch* s, __u8 kind, const struct thread_state* state, __s64 value) {
  begin_record(s, kind, state, bpf_ktime_get_ns(), sizeof s->life);
  s->life.value = value;
  submit(s);
}

/* Where the next chunk's bytes go; there is room for the largest. Nothing: the record is full. */
static __always_inline __u8* chunk_data(struct scratch* s) {
  __u32 at = s->used;
  if (at > largest_record) {
    return 0;
  }
  return s->bytes + at + sizeof(struct trace_chunk);
}

static __always_inline void end_chunk(struct scratch* s, __u64 address, __u32 size, enum chunk_kind kind) {
  __u32 at = s->used;
  if (at > largest_record) {
    return;
  }
  struct trace_chunk* chunk = (void*)(s->bytes + at);
  chunk->address = address;
  chunk->size = size;
  chunk->kind = kind;
  s->used = at + sizeof *chunk + ((size + 7) & ~7U);
}

static __always_inline void copy_block(struct scratch* s, __u64 address, __u64 size) {
  const __u32 page = 4096;
  __u8* data = chunk_data(s);
  if (!data || size == 0) {
    return;
  }
  if (size > largest_piece) {
    size = largest_piece;
  }
  if (bpf_probe_read_user(data, (__u32)size, (const void*)address) != 0) {
    s->faults++;
    size = page - address % page; /* what is on this page may be there */
    if (size > largest_piece || bpf_probe_read_user(data, (__u32)size, (const void*)address) != 0) {
      return;
    }
  }
  end_chunk(s, address, (__u32)size, chunk_memory);
}

static __always_inline void copy_text(struct scratch* s, __u64 address, __u32 most) {
  __u8* data = chunk_data(s);
  if (!data) {
    return;
  }
  if (most > largest_text) {
    most = largest_text;
  }
  const long got = bpf_probe_read_user_str(data, most, (const void*)address);
  if (got <= 0) {
    s->faults++;
    return;
  }
  /* A text that was cut has got a NUL that is not its own. */
  end_chunk(s, address, got == most ? most - 1 : (__u32)got, chunk_memory);
}

static __always_inline void copy_netlink(struct scratch* s, __u32 fd) {
  const unsigned short type_bits = 0170000;
  const unsigned short is_socket = 0140000;
  const unsigned short is_netlink = 16; /* AF_NETLINK */
  struct task_struct* task = bpf_get_current_task_btf();
  struct fdtable* table = BPF_CORE_READ(task, files, fdt);
  struct file* file = 0;
  __u64* data = (__u64*)chunk_data(s);
  if (!data || fd >= BPF_CORE_READ(table, max_fds) ||
      bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + fd) != 0 ||
      (BPF_CORE_READ(file, f_inode, i_mode) & type_bits) != is_socket) {
    return;
  }
  struct socket* socket = BPF_CORE_READ(file, private_data);
  struct sock* sock = BPF_CORE_READ(socket, sk);
  if (BPF_CORE_READ(sock, __sk_common.skc_family) == is_netlink) {
    *data = BPF_CORE_READ(sock, sk_protocol);
    end_chunk(s, fd, sizeof *data, chunk_netlink);
  }
}

struct pieces_job {
  __u64 address;
  __u64 size;
};

static long copy_piece(__u32 i, struct pieces_job* job) {
  struct scratch* s = scratch_of_cpu();
  const __u64 done = (__u64)i * largest_piece;
  if (!s || done >= job->size) {
    return 1;
  }
  copy_block(s, job->address + done, job->size - done);
  return 0;
}

/* What it takes to unwind the thread's stack afterwards. A stack may be shorter; that is no fault. */
static __always_inline void copy_stack(struct scratch* s, const struct pt_regs* regs) {
  const __u32 faults = s->faults;
  __u8* data = chunk_data(s);
  if (!data || bpf_probe_read_kernel(data, bpf_registers_size, regs) != 0) {
    return;
  }
  end_chunk(s, registers_address, bpf_registers_size);
  struct pieces_job pieces = {bpf_stack_pointer(regs), settings.stack_bytes};
  bpf_loop((settings.stack_bytes + largest_piece - 1) / largest_piece, copy_piece, &pieces, 0);
  s->faults = faults;
}

static __always_inline __u64 read_number(struct scratch* s, __u64 address, __u8 width) {
  __u64 number = 0;
  long failed;
  switch (width) {
    case 1:
      failed = bpf_probe_read_user(&number, 1, (const void*)address);
      break;
    case 2:
      failed = bpf_probe_read_user(&number, 2, (const void*)address);
      break;
    case 4:
      failed = bpf_probe_read_user(&number, 4, (const void*)address);
      break;
    default:
      failed = bpf_probe_read_user(&number, 8, (const void*)address);
  }
  if (failed) {
    s->faults++;
    return 0;
  }
  return number;
}

static __always_inline __u64 cut(__u64 count, __u8 width) {
  return width == 1 ? (__u8)count : width == 2 ? (__u16)count : width == 4 ? (__u32)count : count;
}

struct list_job {
  __u64 base;
  __u32 operation;
};

/* What an element's pointer leads to; returns its address and sets how many there are of what it leads to. */
static __always_inline __u64 copy_pointed(struct scratch* s, const struct capture_operation* op, __u64 element,
                                          __u64* count) {
  const __u64 address = read_number(s, element + op->pointer_offset, op->width);
  *count = read_number(s, element + op->length_offset, op->length_width);
  if (address != 0) {
    const __u64 size = *count > op->most ? op->most : *count * op->scale;
    copy_block(s, address, size < op->most ? size : op->most);
  }
  return address;
}

static long copy_within(__u32 i, struct list_job* job) {
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &job->operation);
  struct scratch* s = scratch_of_cpu();
  __u64 count;
  if (!op || !s || op->kind != capture_within) {
    return 1;
  }
  copy_pointed(s, op, job->base + (__u64)i * op->element, &count);
  return 0;
}

static long copy_element(__u32 i, struct list_job* job) {
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &job->operation);
  struct scratch* s = scratch_of_cpu();
  if (!op || !s) {
    return 1;
  }
  if (op->kind == capture_texts) {
    const __u64 text = read_number(s, job->base + (__u64)i * op->width, op->width);
    if (text == 0) {
      return 1;
    }
    copy_text(s, text, op->most);
    return 0;
  }
  __u64 count = 0;
  struct list_job within = {copy_pointed(s, op, job->base + (__u64)i * op->element, &count), job->operation + 1};
  if (op->kind == capture_vectors && within.base != 0) {
    bpf_loop(count < most_elements ? (__u32)count : most_elements, copy_within, &within, 0);
  }
  return 0;
}

struct plan_job {
  __u32 first;
};

static long run_operation(__u32 i, struct plan_job* job) {
  struct list_job list = {0, job->first + i};
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &list.operation);
  struct scratch* s = scratch_of_cpu();
  if (!op || !s) {
    return 1;
  }
  const __u64 base = s->slot[op->base % slots];
  __u64 count = op->length == slot_none ? 1 : cut(s->slot[op->length % slots], op->count_width);
  if (op->kind == capture_load) {
    s->slot[op->to % slots] = base == 0 ? 0 : read_number(s, base + op->offset, op->width);
    return 0;
  }
  if (op->kind == capture_netlink) {
    copy_netlink(s, (__u32)base);
    return 0;
  }
  if (base == 0) {
    return 0;
  }
  list.base = base + op->offset;
  switch (op->kind) {
    case capture_block: {
      __u64 size = op->most;
      if (op->length != slot_none && (count > op->most || count * op->scale < size)) {
        size = count > op->most ? op->most : count * op->scale;
      }
      if (size > largest_piece) {
        struct pieces_job pieces = {list.base, size};
        bpf_loop((__u32)((size + largest_piece - 1) / largest_piece) & 63, copy_piece, &pieces, 0);
      } else {
        copy_block(s, list.base, size);
      }
      return 0;
    }
    case capture_text:
      copy_text(s, list.base, op->most);
      return 0;
    case capture_vector:
    case capture_vectors:
      bpf_loop(count < most_elements ? (__u32)count : most_elements, copy_element, &list, 0);
      return 0;
    case capture_texts:
      bpf_loop(most_elements, copy_element, &list, 0);
      return 0;
    default:
      return 0;
  }
}

static __always_inline void run_plan(__u32 first, __u32 count) {
  struct plan_job job = {first};
  if (count != 0) {
    bpf_loop(count, run_operation, &job, 0);
  }
}

static __always_inline void submit_entry(struct scratch* s, struct task_struct* task) {
  struct pending_entry* entry = 0;
  __u64 size = s->used;
  asm volatile("" : "+r"(size));
  if (settings.filter.any && size <= largest_pending) {
    entry = bpf_task_storage_get(&pending, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  }
  if (entry && bpf_probe_read_kernel(entry->bytes, size, s->bytes) == 0) {
    entry->size = (__u32)size;
  } else {
    submit(s);
  }
}

static __always_inline struct pending_entry* pending_of(struct task_struct* task) {
  struct pending_entry* entry = settings.filter.any ? bpf_task_storage_get(&pending, task, 0, 0) : 0;
  return entry && entry->size != 0 ? entry : 0;
}

static __always_inline void submit_pending(struct scratch* s, struct pending_entry* entry) {
  __u64 size = entry->size;
  asm volatile("" : "+r"(size));
  if (size <= largest_pending && bpf_probe_read_kernel(s->bytes, size, entry->bytes) == 0) {
    s->used = (__u32)size;
    submit(s);
  }
  entry->size = 0;
}

static __always_inline bool is_wanted_end(long result, bool is_32_bit, __u64 duration) {
  const bool failed = is_failure(result, is_32_bit);
  if (failed ? settings.filter.drops_failed : settings.filter.drops_successful) {
    return false;
  }
  if (settings.filter.by_errno) {
    const __u32 number = (__u32) - (int)result & largest_errno;
    if (!failed || !(settings.filter.errnos[number / 64] >> (number % 64) & 1)) {
      return false;
    }
  }
  return duration >= settings.filter.min_duration;
}

static __always_inline void enter(struct scratch* s, struct task_struct* task, struct thread_state* state,
                                  const struct pt_regs* regs) {
  const __u32 slot = state->slot;
  const struct capture_plan* plan = bpf_map_lookup_elem(&plans, &slot);
  struct enter_record* record = &s->enter;
  begin_record(s, record_enter, state, state->entered, sizeof *record);
  record->instruction_pointer = bpf_instruction_pointer(regs);
  record->stack_pointer = bpf_stack_pointer(regs);
  bpf_call_arguments(regs, slot / numbers_per_abi, record->args);
  s->head.arguments = most_arguments;
  if (plan && plan->arguments < most_arguments) {
    s->head.arguments = plan->arguments;
    s->used -= (most_arguments - plan->arguments) * sizeof record->args[0];
  }
  if (settings.stack_bytes != 0) {
    copy_stack(s, regs);
  }
  if (plan && plan->entry_count != 0) {
    __builtin_memcpy(s->slot, record->args, sizeof record->args);
    s->slot[slot_stack] = record->stack_pointer;
    run_plan(plan->entry_first, plan->entry_count);
  }
  state->incomplete = s->faults != 0;
  s->head.incomplete = s->faults != 0;
  submit_entry(s, task);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_enter, struct pt_regs* regs, long id) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* state = begin_call(task, id);
  struct scratch* s = state ? scratch_of_cpu() : 0;
  if (state && s) {
    name_thread(task, state);
    enter(s, task, state, regs);
  }
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_exit, struct pt_regs* regs, long result) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct thread_state* state = state_of(task);
  struct scratch* s = state ? scratch_of_cpu() : 0;
  if (!state || !s) {
    return 0;
  }
  const enum call_end end = end_call(task, state, regs, result);
  if (end == call_unseen) {
    return 0;
  }
  if (end == call_had_no_entry) {
    name_thread(task, state);
    enter(s, task, state, regs);
    state->incomplete = 0; /* there is no better time to read it */
  }
  const __u32 slot = state->slot;
  const __u32 abi = slot / numbers_per_abi;
  const __u64 now = bpf_ktime_get_ns();
  struct pending_entry* entry = pending_of(task);
  if (entry && !is_wanted_end(result, bpf_is_32_bit(abi), now - state->entered)) {
    entry->size = 0;
    return 0;
  }
  if (entry) {
    submit_pending(s, entry);
  }
  const struct capture_plan* plan = bpf_map_lookup_elem(&plans, &slot);
  struct exit_record* record = &s->exit;
  begin_record(s, record_exit, state, now, sizeof *record);
  record->result = bpf_is_32_bit(abi) ? (__s32)result : result;
  record->instruction_pointer = bpf_instruction_pointer(regs);
  record->off_time = state->off_time;
  record->late = 0;
  if (plan && (plan->exit_count != 0 || state->incomplete)) {
    bpf_call_arguments(regs, abi, s->slot);
    s->slot[slot_result] = (__u64)record->result;
    run_plan(plan->exit_first, plan->exit_count);
    if (state->incomplete) {
      record->late = s->used;
      s->slot[slot_stack] = bpf_stack_pointer(regs);
      run_plan(plan->entry_first, plan->entry_count);
    }
  }
  submit(s);
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct* parent, struct task_struct* child) {
  struct thread_state* state = follow(parent, child);
  struct scratch* s = scratch_of_cpu();
  if (state && s) {
    name_thread(child, state);
    submit_life(s, record_birth, state, local_id(parent));
  }
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct* task, int former) {
  struct thread_state* state = state_of(task);
  struct scratch* s = scratch_of_cpu();
  if (state && s && state->phase == phase_in_call) {
    struct pending_entry* entry = pending_of(task);
    if (entry) {
      submit_pending(s, entry);
    }
    const __u32 former_tid = state->tid;
    name_thread(task, state);
    submit_life(s, record_exec, state, former_tid);
  }
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct* task) {
  const struct thread_state* state = state_of(task);
  struct scratch* s = scratch_of_cpu();
  if (state && s) {
    struct pending_entry* entry = pending_of(task);
    if (entry) {
      submit_pending(s, entry);
    }
    count_end(state);
    submit_life(s, record_end, state, task->exit_code);
  }
  return 0;
}

/* Signals come at any time, also while another program of ours makes a record on this CPU. */
static __always_inline void report_signal(__u8 kind, int signal, const void* info, long value,
                                          const struct thread_state* state) {
  if (!state || state->phase == phase_silent) {
    return;
  }
  struct signal_record* made = bpf_ringbuf_reserve(&records, sizeof *made, 0);
  if (!made) {
    __sync_fetch_and_add(&shared.lost, 1);
    return;
  }
  __builtin_memset(made, 0, sizeof *made);
  made->head.size = sizeof *made;
  made->head.kind = kind;
  made->head.tid = state->tid;
  made->head.tgid = state->tgid;
  made->head.time = bpf_ktime_get_ns();
  made->head.number = (__u32)signal;
  made->value = value;
  /* The kernel's own signals come with 0 or 1 in the place of the pointer, which no read follows. */
  bpf_probe_read_kernel(made->siginfo, sizeof(struct kernel_siginfo), info);
  bpf_ringbuf_submit(made, wake_up());
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo* info) {
  struct task_struct* task = bpf_get_current_task_btf();
  report_signal(record_signal, signal, info, BPF_CORE_READ(task, signal, group_exit_code), state_of(task));
  return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal_generated, int signal, struct kernel_siginfo* info, struct task_struct* task, int group,
             int fate) {
  report_signal(record_signal_generated, signal, info, fate, state_of(task));
  return 0;
}
