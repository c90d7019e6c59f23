/* Holds back the record of an entry until its call ends, if the end decides whether the call is wanted. */
#ifndef TRACER_BPF_PENDING_ENTRIES_BPF_H
#define TRACER_BPF_PENDING_ENTRIES_BPF_H

#include "bpf/kernel/records.bpf.h"
#include "bpf/kernel/threads.bpf.h"

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

static __always_inline void submit_entry(struct scratch* s, struct task_struct* task) {
  struct pending_entry* entry = 0;
  __u64 size = s->used;
  asm volatile("" : "+r"(size));
  if (settings.filter.any && size <= largest_pending) {
    entry = bpf_task_storage_get(&pending, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  }
  const void* made = entry ? record_place(s) : 0;
  if (made && bpf_probe_read_kernel(entry->bytes, size, made) == 0) {
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
  void* place = next_place(s);
  __u64 size = entry->size;
  asm volatile("" : "+r"(size)); /* and nothing between what is compared and where it is used: it would be kept twice */
  if (place && size <= largest_pending && bpf_probe_read_kernel(place, size, entry->bytes) == 0) {
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

#endif
