/* What a descriptor stands for in the kernel. */
#ifndef TRACER_BPF_OPEN_FILE_BPF_H
#define TRACER_BPF_OPEN_FILE_BPF_H

#include "bpf/kernel/kernel_types.h"

#include <bpf/bpf_core_read.h>

/* Behind a descriptor of a process, which may end or close it meanwhile; nothing if there is none. */
static __always_inline struct file* file_of(struct task_struct* task, __u32 fd) {
  struct fdtable* table = BPF_CORE_READ(task, files, fdt);
  struct file* file = 0;
  if (fd < BPF_CORE_READ(table, max_fds)) {
    bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + fd);
  }
  return file;
}

#endif
