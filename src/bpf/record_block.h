/* The blocks in which the programs make records. Each CPU has its own, so that CPUs wait neither for each other nor for
 * a cache line. Plain C, for both compilers. */
#ifndef TRACER_BPF_RECORD_BLOCK_H
#define TRACER_BPF_RECORD_BLOCK_H

#include <linux/types.h>

enum {
  block_size = 262144,
  block_bytes = block_size - 64,           /* the rest separates what both ends write from what only one writes */
  largest_made = 45056 + 64,               /* bytes of a record while it is being made */
  block_room = block_bytes - largest_made, /* every record begins before this offset */
};

/* The programs of a CPU append records, each padded to eight bytes. When the block is full, they go on with the CPU's
 * next block, and after the last one with the first. */
struct record_block {
  __u64 end; /* bytes that the reader may read; with block_is_full, no more will come; 0: all were taken */
  __u64 padding[7];
  __u8 bytes[block_bytes];
};

#define block_is_full (1ULL << 32)

#endif
