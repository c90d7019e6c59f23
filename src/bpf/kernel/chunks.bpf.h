/* Appends chunks to the current record, among them copies of the current thread's memory. */
#ifndef TRACER_BPF_CHUNKS_BPF_H
#define TRACER_BPF_CHUNKS_BPF_H

#include "bpf/kernel/kernel_types.h"
#include "bpf/kernel/scratch.bpf.h"
#include "bpf/tracing.h"

#include <bpf/bpf_helpers.h>

/* Reads the current thread's memory. A program that may sleep waits for pages that are not there yet. */
static __always_inline long read_memory(void* into, __u32 size, __u64 address) {
  long failed = bpf_probe_read_user(into, size, (const void*)address);
#ifdef TRACER_BPF_MAY_SLEEP
  if (failed) {
    failed = bpf_copy_from_user(into, size, (const void*)address);
  }
#endif
  return failed;
}

/* As bpf_probe_read_user_str(). */
static __always_inline long read_text(void* into, __u32 most, __u64 address) {
  long read = bpf_probe_read_user_str(into, most, (const void*)address);
#ifdef TRACER_BPF_MAY_SLEEP
  if (read < 0) {
    const __u64 page = 4096;
    __u8 byte;
    if (bpf_copy_from_user(&byte, 1, (const void*)address) == 0) {
      bpf_copy_from_user(&byte, 1, (const void*)((address | (page - 1)) + 1)); /* it may go on there */
      read = bpf_probe_read_user_str(into, most, (const void*)address);
    }
  }
#endif
  return read;
}

/* Where the next chunk's bytes go; there is room for the largest. Nothing: the record is full. */
static __always_inline __u8* chunk_data(struct scratch* s) {
  __u8* front = record_place(s);
  __u32 at = s->used;
  if (!front || at > largest_record) {
    return 0;
  }
  return front + at + sizeof(struct trace_chunk);
}

static __always_inline void end_chunk(struct scratch* s, __u64 address, __u32 size, enum chunk_kind kind) {
  __u8* front = record_place(s);
  __u32 at = s->used;
  if (!front || at > largest_record) {
    return;
  }
  struct trace_chunk* chunk = (void*)(front + at);
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
  if (read_memory(data, (__u32)size, address) != 0) {
    s->faults++;
    const __u64 on_page = page - address % page; /* what is on this page may be there */
    if (on_page >= size || on_page > largest_piece || read_memory(data, (__u32)on_page, address) != 0) {
      return;
    }
    size = on_page;
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
  *data = 0;
  const long read = read_text(data, most, address);
  if (read < 0) {
    s->faults++;
    return;
  }
  const long got = read == 0 ? 1 : read; /* kernels before 6.13 say 0 of an empty text */
  /* A text that was cut has got a NUL that is not its own. */
  end_chunk(s, address, got == most ? most - 1 : (__u32)got, chunk_memory);
}

struct pieces_job {
  __u64 address;
  __u64 size;
};

static long copy_piece(__u32 i, struct pieces_job* job) {
  struct scratch* s = own_scratch();
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
  end_chunk(s, registers_address, bpf_registers_size, chunk_memory);
  struct pieces_job pieces = {bpf_stack_pointer(regs), settings.stack_bytes};
  bpf_loop((settings.stack_bytes + largest_piece - 1) / largest_piece, copy_piece, &pieces, 0);
  s->faults = faults;
}

static __always_inline __u64 read_number(struct scratch* s, __u64 address, __u8 width) {
  __u64 number = 0;
  long failed;
  switch (width) {
    case 1:
      failed = read_memory(&number, 1, address);
      break;
    case 2:
      failed = read_memory(&number, 2, address);
      break;
    case 4:
      failed = read_memory(&number, 4, address);
      break;
    default:
      failed = read_memory(&number, 8, address);
  }
  if (failed) {
    s->faults++;
    return 0;
  }
  return number;
}

#endif
