/* What the tracing programs in the kernel report of a process beside its calls: its credentials and where it ran when
 * one of them failed, and what its memory was when it died. Plain C, for both compilers. */
#ifndef TRACER_BPF_TASK_STATE_H
#define TRACER_BPF_TASK_STATE_H

#include <linux/types.h>

#include "bpf/tracing.h"

enum {
  most_groups = 64,
  limits_of_process = 16, /* RLIM_NLIMITS */
  longest_name = 256,     /* of a file, with its NUL */
  deepest_path = 64,      /* names */
  most_crash_mappings = 24,
  crash_stack_size = 8192,
  mapping_path_size = 1024, /* the longest name has room behind what is used already */
  crash_slots = 4,          /* so many threads can be looked at that die at once */
};

/* Ids are those of the first user namespace. */
struct process_facts {
  __u32 users[4];  /* real, effective, saved, of file systems */
  __u32 groups[4]; /* the same */
  __u64 capabilities;
  __u32 seccomp_mode;
  __u32 seccomp_filters;
  __u32 more_groups; /* how many there are, if not more than most_groups */
  __u32 mount_namespace;
  __u32 root_device; /* as the kernel counts: 20 bits of minor number */
  __u32 padding;
  __u64 root_inode;
  __u32 more_group[most_groups];
  __u64 limits[limits_of_process]; /* soft ones, by RLIMIT_* */
};

/* Which path a chunk_name belongs to, in the place of the chunk's address. The names come innermost first. A chunk of
 * the size of struct path_end ends them. */
enum path_of { path_root = 1, path_working_directory, path_first_argument };

enum path_ending {
  path_unknown, /* too deep, or of no file system that can be walked */
  path_at_root, /* at the root that the process has */
  path_at_top,  /* at the root of its mount namespace */
};

struct path_end {
  __u32 ending;
  __u32 deleted;
};

struct captured_mapping {
  __u64 start;
  __u64 end;
  __u64 page;   /* of the file, that `start` shows */
  __u64 flags;  /* VM_* */
  __u64 inode;  /* 0: no file */
  __u32 device; /* as above */
  __u32 is_stack;
  struct path_end end_of_path;
  __u32 path_used;
  __u32 padding;
  __u8 path[mapping_path_size]; /* names, innermost first, each with its NUL */
};

/* Of record_crash: comes from a thread that a signal is about to kill. */
struct crash_record {
  struct trace_record head; /* number: of the signal */
  __u64 instruction_pointer;
  __u64 stack_pointer;
  struct process_facts facts;
  __u32 mapping_count;
  __u32 stack_size; /* bytes that could be read, from stack_pointer on */
  __u8 registers[crash_registers_size];
  __u8 stack[crash_stack_size];
  struct captured_mapping mappings[most_crash_mappings]; /* the first are complete, and no more than `size` has */
};

#endif
