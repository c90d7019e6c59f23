/* The list of the descriptors and ids of a call that need names. The plan says where in registers and memory they are;
 * names.bpf.h records what they stand for. */
#ifndef TRACER_BPF_WANTED_NAMES_BPF_H
#define TRACER_BPF_WANTED_NAMES_BPF_H

#include "bpf/kernel/chunks.bpf.h"
#include "bpf/kernel/operations.bpf.h"
#include "bpf/names.h"

/* Puts a descriptor or an id on the list of what is to be named. */
static __always_inline void want_name(struct scratch* s, __u32 kind, __u32 number) {
  const __u32 at = s->named_count;
  const __u64 named = (__u64)kind << 32 | number;
  if (at != 0 && s->named[(at - 1) % most_names] == named) {
    return; /* memory that is none of what it is taken for is often all zeros */
  }
  if (((__s32)number >= 0 || number == descriptor_of_working_directory) && at < most_names) {
    s->named[at] = named;
    s->named_count = at + 1;
  }
}

struct set_job {
  __u64 base;
  __u64 bits; /* of the current word */
  __u32 count;
  __u32 padding;
};

/* 64 descriptors of a set: bytes follow each other as bits do, on machines of either word size. */
static long name_bit(__u32 fd, struct set_job* job) {
  struct scratch* s = own_scratch();
  if (!s || fd >= job->count) {
    return 1;
  }
  if (fd % 64 == 0) {
    const __u32 faults = s->faults;
    const __u32 bytes = (job->count - fd + 31) / 32 * 4;
    job->bits = read_number(s, job->base + fd / 8, bytes < 8 ? 4 : 8);
    if (s->faults != faults) {
      return 1;
    }
  }
  if (job->bits >> (fd % 64) & 1) {
    want_name(s, named_descriptor, fd);
  }
  return 0;
}

/* One step along control messages: a descriptor that is passed on, or the next message. */
static long name_passed(__u32 i, void* unused) {
  const __u64 rights = 0x100000001ULL; /* SOL_SOCKET and, above it, SCM_RIGHTS */
  const __u64 credentials = 0x200000001ULL;
  const __u64 pidfd = 0x400000001ULL;
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  struct passed_messages* job = &s->passed;
  const __u32 word = job->wide ? 8 : 4;
  const __u32 front = word + 8; /* struct cmsghdr */
  if (job->left != 0) {
    want_name(s, named_descriptor, (__u32)read_number(s, job->address, 4));
    --job->left;
    job->address += 4;
    if (job->left == 0) {
      const __u64 over = -job->address & (word - 1);
      job->address += over;
      job->size = job->size > over ? job->size - over : 0;
    }
    return 0;
  }
  if (job->size < front) {
    return 1;
  }
  const __u64 length = read_number(s, job->address, (__u8)word);
  const __u64 what = read_number(s, job->address + word, 8);
  if (length < front || length > job->size) {
    return 1;
  }
  if ((what == rights || what == pidfd) && length - front >= 4) {
    job->left = (__u32)((length - front) / 4);
    job->address += front;
    job->size -= length;
    return 0;
  }
  if (what == credentials && length - front >= 4) {
    want_name(s, named_process, (__u32)read_number(s, job->address + front, 4));
  }
  const __u64 aligned = (length + word - 1) & ~(__u64)(word - 1);
  job->address += aligned;
  job->size = job->size > aligned ? job->size - aligned : 0;
  return 0;
}

/* Finds what else than a plain number of the call is to be named, at `address`. */
static __always_inline void want_names(struct scratch* s, const struct capture_operation* op, __u64 address,
                                       __u64 count) {
  if (op->kind == capture_there_named) {
    const __u32 faults = s->faults;
    const __u32 number = (__u32)read_number(s, address, sizeof number);
    if (s->faults == faults) {
      want_name(s, op->to, number);
    }
  } else if (op->kind == capture_fd_set) {
    struct set_job set = {address, 0, count < 65536 ? (__u32)count : 65536, 0};
    bpf_loop(set.count, name_bit, &set, 0);
  } else {
    s->passed.address = address;
    s->passed.size = count;
    s->passed.wide = op->width == 8;
    s->passed.left = 0;
    bpf_loop(most_names, name_passed, 0, 0);
  }
}

#endif
