/* How records are made, and how they leave the kernel: in place, where the reader looks for them, in the blocks that
 * each CPU has for itself. What finds no room there goes through a ring buffer that all CPUs share, and so do the
 * records of signals, which may interrupt the making of another. */
#ifndef TRACER_BPF_RECORDS_BPF_H
#define TRACER_BPF_RECORDS_BPF_H

#include "arch/bpf_abi.h"
#include "bpf/names.h"
#include "bpf/record_block.h"
#include "bpf/tracing.h"

#include <bpf/bpf_helpers.h>

_Static_assert(largest_made >= largest_record + sizeof(struct trace_chunk) + largest_text, "there is room for a chunk");

/* A plan's loop over the elements of an array. */
struct element_loop {
  __u64 next;  /* address of the next element */
  __u32 first; /* operation */
  __u32 end;
  __u32 left; /* elements, the present one included */
  __u32 element;
  __u8 to;
  __u8 width;
  __u8 padding[6];
};

/* Control messages that are gone through. */
struct passed_messages {
  __u64 address;
  __u64 size;
  __u32 wide; /* words of eight bytes */
  __u32 left; /* descriptors of the current message */
};

/* A walk up from a file to the root. */
struct path_walk {
  __u64 entry; /* struct dentry; addresses of the kernel's, only ever read through helpers */
  __u64 mount; /* struct vfsmount */
  __u64 root_entry;
  __u64 root_mount;
  __u64 which; /* what the chunks say whose names they are */
  __u64 sum;   /* of all that was followed, so that two walks can be compared */
  __u32 ending;
  __u32 done;
};

/* What a CPU needs beside the record that it makes, and where that record is.
 *
 * What a step of bpf_loop changes and another looks at is here, not on the stack: kernels before 6.7 verify the first
 * step alone, and remove what that one does not reach; later ones go through the steps until nothing on the stack is
 * new, which Linux 7.2 does not see of a walk. */
struct scratch {
  __u64 slot[slots];
  struct capture_plan plan; /* of the call */
  __u32 used;               /* bytes of the record */
  __u32 faults;
  __u32 lost;     /* records, since the last that found room */
  __u32 filled;   /* how many blocks this CPU has filled */
  __u32 in_block; /* bytes that the reader may see of the present one */
  __u32 block;    /* that the record is in */
  __u32 start;    /* where */
  __u32 is_shown; /* the reader looks there */
  __u32 named_count;
  __u32 pidfd; /* that a named_behind_pidfd belongs to */
  __u32 at;    /* operation of the plan that runs */
  __u32 end;   /* behind its last one */
  __u32 depth; /* of its loops */
  __u32 padding;
  struct element_loop loops[most_loops];
  struct passed_messages passed;
  struct path_walk walk;
  struct path_walk second_walk;
  __u64 named[most_names]; /* what is to be named: enum named_kind in the upper half, the number in the lower */
};

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

static __always_inline struct scratch* scratch_of_cpu(void) {
  const __u32 cpu = bpf_get_smp_processor_id();
  return bpf_map_lookup_elem(&scratches, &cpu);
}

/* The record that is being made; from here on there is room for largest_made bytes. */
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
