/* The few kernel types that the BPF programs read, with the fields that they read. The loader finds out where these
 * stand in the running kernel (CO-RE), so order and completeness do not matter here. */
#ifndef TRACER_BPF_KERNEL_TYPES_H
#define TRACER_BPF_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <linux/types.h>

#include "arch/bpf_abi.h"

typedef _Bool bool;
enum { false, true };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;

struct upid {
  int nr;
  struct pid_namespace* ns;
};

struct hlist_node {
  struct hlist_node* next;
};

struct hlist_head {
  struct hlist_node* first;
};

struct pid {
  unsigned int level;
  struct hlist_head tasks[4]; /* by PIDTYPE_*: of threads, of processes, of groups and of sessions */
  struct upid numbers[1];
};

struct xarray {
  void* xa_head;
};

struct idr {
  struct xarray idr_rt;
};

struct pid_namespace {
  struct idr idr;
};

struct xa_node {
  unsigned char shift;
  void* slots[64];
};

typedef struct {
  unsigned long sig[1];
} sigset_t;

struct sigpending {
  sigset_t signal;
};

struct rlimit {
  unsigned long rlim_cur;
  unsigned long rlim_max;
};

typedef struct {
  int counter;
} atomic_t;

struct signal_struct {
  atomic_t live; /* threads that have not ended */
  unsigned int flags;
  int group_exit_code;
  struct rlimit rlim[16];
};

struct file_system_type {
  const char* name;
};

struct super_block {
  __u32 s_dev;
  struct file_system_type* s_type;
  unsigned long s_magic;
};

struct inode {
  unsigned short i_mode;
  unsigned long i_ino;
  __u32 i_rdev;
  void* i_private;
  struct super_block* i_sb;
};

struct hlist_bl_node {
  struct hlist_bl_node** pprev;
};

struct qstr {
  __u64 hash_len; /* of the name */
  const unsigned char* name;
};

struct dentry_operations {
  void* d_dname;
};

struct dentry {
  struct hlist_bl_node d_hash;
  struct dentry* d_parent;
  struct qstr d_name;
  struct inode* d_inode;
  const struct dentry_operations* d_op;
};

struct vfsmount {
  struct dentry* mnt_root;
};

struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
};

struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};

struct file {
  struct inode* f_inode;
  void* private_data;
  struct path f_path;
};

struct fs_struct {
  struct path root;
  struct path pwd;
};

struct proc_ns_operations {
  const char* name;
};

struct ns_common {
  unsigned int inum;
  const struct proc_ns_operations* ops;
};

struct mnt_namespace {
  struct ns_common ns;
};

struct nsproxy {
  struct mnt_namespace* mnt_ns;
};

/* The kernel's are typedefs, of which it matters that they have this member. */
typedef struct {
  unsigned int val;
} kuid_t;

typedef struct {
  unsigned int val;
} kgid_t;

typedef struct {
  __u32 cap[2];
} kernel_cap_t;

struct group_info {
  int ngroups;
  kgid_t gid[1];
};

struct uid_gid_extent {
  __u32 first;
  __u32 lower_first; /* in the first user namespace */
  __u32 count;
};

struct uid_gid_map {
  __u32 nr_extents;
  struct uid_gid_extent extent[5];
};

struct user_namespace {
  struct uid_gid_map uid_map;
};

struct cred {
  struct user_namespace* user_ns;
  kuid_t uid, suid, euid, fsuid;
  kgid_t gid, sgid, egid, fsgid;
  kernel_cap_t cap_effective;
  struct group_info* group_info;
};

struct seccomp {
  int mode;
  atomic_t filter_count;
};

struct rq {
  __u64 clock;
  __u64 clock_task;
  __u64 prev_irq_time;
  __u64 prev_steal_time_rq;
};

struct cfs_rq {
  struct rq* rq;
};

struct sched_entity {
  __u64 exec_start;
  __u64 sum_exec_runtime;
  struct cfs_rq* cfs_rq;
};

struct mm_struct {
  unsigned long start_stack;
  unsigned long arg_start; /* of a program's arguments, one text after the other */
  unsigned long arg_end;
};

struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_flags;
  unsigned long vm_pgoff;
  struct file* vm_file;
};

struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};

struct files_struct {
  struct fdtable* fdt;
};

struct in6_addr {
  __u8 bytes[16];
};

struct sock_common {
  __u32 skc_daddr;
  __u32 skc_rcv_saddr;
  __u16 skc_dport;
  __u16 skc_num;
  unsigned short skc_family;
  unsigned char skc_state;
  struct in6_addr skc_v6_daddr;
  struct in6_addr skc_v6_rcv_saddr;
};

struct socket;

struct sock {
  struct sock_common __sk_common;
  __u16 sk_protocol;
  struct socket* sk_socket;
};

struct socket {
  struct sock* sk;
};

struct socket_alloc {
  struct socket socket;
  struct inode vfs_inode;
};

struct sockaddr_un {
  unsigned short sun_family;
  char sun_path[108];
};

struct unix_address {
  int len;
  struct sockaddr_un name[1];
};

struct unix_sock {
  struct unix_address* addr;
  struct sock* peer;
};

struct netlink_sock {
  __u32 portid;
};

struct eventfd_ctx {
  __u64 count;
  unsigned int flags;
  int id;
};

struct signalfd_ctx {
  sigset_t sigmask;
};

struct tty_struct {
  int index;
};

struct tty_file_private {
  struct tty_struct* tty;
};

struct uprobe_task {
  unsigned int depth; /* calls whose returns are watched */
};

struct task_struct {
  struct thread_info thread_info;
  struct sched_entity se;
  unsigned int __state;
  unsigned long jobctl;
  int exit_code;
  int pid;
  int tgid;
  struct task_struct* group_leader;
  struct task_struct* real_parent;
  struct pid* thread_pid;
  struct hlist_node pid_links[1]; /* in the lists of struct pid */
  struct signal_struct* signal;
  struct sigpending pending;
  struct files_struct* files;
  struct fs_struct* fs;
  struct nsproxy* nsproxy;
  const struct cred* cred;
  struct mm_struct* mm;
  struct seccomp seccomp;
  __u64 stime;
  unsigned int self_exec_id; /* its lower half since Linux 5.7; counts */
  unsigned long nvcsw;
  unsigned long nivcsw;
  char comm[16];
  struct thread_struct thread;
  struct uprobe_task* utask;
};

struct task_struct___before_5_14 {
  long state;
};

struct bpf_iter__task {
  struct task_struct* task;
};

struct sigaction {
  void* sa_handler;
  unsigned long sa_flags;
};

struct k_sigaction {
  struct sigaction sa;
};

struct linux_binprm {
  const char* filename;
  const char* interp; /* the same pointer, unless that is a script */
};

#pragma clang attribute pop

/* Only ever copied; its size is that of all architectures since Linux 4.20. */
struct kernel_siginfo {
  __u64 words[6];
};

#endif
