/* Records the credentials and directories of a process whose call failed, in chunks after those of its memory. */
#ifndef TRACER_BPF_TASK_STATE_BPF_H
#define TRACER_BPF_TASK_STATE_BPF_H

#include "bpf/kernel/chunks.bpf.h"
#include "bpf/kernel/open_file.bpf.h"
#include "bpf/task_state.h"

/* ------------------------------------------------------------------------------------------------ paths */

static __always_inline void add_to_sum(struct path_walk* walk, __u64 number) {
  walk->sum = (walk->sum ^ number) * 0x9e3779b97f4a7c15ULL;
}

/* One step up. Returns the name that was passed; nothing where there was none, and at the end, which sets `done`. */
static __always_inline const void* step_up(struct path_walk* walk) {
  struct dentry* entry = (void*)walk->entry;
  struct vfsmount* at = (void*)walk->mount;
  if (!entry || !at || (walk->entry == walk->root_entry && walk->mount == walk->root_mount)) {
    walk->ending = entry && at ? path_at_root : path_unknown;
    walk->done = 1;
    return 0;
  }
  if (entry == BPF_CORE_READ(at, mnt_root)) {
    const __u64 inside = bpf_core_field_offset(struct mount, mnt);
    struct mount* mount = (void*)(walk->mount - inside);
    struct mount* parent = BPF_CORE_READ(mount, mnt_parent);
    if (parent == mount || !parent) {
      walk->ending = path_at_top;
      walk->done = 1;
      return 0;
    }
    walk->entry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
    walk->mount = (__u64)parent + inside;
    add_to_sum(walk, walk->entry);
    return 0;
  }
  struct dentry* parent = BPF_CORE_READ(entry, d_parent);
  if (parent == entry) {
    walk->done = 1;
    return 0;
  }
  walk->entry = (__u64)parent;
  add_to_sum(walk, walk->entry);
  add_to_sum(walk, BPF_CORE_READ(entry, d_name.hash_len)); /* before the name itself is read */
  return BPF_CORE_READ(entry, d_name.name);
}

static __always_inline void begin_walk(struct path_walk* walk, struct task_struct* task, const struct path* path) {
  walk->entry = (__u64)BPF_CORE_READ(path, dentry);
  walk->mount = (__u64)BPF_CORE_READ(path, mnt);
  walk->root_entry = (__u64)BPF_CORE_READ(task, fs, root.dentry);
  walk->root_mount = (__u64)BPF_CORE_READ(task, fs, root.mnt);
  walk->sum = 0;
  walk->ending = path_unknown;
  walk->done = 0;
}

static __always_inline bool is_deleted(__u64 entry) {
  struct dentry* dentry = (void*)entry;
  return dentry && BPF_CORE_READ(dentry, d_hash.pprev) == 0 && BPF_CORE_READ(dentry, d_parent) != dentry;
}

static __always_inline bool copy_one_name(struct scratch* s, const void* name, __u64 which) {
  __u8* data = chunk_data(s);
  const long size = data ? bpf_probe_read_kernel_str(data, longest_name, name) : 0;
  if (size <= 1 || size > longest_name) {
    return false;
  }
  end_chunk(s, which, (__u32)size - 1, chunk_name);
  return true;
}

static long copy_name(__u32 i, void* unused) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  const void* name = step_up(&s->walk);
  if (name && !copy_one_name(s, name, s->walk.which)) {
    s->walk.done = 1;
  }
  return s->walk.done ? 1 : 0;
}

static __always_inline void copy_path(struct scratch* s, struct task_struct* task, const struct path* path,
                                      enum path_of which, bool to_the_top) {
  begin_walk(&s->walk, task, path);
  if (to_the_top) {
    s->walk.root_entry = 0;
  }
  s->walk.which = which;
  const bool deleted = is_deleted(s->walk.entry);
  bpf_loop(deepest_path, copy_name, 0, 0);
  struct path_end* end = (struct path_end*)chunk_data(s);
  if (end) {
    end->ending = s->walk.ending;
    end->deleted = deleted;
    end_chunk(s, which, sizeof *end, chunk_path_end);
  }
}

/* ------------------------------------------------------------------------------------------------ the process */

static __always_inline void fill_facts(struct process_facts* facts, struct task_struct* task) {
  const struct cred* cred = BPF_CORE_READ(task, cred);
  facts->users[0] = BPF_CORE_READ(cred, uid.val);
  facts->users[1] = BPF_CORE_READ(cred, euid.val);
  facts->users[2] = BPF_CORE_READ(cred, suid.val);
  facts->users[3] = BPF_CORE_READ(cred, fsuid.val);
  facts->groups[0] = BPF_CORE_READ(cred, gid.val);
  facts->groups[1] = BPF_CORE_READ(cred, egid.val);
  facts->groups[2] = BPF_CORE_READ(cred, sgid.val);
  facts->groups[3] = BPF_CORE_READ(cred, fsgid.val);
  facts->capabilities = 0;
  bpf_core_read(&facts->capabilities, sizeof facts->capabilities, &cred->cap_effective);
  struct group_info* groups = BPF_CORE_READ(cred, group_info);
  facts->more_groups = (__u32)BPF_CORE_READ(groups, ngroups);
  bpf_probe_read_kernel(facts->more_group, sizeof facts->more_group,
                        (const void*)((__u64)groups + bpf_core_field_offset(struct group_info, gid)));
  facts->seccomp_mode = 0;
  facts->seccomp_filters = 0;
  if (bpf_core_field_exists(task->seccomp.filter_count)) {
    facts->seccomp_mode = (__u32)BPF_CORE_READ(task, seccomp.mode);
    facts->seccomp_filters = (__u32)BPF_CORE_READ(task, seccomp.filter_count.counter);
  }
  facts->mount_namespace = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
  struct inode* root = BPF_CORE_READ(task, fs, root.dentry, d_inode);
  facts->root_device = BPF_CORE_READ(root, i_sb, s_dev);
  facts->root_inode = BPF_CORE_READ(root, i_ino);
  facts->padding = 0;
  /* One by one: all together would take half of the stack that a program and what it calls may have. */
  struct signal_struct* signal = BPF_CORE_READ(task, signal);
#pragma unroll
  for (int i = 0; i < limits_of_process; ++i) {
    facts->limits[i] = BPF_CORE_READ(signal, rlim[i].rlim_cur);
  }
}

/* Behind what an exit has captured: `first` is the call's first argument. */
static __always_inline void copy_task_state(struct scratch* s, struct task_struct* task, __u64 first) {
  struct process_facts* facts = (struct process_facts*)chunk_data(s);
  if (!facts) {
    return;
  }
  fill_facts(facts, task);
  end_chunk(s, 0, sizeof *facts, chunk_process);
  struct fs_struct* fs = BPF_CORE_READ(task, fs);
  if (fs) {
    copy_path(s, task, &fs->root, path_root, true);
    copy_path(s, task, &fs->pwd, path_working_directory, false);
  }
  struct file* file = file_of(task, (__u32)first);
  if (file) {
    copy_path(s, task, &file->f_path, path_first_argument, false);
  }
}

#endif
