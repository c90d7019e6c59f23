/* What the program that records calls of functions and static probes, and its loader, share. Plain C, for both
 * compilers. */
#ifndef TRACER_BPF_FUNCTION_RECORDS_H
#define TRACER_BPF_FUNCTION_RECORDS_H

#include <linux/types.h>

#include "bpf/tracing.h"

enum {
  most_recorded_places = 16384, /* of all processes together; a power of two */
  most_recorded_calls = 65536,  /* open at a time */
  most_sources = 12,            /* slots that are filled before a plan runs */
  record_words = 34,            /* of registers, as NT_PRSTATUS has them */
  recorded_stack = 128,         /* bytes from the stack pointer on */
  no_register = 255,
};

/* A number for a slot: a sum of registers, or what memory holds there. */
struct recorded_source {
  __u8 base; /* words of the registers */
  __u8 index;
  __u8 scale;
  __u8 size; /* bytes in memory; 0: the sum itself */
  __u32 unused;
  __s64 displacement;
};

enum recorded_place_flags {
  recorded_in_use = 1,
  recorded_is_call = 2, /* not a static probe: its return is recorded, too */
  recorded_has_errno = 4,
  recorded_leaves_returns = 8, /* a breakpoint has to be where a call returns to */
};

struct recorded_place {
  __u32 flags;
  __u32 sources;
  __u64 address; /* of the instruction that is watched */
  /* errno is so far from the thread pointer: a constant, and what a word of memory holds, unless its address is 0. */
  __s64 errno_offset;
  __u64 errno_word;
  struct capture_plan plan;
  struct recorded_source source[most_sources];
};

enum { record_place_reached = 1, record_returned };

enum function_record_flags {
  record_has_error = 1,
  record_held = 2,          /* the thread stops by a SIGSTOP of the kernel's before it goes on */
  record_return_unseen = 4, /* the return will not be recorded */
};

/* Chunks of memory follow. */
struct function_record {
  struct trace_record head; /* number: the place */
  __u64 stack_pointer;      /* at the entry */
  __s32 error;              /* return: errno */
  __u32 flags;
  __u64 registers[record_words];
};

#endif
