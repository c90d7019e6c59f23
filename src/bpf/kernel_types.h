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

struct upid {
  int nr;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

typedef struct {
  unsigned long sig[1];
} sigset_t;

struct sigpending {
  sigset_t signal;
};

struct signal_struct {
  int group_exit_code;
};

struct inode {
  unsigned short i_mode;
};

struct file {
  struct inode* f_inode;
  void* private_data;
};

struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};

struct files_struct {
  struct fdtable* fdt;
};

struct sock_common {
  unsigned short skc_family;
};

struct sock {
  struct sock_common __sk_common;
  __u16 sk_protocol;
};

struct socket {
  struct sock* sk;
};

struct task_struct {
  struct thread_info thread_info;
  int exit_code;
  int pid;
  int tgid;
  struct task_struct* group_leader;
  struct task_struct* real_parent;
  struct pid* thread_pid;
  struct signal_struct* signal;
  struct sigpending pending;
  struct files_struct* files;
  char comm[16];
};

struct bpf_iter__task {
  struct task_struct* task;
};

struct linux_binprm;

#pragma clang attribute pop

/* Only ever copied; its size is that of all architectures since Linux 4.20. */
struct kernel_siginfo {
  __u64 words[6];
};

#endif
