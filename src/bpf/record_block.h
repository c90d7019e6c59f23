/* Where the programs make records: in blocks, most of which each belong to one CPU, so that CPUs wait neither for each
 * other nor for a cache line. Plain C, for both compilers. */
#ifndef TRACER_BPF_RECORD_BLOCK_H
#define TRACER_BPF_RECORD_BLOCK_H

#include <linux/types.h>

enum {
  block_size = 262144,
  block_bytes = block_size - 64,           /* the rest keeps what both ends write apart from what one of them writes */
  largest_made = 45056 + 64,               /* a record while it is made */
  block_room = block_bytes - largest_made, /* no record begins behind */
};

/* The CPU's programs fill it, record after record, each filled up to eight bytes; then the CPU's next block; after the
 * last one, the first again. */
struct record_block {
  __u64 end; /* bytes that the reader may look at; with block_is_full, no more will come; 0: it has taken them all */
  __u64 padding[7];
  __u8 bytes[block_bytes];
};

#define block_is_full (1ULL << 32)

#endif
