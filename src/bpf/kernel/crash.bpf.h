/* Records the memory of a thread that a signal kills. It uses a buffer of its own: unless it runs at a tracepoint,
 * other threads may run on this CPU in between and make records. */
#ifndef TRACER_BPF_CRASH_BPF_H
#define TRACER_BPF_CRASH_BPF_H

#include "bpf/kernel/task_state.bpf.h"
#include "bpf/kernel/threads.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, crash_slots);
  __type(key, __u32);
  __type(value, struct crash_record);
} crashes SEC(".maps");

/* The slots of `crashes` that are in use. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, crash_slots);
  __type(key, __u32);
  __type(value, __u32);
} claimed_crashes SEC(".maps");

struct crash_job {
  __u32 slot;
  __u32 only_code; /* whether other mappings are left out */
  __u64 fault;
  __u64 stack; /* an address in the first thread's stack */
  __u64 file;  /* struct file of the mapping that was found */
  struct path_walk path;
};

/* Nothing if all are in use. */
static __always_inline struct crash_record* claim_crash(__u32* slot) {
#pragma unroll
  for (__u32 i = 0; i < crash_slots; ++i) {
    *slot = i;
    if (bpf_map_update_elem(&claimed_crashes, slot, slot, BPF_NOEXIST) == 0) {
      return bpf_map_lookup_elem(&crashes, slot);
    }
  }
  return 0;
}

/* The one that is being filled; nothing if there is no more room. */
static __always_inline struct captured_mapping* next_mapping(struct crash_record* crash) {
  __u64 next = crash->mapping_count;
  if (next >= most_crash_mappings) {
    return 0;
  }
  asm volatile("" : "+r"(next)); /* so that nothing is made of it before it is compared */
  return &crash->mappings[next];
}

static long copy_mapping_name(__u32 i, struct crash_job* job) {
  struct crash_record* crash = bpf_map_lookup_elem(&crashes, &job->slot);
  if (!crash) {
    return 1;
  }
  const void* name = step_up(&job->path);
  if (!name) {
    return job->path.done ? 1 : 0;
  }
  struct captured_mapping* mapping = next_mapping(crash);
  __u64 used = mapping ? mapping->path_used : mapping_path_size;
  if (!mapping || used > mapping_path_size - longest_name) {
    job->path.done = 1;
    return 1;
  }
  asm volatile("" : "+r"(used));
  const long size = bpf_probe_read_kernel_str(mapping->path + used, longest_name, name);
  if (size <= 1 || size > longest_name) {
    job->path.done = 1;
    return 1;
  }
  mapping->path_used = (__u32)used + (__u32)size;
  return 0;
}

static long on_mapping(struct task_struct* task, struct vm_area_struct* area, struct crash_job* job) {
  const __u64 executable = 4; /* VM_EXEC */
  struct crash_record* crash = bpf_map_lookup_elem(&crashes, &job->slot);
  const __u64 start = BPF_CORE_READ(area, vm_start);
  const __u64 flags = BPF_CORE_READ(area, vm_flags);
  job->file = 0;
  if (!crash || (job->only_code && !(flags & executable))) {
    return 1;
  }
  for (__u32 i = 0; i < most_crash_mappings && i < crash->mapping_count; ++i) {
    if (crash->mappings[i].start == start) {
      return 1;
    }
  }
  struct captured_mapping* mapping = next_mapping(crash);
  if (!mapping) {
    return 1;
  }
  mapping->start = start;
  mapping->end = BPF_CORE_READ(area, vm_end);
  mapping->page = BPF_CORE_READ(area, vm_pgoff);
  mapping->flags = flags;
  mapping->is_stack = job->stack >= start && job->stack < mapping->end;
  mapping->inode = 0;
  mapping->device = 0;
  mapping->path_used = 0;
  mapping->padding = 0;
  mapping->end_of_path.ending = path_unknown;
  mapping->end_of_path.deleted = 0;
  job->file = (__u64)BPF_CORE_READ(area, vm_file);
  if (!job->file) {
    crash->mapping_count++;
  }
  return 0;
}

static long examine_word(__u32 i, struct crash_job* job) {
  enum { fixed = 4, lowest = 4096 };
  struct crash_record* crash = bpf_map_lookup_elem(&crashes, &job->slot);
  if (!crash) {
    return 1;
  }
  __u64 address = 0;
  if (i == 0) {
    address = crash->instruction_pointer;
  } else if (i == 1) {
    address = job->fault;
  } else if (i == 2) {
    address = crash->stack_pointer;
  } else if (i == 3) {
    address = job->stack;
  } else {
    const __u32 at = (i - fixed) * sizeof address;
    if (at > crash_stack_size - sizeof address || at >= crash->stack_size) {
      return 1;
    }
    bpf_probe_read_kernel(&address, sizeof address, crash->stack + at);
  }
  job->only_code = i >= fixed;
  job->file = 0;
  struct task_struct* task = bpf_get_current_task_btf();
  if (address < lowest || address >> 56 != 0 || bpf_find_vma(task, address, on_mapping, job, 0) != 0 || !job->file) {
    return 0;
  }
  struct captured_mapping* mapping = next_mapping(crash);
  if (!mapping) {
    return 1;
  }
  struct file* file = (void*)job->file;
  mapping->inode = BPF_CORE_READ(file, f_inode, i_ino);
  mapping->device = BPF_CORE_READ(file, f_inode, i_sb, s_dev);
  begin_walk(&job->path, task, &file->f_path);
  mapping->end_of_path.deleted = is_deleted(job->path.entry);
  bpf_loop(deepest_path, copy_mapping_name, job, 0);
  mapping->end_of_path.ending = job->path.ending;
  crash->mapping_count++;
  return 0;
}

/* Page by page, as far as they are there: a stack may end anywhere. */
static __always_inline void copy_crash_stack(struct crash_record* record) {
  const __u64 page = 4096;
  __u64 used = 0;
#pragma unroll
  for (int i = 0; i < crash_stack_size / 4096 + 1; ++i) {
    const __u64 address = record->stack_pointer + used;
    __u64 size = page - (address & (page - 1));
    if (used > crash_stack_size - page) {
      size = crash_stack_size - used;
    }
    asm volatile("" : "+r"(size), "+r"(used)); /* so that what is compared is what is used */
    if (size == 0 || size > page || used > crash_stack_size - size ||
        bpf_probe_read_user(record->stack + used, (__u32)size, (const void*)address) != 0) {
      break;
    }
    used += size;
    record->stack_size = (__u32)used;
  }
}

static __always_inline void fill_crash(struct crash_record* record, __u32 slot, struct task_struct* task,
                                       const struct thread_state* state) {
  __builtin_memset(&record->head, 0, sizeof record->head);
  record->head.kind = record_crash;
  record->head.tid = state->tid;
  record->head.tgid = state->tgid;
  record->head.time = bpf_ktime_get_ns();
  record->head.number = state->crash;
  record->mapping_count = 0;
  record->stack_size = 0;
  fill_facts(&record->facts, task);
  const struct pt_regs* regs = (const void*)bpf_task_pt_regs(task);
  bpf_probe_read_kernel(record->registers, bpf_registers_size, regs);
  record->instruction_pointer = bpf_instruction_pointer(regs);
  record->stack_pointer = bpf_stack_pointer(regs);
  copy_crash_stack(record);
  struct crash_job job = {};
  job.slot = slot;
  job.fault = state->fault;
  job.stack = BPF_CORE_READ(task, mm, start_stack);
  bpf_loop(4 + crash_stack_size / 8, examine_word, &job, 0);
}

#endif
