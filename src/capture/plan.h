/* Capture plans: what to copy out of a process at the entry and at the exit of a call, so that the call can be decoded
 * later. The planner (planner.h) makes them from the descriptions. A recorder, which stops no thread, carries them out:
 * the BPF programs in the kernel, carry_out.h in user space. Plain C, independent of the recorders, for every compiler.
 *
 * A recorder works with `slots` numbers of 64 bits. At the entry the first six are the arguments of the call and
 * slot_stack is the stack pointer; at the exit slot_result is the result, too. It carries out the operations of the
 * plan one after the other; a load writes a slot that later operations use as an address or as a count. It never
 * fails: an operation that cannot read its memory copies nothing, or a zero into its slot, and the next one follows. */
#ifndef TRACER_CAPTURE_PLAN_H
#define TRACER_CAPTURE_PLAN_H

#include <linux/types.h>

/* A call's place in tables: its ABI * numbers_per_abi + its number. */
enum {
  numbers_per_abi = 1024, /* no table has call numbers from here on, and nobody watches them */
  watched_abis = 5,       /* as in base/abi.h */
};

/* The limits of plans and of their recorders. */
enum {
  most_arguments = 6,
  operations_per_plan = 64,
  most_operations = 32768, /* of all plans together */
  most_steps = 16384,      /* of one plan, with every turn of its loops */
  most_loops = 4,          /* within each other */
  most_elements = 64,      /* of an array that a recorder follows */
  most_names = 128,        /* descriptors and ids that one record names; the others show without a name */
  largest_piece = 4096,    /* bytes that are copied at once */
  largest_text = 4104,
  largest_block = 32768, /* copied in pieces */
};

/* Where in a record's memory the thread's registers are, as NT_PRSTATUS has them: no address of any process. */
#define registers_address 0x8000000000000000ULL

enum capture_slot { slot_result = 6, slot_first_loaded = 7, slot_stack = 31, slots = 32, slot_none = 255 };

enum capture_kind {
  capture_block = 1, /* copies bytes */
  capture_text,      /* copies bytes up to a NUL */
  capture_load,      /* reads a number into a slot */
  capture_each,      /* repeats the next `body` operations for each element of an array, with its address in a slot */
  capture_netlink,   /* records the protocol of a netlink socket, whose descriptor is in slot `base` */
  capture_file_kind, /* records the kind of the file whose descriptor is in slot `base` */
  capture_texts,     /* copies the texts that an array of pointers points to, up to a null pointer */
  /* The operations from here on record what numbers stand for: enum named_kind. */
  capture_named,       /* the number in slot `base`; the pidfd that it belongs to is in slot `length` */
  capture_there_named, /* a number in memory, of four bytes */
  capture_fd_set,      /* the bits of a set of descriptors, as many as the count says */
  capture_passed,      /* descriptors and ids in a list of control messages, as many bytes as the count says */
};

/* What a number of a call stands for. */
enum named_kind { named_descriptor, named_process, named_behind_pidfd };

/* The address of an operation is slot `base` + `offset`; where the slot is 0 there is a null pointer, and the operation
 * does nothing. Its count is slot `length`, cut to `count_width` bytes. The size of the structures in this file is a
 * multiple of eight. */
struct capture_operation {
  __u8 kind;
  __u8 base;
  __u8 length;      /* slot_none: `most` says how much; block: likewise where the count is larger than `most` */
  __u8 to;          /* load, each: the slot that they write; named, there_named: enum named_kind */
  __u8 width;       /* load: 1, 2, 4 or 8 bytes; texts, each: of a pointer, each: 0 if the elements are no pointers;
                       passed: of a word */
  __u8 count_width; /* 1, 2, 4 or 8 */
  __u8 body;        /* each: the number of operations in the loop */
  __u8 more;        /* block, each: bytes beside those that are counted */
  __u32 offset;
  __u32 scale;   /* block, each: bytes for each that is counted */
  __u32 most;    /* block, text: bytes; texts: bytes of each text; each: elements */
  __u32 element; /* each: bytes of an element */
};

/* The operations of a call, as places in the table of all operations. */
struct capture_plan {
  __u16 entry_first;
  __u8 entry_count;
  __u8 exit_if_failed; /* the exit's operations are wanted of a call that fails, too */
  __u16 exit_first;
  __u8 exit_count;
  __u8 arguments;      /* of the call */
  __u32 chooser_bits;  /* the bits of the chooser that choose */
  __u8 chooser;        /* the argument whose values choose between forms with plans of their own; slot_none: none */
  __u8 named_at_entry; /* what its operations may name: a bit for each enum named_kind */
  __u8 named_at_exit;
  __u8 padding;
};

/* The plan of one form of a call, such as of one request of ioctl: an element of a hash table, whose size is a power of
 * two. It is at place_of_form(), or at the next place that was free, less than most_form_steps behind it. */
struct form_plan {
  __u32 slot;  /* the call's place in tables, and 1; 0: free */
  __u32 value; /* of the chooser's bits */
  struct capture_plan plan;
};

enum { most_form_steps = 8 };

static inline __u32 place_of_form(__u32 slot, __u32 value) {
  const __u32 mixed = (value ^ slot * 0x9e3779b1U) * 0x85ebca6bU;
  return mixed ^ mixed >> 15;
}

#endif
