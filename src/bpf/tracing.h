/* What the tracing programs in the kernel and their loader share. Plain C, for both compilers. */
#ifndef TRACER_BPF_TRACING_H
#define TRACER_BPF_TRACING_H

#include <linux/types.h>

#include "bpf/threads.h"
#include "capture/plan.h"

enum {
  largest_record = 40960, /* no new block begins beyond */
  siginfo_size = 128,
  largest_errno = 4095,
  largest_pending = 1024, /* entries that wait for their ends; larger ones go out at once */
  crash_registers_size = 272,
};

/* Which calls are wanted by how they end: filter::EndFilter as the programs ask it. */
struct end_filter {
  __u32 any; /* whether anything is said here */
  __u32 drops_successful;
  __u32 drops_failed;
  __u32 by_errno;
  __u64 errnos[(largest_errno + 64) / 64]; /* one bit for each; with by_errno */
  __u64 min_duration;                      /* nanoseconds */
};

struct tracing_settings {
  struct thread_settings threads;
  struct end_filter filter;
  __u32 stack_bytes; /* so much of the stack is copied at the entry of a call; 0: nothing */
  __u32 task_states; /* calls that fail, and deaths, come with the credentials and the place of the process */
  __u32 blocks;      /* for each CPU, that the reader looks into; a power of two, or 0 */
  __u32 form_mask;   /* places in the table of forms, less 1; they are a power of two */
  __u32 descriptors; /* records say what descriptors of a call stand for */
  __u32 details;     /* more than a path is wanted: of sockets, pidfds and the like */
  __u32 processes;   /* records say what ids of threads, processes and groups stand for */
  __u32 commands;    /* records say what program each thread runs */
  struct call_set turning_points; /* calls whose task state is captured if they succeed, too */
};

struct tracing_shared {
  struct thread_shared threads;
  __u64 lost;     /* records that found no room */
  __u32 sleeping; /* the reader wants to be woken */
  __u32 padding;
  __u64 unnamed;    /* paths that could not be reported */
  __u64 root_entry; /* the tracer's root directory */
  __u64 root_mount;
};

enum record_kind {
  record_enter = 1,
  record_exit,
  record_fork,
  record_exiting, /* it makes no calls any more; the exit of a thread group leader is reported later */
  record_exited,
  record_exec,
  record_signal,           /* delivered */
  record_signal_generated, /* and perhaps ignored: `value` says */
  record_crash,            /* see bpf/task_state.h */
  record_stop,             /* of a thread by a signal that stops its process */
  record_name,             /* of a thread's program: at its first record, and when it changes */
};

/* What stands at the front of each record. What its kind has follows, then chunks of memory up to `size`. */
struct trace_record {
  __u32 size;
  __u8 kind;
  __u8 abi;
  __u8 arguments;  /* enter: so many follow */
  __u8 incomplete; /* enter: something could not be read, and the exit will try again; signal: a crash may follow */
  __u32 tid;       /* in the tracer's pid namespace */
  __u32 tgid;
  __u64 time;   /* CLOCK_MONOTONIC */
  __u32 number; /* of the call, or of the signal; exit: the lower half of its entry's time */
  __u32 lost;   /* records of this CPU that found no room since the last one that did */
};

struct enter_record {
  struct trace_record head;
  __u64 instruction_pointer;
  __u64 stack_pointer;
  __u64 args[6]; /* or fewer */
};

struct exit_record {
  struct trace_record head;
  __s64 result;
  __u64 instruction_pointer;
  __u64 off_time; /* not on a CPU */
  __u64 late;     /* where the chunks begin that the entry could not read; 0: there are none */
};

struct lifecycle_record {
  struct trace_record head;
  __s64 value; /* fork: parent; exited: wait status; exec: former tid */
};

struct name_record {
  struct trace_record head;
  __u64 comm[comm_size / 8];
};

enum chunk_kind {
  chunk_memory,
  chunk_program,   /* of an execve whose entry was incomplete: the path that it was given */
  chunk_arguments, /* the new program's, each with its NUL; the address is 1 where it is an interpreter's */
  chunk_netlink,   /* the protocol of the netlink socket whose descriptor is in the place of the address; eight bytes */
  chunk_file_kind, /* struct file_kind_facts of the descriptor in the place of the address */
  /* See bpf/task_state.h. */
  chunk_process,
  chunk_name,
  chunk_path_end,
  /* See bpf/names.h. */
  chunk_descriptor,
  chunk_socket,
  chunk_named_process,
};

struct trace_chunk {
  __u64 address;
  __u32 size; /* bytes follow, filled up to eight */
  __u32 kind;
};

/* Of record_signal, record_signal_generated and record_stop. */
struct signal_record {
  struct trace_record head;
  __s64 value;                /* what killed, or the fate */
  __u8 siginfo[siginfo_size]; /* as the tracee's handler would have it; zero where the kernel has none */
};

#endif
