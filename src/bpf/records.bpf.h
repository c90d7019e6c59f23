/* How records leave the kernel. */
#ifndef TRACER_BPF_RECORDS_BPF_H
#define TRACER_BPF_RECORDS_BPF_H

#include "bpf/capture.bpf.h"
#include "bpf/record_block.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 64 * 1024 * 1024);
} records SEC(".maps");

/* `settings.blocks` for each CPU. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct record_block);
} blocks SEC(".maps");

static __always_inline __u64 wake_up(void) {
  return shared.sleeping ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* False: there is no room. Only for programs that do not interrupt each other, which those of signals may. */
static __always_inline bool put_in_block(struct scratch* s, __u64 size) {
  if (settings.blocks == 0 || size > largest_in_block) {
    return false;
  }
  const __u32 index = bpf_get_smp_processor_id() * settings.blocks + (s->block & (settings.blocks - 1));
  struct record_block* block = bpf_map_lookup_elem(&blocks, &index);
  __u64 at = s->in_block;
  asm volatile("" : "+r"(at)); /* as in submit() */
  if (!block || at > block_room || (at == 0 && *(volatile __u64*)&block->end != 0) ||
      bpf_probe_read_kernel(block->bytes + at, size, s->bytes) != 0) {
    return false;
  }
  at += (size + 7) & ~7ULL;
  const bool full = at > block_room;
  s->in_block = full ? 0 : (__u32)at;
  s->block += full;
  __sync_lock_test_and_set(&block->end, full ? at | block_is_full : at); /* after the bytes */
  return true;
}

static __always_inline void submit(struct scratch* s) {
  __u64 size = s->used;
  asm volatile("" : "+r"(size)); /* one register, so that the verifier sees that what is compared is what is used */
  if (size > sizeof s->bytes) {
    return;
  }
  s->head.size = (__u32)size;
  s->head.lost = s->lost;
  const __u64 flags = wake_up();
  if ((flags == BPF_RB_NO_WAKEUP && put_in_block(s, size)) ||
      bpf_ringbuf_output(&records, s->bytes, size, flags) == 0) {
    s->lost = 0;
  } else {
    s->lost++;
    __sync_fetch_and_add(&shared.lost, 1);
  }
}

#endif
