/* Capture plans: what to copy out of a tracee at the entry and at the exit of a call. The planner makes them from the
 * descriptions, and whoever records calls without stopping them carries them out. Plain C, for every compiler. */
#ifndef TRACER_CAPTURE_PLAN_H
#define TRACER_CAPTURE_PLAN_H

#include <linux/types.h>

/* A call's slot in tables: its ABI * numbers_per_abi + its number. */
enum {
  numbers_per_abi = 1024, /* call numbers from here on are in no table and are not watched */
  watched_abis = 5,       /* as in base/abi.h */
};

enum {
  largest_piece = 4096, /* what is copied at once */
  largest_text = 4104,
  largest_block = 32768,   /* in pieces */
  most_operations = 32768, /* of all plans together */
  operations_per_plan = 64,
  most_elements = 64, /* of an array: as many are followed */
  most_loops = 4,     /* within each other */
  most_steps = 16384, /* of a plan, loops included */
  most_arguments = 6,
  most_names = 128, /* things that one record names; what is beyond shows without its name */
};

/* Where in a record's memory the thread's registers are, as NT_PRSTATUS has them: no address of any process. */
#define registers_address 0x8000000000000000ULL

/* An operation finds addresses and lengths in slots: the arguments, the result, and what `load` operations have read.
 */
enum capture_slot { slot_result = 6, slot_first_loaded = 7, slot_stack = 31, slots = 32, slot_none = 255 };

enum capture_kind {
  capture_block = 1, /* bytes */
  capture_text,      /* up to a NUL */
  capture_load,      /* a number into a slot */
  capture_each,      /* the next operations for each element of an array, with its address in a slot */
  capture_netlink,   /* the protocol of a netlink socket, whose descriptor the base has */
  capture_texts,     /* what the elements of an array of pointers point to, up to a null pointer */
  capture_named, /* what a number stands for, which the base has; `to` is its enum named_kind; `length` has a pidfd */
  capture_there_named, /* the same of a number in memory */
  capture_fd_set,      /* of the bits in a set of descriptors, below the count */
  capture_passed,      /* of the descriptors and processes that a list of control messages passes on */
};

/* Of this and of the plans, the sizes are multiples of eight. */
struct capture_operation {
  __u8 kind;
  __u8 base;        /* slot with the address; 0 there is a null pointer */
  __u8 length;      /* block, each: slot with the count; slot_none: `most` is the length */
  __u8 to;          /* load, each: slot */
  __u8 width;       /* load: 1, 2, 4 or 8 bytes; texts, each: of a pointer, or 0: the elements are none */
  __u8 count_width; /* so many bytes of the count matter */
  __u8 body;        /* each: so many operations */
  __u8 more;        /* block, each: so many bytes beside those that are counted */
  __u32 offset;     /* added to the address */
  __u32 scale;      /* bytes for each count */
  __u32 most;       /* bytes; of texts: for each element; each: elements */
  __u32 element;    /* each: bytes */
};

struct capture_plan {
  __u16 entry_first;
  __u8 entry_count;
  __u8 circumstances; /* they are told where it succeeds, too */
  __u16 exit_first;
  __u8 exit_count;
  __u8 arguments;      /* of the call */
  __u8 exit_if_failed; /* the exit's operations are wanted of a call that fails, too */
  __u8 chooser;        /* the argument whose values choose between forms with plans of their own; slot_none: none */
  __u16 padding;
  __u32 chooser_bits; /* so much of it does */
};

/* The plan of one form of a call, such as of one request of ioctl. In a hash table: at its place, or in the next that
 * was free, as far as most_form_steps behind it. */
struct form_plan {
  __u32 slot;  /* of the call, and 1; 0: free */
  __u32 value; /* of the chooser's bits */
  struct capture_plan plan;
};

enum { most_form_steps = 8 };

static inline __u32 place_of_form(__u32 slot, __u32 value) {
  const __u32 mixed = (value ^ slot * 0x9e3779b1U) * 0x85ebca6bU;
  return mixed ^ mixed >> 15;
}

/* What a number of a call stands for. */
enum named_kind { named_descriptor, named_process, named_behind_pidfd };

#endif
