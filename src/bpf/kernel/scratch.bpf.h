/* The working memory of a program that makes a record. The including program decides where it is: each CPU has one
 * (records.bpf.h), or each thread has one (function_records.bpf.c). */
#ifndef TRACER_BPF_SCRATCH_BPF_H
#define TRACER_BPF_SCRATCH_BPF_H

#include "bpf/names.h"
#include "bpf/tracing.h"

#include <bpf/bpf_helpers.h>

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

/* What a program needs beside the record that it makes, and where that record is.
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

/* That of the CPU or of the thread; null: there is no room for one. */
static __always_inline struct scratch* own_scratch(void);

/* The record that is being made; from here on there is room for largest_made bytes. */
static __always_inline void* record_place(struct scratch* s);

#endif
