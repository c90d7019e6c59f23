/* What the tracing programs in the kernel and their loader share. Plain C, for both compilers. */
#ifndef TRACER_BPF_TRACING_H
#define TRACER_BPF_TRACING_H

#include <linux/types.h>

#include "bpf/threads.h"

enum {
  largest_piece = 4096, /* what is copied at once */
  largest_text = 4104,
  largest_block = 32768,   /* in pieces */
  largest_record = 40960,  /* no new block begins beyond */
  most_operations = 32768, /* of all plans together */
  operations_per_plan = 64,
  most_elements = 64, /* of a vector: as many are followed */
  siginfo_size = 128,
};

struct tracing_settings {
  struct thread_settings threads;
};

struct tracing_shared {
  struct thread_shared threads;
  __u64 lost;     /* records that found no room */
  __u32 sleeping; /* the reader wants to be woken */
};

/* Capture plans: what to copy out of the tracee at the entry and at the exit of a call. An operation finds addresses
 * and lengths in slots: the arguments, the result, and what `load` operations have read. */
enum capture_slot { slot_result = 6, slot_first_loaded = 7, slot_stack = 31, slots = 32, slot_none = 255 };

enum capture_kind {
  capture_block = 1, /* bytes */
  capture_text,      /* up to a NUL */
  capture_load,      /* a number into a slot */
  capture_vector,    /* what the elements of an array of structs point to: pointer and length are fields */
  capture_texts,     /* what the elements of an array of pointers point to, up to a null pointer */
};

struct capture_operation {
  __u8 kind;
  __u8 base;            /* slot with the address; 0 there is a null pointer */
  __u8 length;          /* block, vector: slot with the count; slot_none: `most` is the length */
  __u8 to;              /* load: slot */
  __u8 width;           /* load: 1, 2, 4 or 8 bytes; vector, texts: of a pointer */
  __u8 count_width;     /* so many bytes of the count matter */
  __u16 pointer_offset; /* vector: in an element */
  __u16 length_offset;
  __u16 element; /* vector: bytes */
  __u32 offset;  /* added to the address */
  __u32 scale;   /* block: bytes for each count */
  __u32 most;    /* bytes; of a vector and of texts: for each element */
};

struct capture_plan {
  __u16 entry_first;
  __u16 entry_count;
  __u16 exit_first;
  __u16 exit_count;
};

enum record_kind {
  record_enter = 1,
  record_exit,
  record_birth,
  record_end,
  record_exec,
  record_signal,           /* delivered */
  record_signal_generated, /* and perhaps ignored: `value` says */
};

/* What stands at the front of each record; chunks of memory follow up to `size`. */
struct trace_record {
  __u32 size;
  __u16 kind;
  __u16 abi;
  __u32 tid; /* in the tracer's pid namespace */
  __u32 tgid;
  __u64 time;   /* CLOCK_MONOTONIC */
  __u64 number; /* of the call, or of the signal */
  __s64 value;  /* exit: result; birth: parent; end: wait status; exec: former tid; signal: what killed, or the fate */
  __u64 args[6];
  __u64 instruction_pointer;
  __u64 stack_pointer;
  __u64 off_time;   /* exit: not on a CPU */
  __u32 lost;       /* records of this CPU that found no room since the last one that did */
  __u32 late;       /* exit: where the chunks begin that the entry could not read; 0: there are none */
  __u32 incomplete; /* enter: something could not be read, and the exit will try again */
  __u32 padding;
};

struct trace_chunk {
  __u64 address;
  __u32 size; /* bytes follow, filled up to eight */
  __u32 padding;
};

/* Of record_signal and record_signal_generated. */
struct signal_record {
  struct trace_record record;
  struct trace_chunk chunk;
  __u8 siginfo[siginfo_size]; /* as the tracee's handler would have it; zero where the kernel has none */
};

#endif
