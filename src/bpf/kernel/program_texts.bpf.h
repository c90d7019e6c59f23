/* Records the path, arguments and environment that a new program received, if the entry of its execve could not read
 * them. Texts in pages that were not touched since a fork cannot be read at the entry, and are gone at the exit. */
#ifndef TRACER_BPF_PROGRAM_TEXTS_BPF_H
#define TRACER_BPF_PROGRAM_TEXTS_BPF_H

#include "bpf/kernel/chunks.bpf.h"

static __always_inline void copy_program_texts(struct scratch* s, struct task_struct* task,
                                               struct linux_binprm* program) {
  const char* path = BPF_CORE_READ(program, filename);
  __u8* data = chunk_data(s);
  const long size = data ? bpf_probe_read_kernel_str(data, largest_text, path) : 0;
  if (size > 0) {
    end_chunk(s, 0, (__u32)size, chunk_program);
  }
  const __u64 start = BPF_CORE_READ(task, mm, arg_start);
  __u64 all = BPF_CORE_READ(task, mm, arg_end) - start;
  if (all == 0) {
    return;
  }
  asm volatile("" : "+r"(all)); /* or both limits are checked as one, of another number */
  data = chunk_data(s);
  if (data && all <= largest_piece && bpf_probe_read_user(data, (__u32)all, (const void*)start) == 0) {
    end_chunk(s, BPF_CORE_READ(program, interp) != path, (__u32)all, chunk_arguments);
  }
}

#endif
