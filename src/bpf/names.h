/* What the tracing programs in the kernel report of descriptors and process ids that a call names: what they stood for
 * at that moment. Plain C, for both compilers. */
#ifndef TRACER_BPF_NAMES_H
#define TRACER_BPF_NAMES_H

#include <linux/types.h>

#include "bpf/task_state.h"

enum {
  deepest_named = 2048,   /* names of a path: PATH_MAX has room for no more */
  socket_name_size = 112, /* sun_path, filled up to eight */
};

/* AT_FDCWD */
#define descriptor_of_working_directory ((__u32)-100)

/* The names of a descriptor's path, the innermost first, are chunk_names with this and the descriptor for an address.
 * The chunk_descriptor ends them, which has the descriptor for an address; AT_FDCWD there is the working directory. */
#define names_of_descriptor 0x100000000ULL

/* A descriptor of the process that a pidfd of the call stands for has this in its addresses. */
#define behind_pidfd 0x200000000ULL

/* Of chunk_descriptor. */
struct descriptor_facts {
  __u64 inode;
  __u64 detail[3]; /* eventfd: count, id, flags; signalfd: what it does not take; pidfd: the process's id and its comm;
                      /dev/ptmx: one more than the number of its terminal */
  __u32 mode;      /* st_mode */
  __u32 device;    /* of a device's file, as the kernel counts: 20 bits of minor number */
  __u32 system;    /* magic number of the file system */
  __u32 made_up;   /* the one name is the file's own, and its file system makes a text of it */
  struct path_end path;
};

/* Of chunk_file_kind. */
struct file_kind_facts {
  __u32 mode;    /* st_mode */
  __u32 device;  /* of a device's file, as the kernel counts: 20 bits of minor number */
  __u8 name[16]; /* of a socket: its protocol; of other files: the type of the file system; with a NUL */
};

/* Of chunk_socket, behind the chunk_descriptor of the same descriptor. */
struct socket_facts {
  __u16 family;
  __u16 protocol;
  __u16 local_port; /* of this machine's byte order */
  __u16 remote_port;
  __u32 state;   /* TCP_* */
  __u32 port_id; /* netlink */
  __u8 local[16];
  __u8 remote[16];
  __u64 peer; /* inode of the other end; 0: none */
  __u32 name_size;
  __u32 padding;
  __u8 name[socket_name_size]; /* sun_path */
};

/* Of chunk_named_process, which has the number of the call for an address. */
struct process_name {
  __u32 here; /* in the tracer's pid namespace; 0: it has no number there */
  __u16 is_thread;
  __u16 is_group; /* or a session */
  __u64 comm[2];  /* of the thread */
};

/* A signal, and who its siginfo says that it comes from. */
struct named_signal_record {
  struct signal_record signal;
  struct trace_chunk chunk;
  struct process_name sender;
};

#endif
