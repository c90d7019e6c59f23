/* Records what the descriptors and process ids of a call stand for at that moment, in chunks after those of the call's
 * memory. The operations of the plan have put them on a list (wanted_names.bpf.h). */
#ifndef TRACER_BPF_NAMES_BPF_H
#define TRACER_BPF_NAMES_BPF_H

#include "bpf/kernel/chunks.bpf.h"
#include "bpf/kernel/local_id.bpf.h"
#include "bpf/kernel/open_file.bpf.h"
#include "bpf/kernel/task_state.bpf.h"
#include "bpf/names.h"

/* ------------------------------------------------------------------------------------------------ processes */

/* What `task` calls `number`; nothing if there is no such thread, group or session. */
static __always_inline struct pid* find_pid(struct task_struct* task, __u32 number) {
  const __u64 kind_bits = 3; /* of an entry of such a tree, see struct xarray */
  const __u64 is_node = 2;
  const __u64 least_node = 4096;
  const __u32 deepest = 6;
  struct pid_namespace* space = (void*)space_of(task).address;
  __u64 entry = space ? (__u64)BPF_CORE_READ(space, idr.idr_rt.xa_head) : 0;
  __u64 rest = number;
  for (__u32 i = 0; i < deepest && (entry & kind_bits) == is_node && entry > least_node; ++i) {
    struct xa_node* node = (void*)(entry - is_node);
    const __u64 slot = rest >> (BPF_CORE_READ(node, shift) & 63);
    const __u64 slots_of_node = bpf_core_field_size(node->slots) / sizeof node->slots[0];
    if (slot >= slots_of_node) {
      return 0;
    }
    rest &= (1ULL << (BPF_CORE_READ(node, shift) & 63)) - 1;
    const void* first = &node->slots[0];
    entry = 0;
    bpf_probe_read_kernel(&entry, sizeof entry, first + slot * sizeof node->slots[0]);
  }
  return (entry & kind_bits) == 0 && rest == 0 ? (struct pid*)entry : 0;
}

/* The thread that has this id, for reading; nothing if it is but the name of a group. */
static __always_inline struct task_struct* task_of_pid(struct pid* pid) {
  const __u64 link = (__u64)BPF_CORE_READ(pid, tasks[0].first);
  return link ? (void*)(link - bpf_core_field_offset(struct task_struct, pid_links)) : 0;
}

/* What `task` calls `number`, into zeros. */
static __always_inline void fill_process(struct process_name* name, struct task_struct* task, __u32 number) {
  struct pid* pid = find_pid(task, number);
  if (!pid) {
    return;
  }
  struct task_struct* found = task_of_pid(pid);
  name->here = id_of_pid(pid, shared.threads.space);
  name->is_group = BPF_CORE_READ(pid, tasks[2].first) || BPF_CORE_READ(pid, tasks[3].first);
  if (found) {
    name->is_thread = 1;
    BPF_CORE_READ_INTO(&name->comm, found, comm);
  }
}

static __always_inline void copy_process(struct scratch* s, struct task_struct* task, __u32 number) {
  struct process_name* name = (struct process_name*)chunk_data(s);
  if (name) {
    __builtin_memset(name, 0, sizeof *name);
    fill_process(name, task, number);
    end_chunk(s, number, sizeof *name, chunk_named_process);
  }
}

/* ------------------------------------------------------------------------------------------------ descriptors */

enum {
  pipe_system = 0x50495045,
  socket_system = 0x534f434b,
  anonymous_system = 0x09041934,
  namespace_system = 0x6e736673,
  pidfd_system = 0x50494446
};

/* Some know better than their inode what they are. */
static __always_inline void fill_detail(struct descriptor_facts* facts, struct file* file, const void* name) {
  __u64 front = 0;
  bpf_probe_read_kernel(&front, sizeof front, name);
  void* data = BPF_CORE_READ(file, private_data);
  if (front == 0x6466746e6576655bULL && bpf_core_type_exists(struct eventfd_ctx)) { /* [eventfd] */
    struct eventfd_ctx* event = data;
    facts->detail[0] = BPF_CORE_READ(event, count);
    facts->detail[1] = (__u32)BPF_CORE_READ(event, id);
    facts->detail[2] = BPF_CORE_READ(event, flags);
  } else if (front == 0x666c616e6769735bULL && bpf_core_type_exists(struct signalfd_ctx)) { /* [signalfd] */
    struct signalfd_ctx* signals = data;
    facts->detail[0] = BPF_CORE_READ(signals, sigmask.sig[0]);
  }
}

/* /dev/ptmx, whose files have terminals of their own */
#define terminal_multiplexer (5U << 20 | 2U)

/* Returns one more than the number of the terminal; 0 is unknown. */
static __always_inline __u64 terminal_of(struct file* file) {
  if (!bpf_core_type_exists(struct tty_file_private)) {
    return 0;
  }
  struct tty_file_private* of_file = BPF_CORE_READ(file, private_data);
  struct tty_struct* terminal = BPF_CORE_READ(of_file, tty);
  return terminal ? (__u64)(__u32)BPF_CORE_READ(terminal, index) + 1 : 0;
}

static __always_inline bool is_character_device(__u32 mode) {
  return (mode & 0170000) == 0020000;
}

static __always_inline bool is_pidfd(struct file* file) {
  const __u64 pidfd_name = 0x005d64666469705bULL; /* [pidfd] */
  const __u32 system = (__u32)BPF_CORE_READ(file, f_inode, i_sb, s_magic);
  __u64 front = 0;
  if (system == anonymous_system) {
    bpf_probe_read_kernel(&front, sizeof front, BPF_CORE_READ(file, f_path.dentry, d_name.name));
  }
  return system == pidfd_system || front == pidfd_name;
}

/* Of a pidfd. */
static __always_inline struct pid* pid_of(struct file* file) {
  const bool by_inode = (__u32)BPF_CORE_READ(file, f_inode, i_sb, s_magic) == pidfd_system;
  return by_inode ? BPF_CORE_READ(file, f_inode, i_private) : BPF_CORE_READ(file, private_data);
}

static __always_inline void fill_pidfd(struct descriptor_facts* facts, struct pid* pid) {
  struct task_struct* task = pid ? task_of_pid(pid) : 0;
  facts->detail[0] = task ? id_of_pid(pid, shared.threads.space) : ~0ULL;
  if (task) {
    bpf_core_read(&facts->detail[1], sizeof facts->detail - sizeof facts->detail[0], &task->comm);
  }
}

static __always_inline __u64 inode_of_socket(struct socket* socket) {
  struct socket_alloc* all = (void*)((__u64)socket - bpf_core_field_offset(struct socket_alloc, socket));
  return socket ? BPF_CORE_READ(all, vfs_inode.i_ino) : 0;
}

static __always_inline void copy_socket(struct scratch* s, struct file* file, __u64 fd) {
  const unsigned short unix_family = 1;
  const unsigned short inet_family = 2;
  const unsigned short inet6_family = 10;
  const unsigned short netlink_family = 16;
  struct socket* socket = BPF_CORE_READ(file, private_data);
  struct sock* sock = BPF_CORE_READ(socket, sk);
  struct socket_facts* facts = sock ? (struct socket_facts*)chunk_data(s) : 0;
  if (!facts) {
    return;
  }
  __builtin_memset(facts, 0, sizeof *facts);
  facts->family = BPF_CORE_READ(sock, __sk_common.skc_family);
  facts->protocol = BPF_CORE_READ(sock, sk_protocol);
  facts->state = BPF_CORE_READ(sock, __sk_common.skc_state);
  if (facts->family == unix_family && bpf_core_type_exists(struct unix_sock)) {
    struct unix_sock* local = (void*)sock;
    struct sock* peer = BPF_CORE_READ(local, peer);
    facts->peer = peer ? inode_of_socket(BPF_CORE_READ(peer, sk_socket)) : 0;
    struct unix_address* address = BPF_CORE_READ(local, addr);
    const int length = address ? BPF_CORE_READ(address, len) - (int)sizeof facts->family : 0;
    if (length > 0 && length <= (int)sizeof address->name[0].sun_path) {
      facts->name_size = (__u32)length;
      bpf_core_read(facts->name, sizeof address->name[0].sun_path, &address->name[0].sun_path);
    }
  } else if (facts->family == inet_family || facts->family == inet6_family) {
    facts->local_port = BPF_CORE_READ(sock, __sk_common.skc_num);
    facts->remote_port = __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
    if (facts->family == inet_family) {
      bpf_core_read(facts->local, sizeof(__u32), &sock->__sk_common.skc_rcv_saddr);
      bpf_core_read(facts->remote, sizeof(__u32), &sock->__sk_common.skc_daddr);
    } else if (bpf_core_field_exists(sock->__sk_common.skc_v6_daddr)) {
      bpf_core_read(facts->local, sizeof facts->local, &sock->__sk_common.skc_v6_rcv_saddr);
      bpf_core_read(facts->remote, sizeof facts->remote, &sock->__sk_common.skc_v6_daddr);
    }
  } else if (facts->family == netlink_family && bpf_core_type_exists(struct netlink_sock)) {
    struct netlink_sock* link = (void*)sock;
    facts->port_id = BPF_CORE_READ(link, portid);
  }
  end_chunk(s, fd, sizeof *facts, chunk_socket);
}

/* The name that a file system makes of its file. */
static __always_inline const void* made_up_name(struct dentry* entry, __u32 system) {
  if (system != namespace_system) {
    return BPF_CORE_READ(entry, d_name.name);
  }
  struct ns_common* space = BPF_CORE_READ(entry, d_inode, i_private);
  return BPF_CORE_READ(space, ops, name);
}

static __always_inline bool is_made_up(struct dentry* entry, struct vfsmount* mount) {
  return BPF_CORE_READ(entry, d_op, d_dname) &&
         !(BPF_CORE_READ(entry, d_parent) == entry && BPF_CORE_READ(mount, mnt_root) == entry);
}

static long follow_name(__u32 i, void* unused) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  step_up(&s->second_walk);
  return s->second_walk.done ? 1 : 0;
}

/* The names up to the tracer's root, and how that ended. What is renamed meanwhile would show a path that never was: a
 * second walk that finds the same says that all of it held at one time, between the two. */
static __always_inline __u32 copy_names_up(struct scratch* s, const struct path* path, __u64 which) {
  const __u32 used = s->used;
  for (int attempt = 0; attempt < 3; ++attempt) {
    struct path_walk walk = {};
    walk.entry = (__u64)BPF_CORE_READ(path, dentry);
    walk.mount = (__u64)BPF_CORE_READ(path, mnt);
    walk.root_entry = shared.root_entry;
    walk.root_mount = shared.root_mount;
    walk.which = which;
    s->walk = s->second_walk = walk;
    s->used = used;
    bpf_loop(deepest_named, copy_name, 0, 0);
    bpf_loop(deepest_named, follow_name, 0, 0);
    if (s->walk.ending == path_unknown) {
      break;
    }
    if (s->second_walk.sum == s->walk.sum && s->second_walk.ending == s->walk.ending) {
      return s->walk.ending;
    }
  }
  __sync_fetch_and_add(&shared.unnamed, 1);
  return path_unknown;
}

static __always_inline void copy_file(struct scratch* s, const struct path* path, struct file* file, __u64 fd) {
  const __u64 which = names_of_descriptor | fd;
  struct dentry* entry = BPF_CORE_READ(path, dentry);
  struct inode* inode = BPF_CORE_READ(entry, d_inode);
  const __u32 system = (__u32)BPF_CORE_READ(inode, i_sb, s_magic);
  const bool made_up = is_made_up(entry, BPF_CORE_READ(path, mnt));
  const bool deleted = is_deleted((__u64)entry);
  const void* name = 0;
  __u32 ending = path_unknown;
  if (made_up) {
    name = made_up_name(entry, system);
    copy_one_name(s, name, which);
  } else {
    ending = copy_names_up(s, path, which);
  }
  struct descriptor_facts* facts = (struct descriptor_facts*)chunk_data(s);
  if (!facts) {
    return;
  }
  __builtin_memset(facts, 0, sizeof *facts);
  facts->inode = BPF_CORE_READ(inode, i_ino);
  facts->mode = BPF_CORE_READ(inode, i_mode);
  facts->device = BPF_CORE_READ(inode, i_rdev);
  facts->system = system;
  facts->made_up = made_up;
  facts->path.ending = ending;
  facts->path.deleted = deleted;
  if (file && settings.details && made_up) {
    if (is_pidfd(file)) {
      fill_pidfd(facts, pid_of(file));
    } else if (system == anonymous_system) {
      fill_detail(facts, file, name);
    }
  } else if (file && settings.details && is_character_device(facts->mode) && facts->device == terminal_multiplexer) {
    facts->detail[0] = terminal_of(file);
  }
  end_chunk(s, fd, sizeof *facts, chunk_descriptor);
  if (file && settings.details && system == socket_system) {
    copy_socket(s, file, fd);
  }
}

static __always_inline void copy_descriptor(struct scratch* s, __u32 kind, __u32 fd) {
  struct task_struct* task = bpf_get_current_task_btf();
  __u64 address = fd;
  if (kind == named_behind_pidfd) {
    struct file* pidfd = file_of(task, s->pidfd);
    struct pid* pid = pidfd && is_pidfd(pidfd) ? pid_of(pidfd) : 0;
    task = pid ? task_of_pid(pid) : 0;
    address |= behind_pidfd;
  }
  if (!task) {
    return;
  }
  if (fd == descriptor_of_working_directory) {
    struct fs_struct* fs = BPF_CORE_READ(task, fs);
    if (fs) {
      copy_file(s, &fs->pwd, 0, address);
    }
    return;
  }
  struct file* file = file_of(task, fd);
  if (file) {
    copy_file(s, &file->f_path, file, address);
  }
}

static long copy_named(__u32 i, void* unused) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  const __u64 named = s->named[i % most_names];
  if (named >> 32 == named_process) {
    if (settings.processes) {
      copy_process(s, bpf_get_current_task_btf(), (__u32)named);
    }
  } else if (settings.descriptors) {
    copy_descriptor(s, (__u32)(named >> 32), (__u32)named);
  }
  return 0;
}

/* Goes through the list. Verified once, as it is nobody's own. */
__noinline int copy_names(void) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 0;
  }
  const __u32 count = s->named_count;
  s->named_count = 0;
  if (count != 0) {
    bpf_loop(count < most_names ? count : most_names, copy_named, 0, 0);
  }
  return 0;
}

static __always_inline void name_wanted(struct scratch* s) {
  if ((settings.descriptors || settings.processes) && s->named_count != 0) {
    copy_names();
  }
}

/* Run by the tracer: from where on paths go is as it sees it. */
SEC("iter/task")
int find_root(struct bpf_iter__task* ctx) {
  struct task_struct* tracer = bpf_get_current_task_btf();
  shared.root_entry = (__u64)BPF_CORE_READ(tracer, fs, root.dentry);
  shared.root_mount = (__u64)BPF_CORE_READ(tracer, fs, root.mnt);
  return 0;
}

#endif
