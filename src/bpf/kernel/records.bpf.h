/* Makes records in the place where the reader takes them: in blocks, of which each CPU has its own. A record that does
 * not fit there goes through a ring buffer that all CPUs share. So do the records of signals, because a signal may
 * interrupt a program that makes a record in the block. */
#ifndef TRACER_BPF_RECORDS_BPF_H
#define TRACER_BPF_RECORDS_BPF_H

#include "arch/bpf_abi.h"
#include "bpf/kernel/scratch.bpf.h"
#include "bpf/record_block.h"
#include "bpf/tracing.h"

#include <bpf/bpf_helpers.h>

_Static_assert(largest_made >= largest_record + sizeof(struct trace_chunk) + largest_text, "there is room for a chunk");

/* One for each CPU; the loader says how many. An array for each CPU would be too small. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct scratch);
} scratches SEC(".maps");

/* For each CPU `settings.blocks` that the reader looks into, and one for what it hands to the ring buffer. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct record_block);
} blocks SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024 * 1024);
} records SEC(".maps");

static __always_inline struct scratch* own_scratch(void) {
  const __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&scratches, &cpu);
}

static __always_inline void* record_place(struct scratch* s) {
  const __u32 index = s->block;
  struct record_block* block = bpf_map_lookup_elem(&blocks, &index);
  __u64 start = s->start;
  if (!block || start > block_room) {
    return 0;
  }
  asm volatile("" : "+r"(start)); /* so that what the verifier has seen compared is what is used */
  return block->bytes + start;
}

/* Chooses the place of the next record, and returns it. */
static __always_inline void* next_place(struct scratch* s) {
  const __u32 own = bpf_get_smp_processor_id() * (settings.blocks + 1);
  if (settings.blocks != 0) {
    s->block = own + (s->filled & (settings.blocks - 1));
    s->start = s->in_block;
    s->is_shown = 1;
    const __u32 index = s->block;
    const struct record_block* block = bpf_map_lookup_elem(&blocks, &index);
    if (s->in_block != 0 || (block && *(const volatile __u64*)&block->end == 0)) {
      return record_place(s);
    }
  }
  s->block = own + settings.blocks;
  s->start = 0;
  s->is_shown = 0;
  return record_place(s);
}

static __always_inline __u64 wake_up(void) {
  return *(volatile __u32*)&shared.sleeping ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline void show(struct scratch* s) {
  const __u32 index = s->block;
  struct record_block* block = bpf_map_lookup_elem(&blocks, &index);
  if (!block) {
    return;
  }
  const __u32 end = s->start + ((s->used + 7) & ~7U);
  const bool full = end > block_room;
  s->in_block = full ? 0 : end;
  s->filled += full;
  bpf_store_release(&block->end, full ? end | block_is_full : end);
  if (wake_up() == BPF_RB_FORCE_WAKEUP) {
    void* nothing = bpf_ringbuf_reserve(&records, sizeof(__u64), 0);
    if (nothing) {
      bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
    }
  }
}

static __always_inline void submit(struct scratch* s) {
  struct trace_record* head = record_place(s);
  __u64 size = s->used;
  asm volatile("" : "+r"(size)); /* one register, so that the verifier sees that what is compared is what is used */
  if (!head || size > largest_made) {
    return;
  }
  head->size = (__u32)size;
  head->lost = s->lost;
  s->lost = 0;
  if (s->is_shown) {
    show(s);
  } else if (bpf_ringbuf_output(&records, head, size, wake_up()) != 0) {
    s->lost = head->lost + 1;
    __sync_fetch_and_add(&shared.lost, 1);
  }
}

#endif
