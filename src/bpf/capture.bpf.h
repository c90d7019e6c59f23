/* What a call's memory holds, copied as its plan says: chunks behind the front of a record that is being made. */
#ifndef TRACER_BPF_CAPTURE_BPF_H
#define TRACER_BPF_CAPTURE_BPF_H

#include "bpf/chunks.bpf.h"
#include "bpf/open_file.bpf.h"
#include "bpf/plans.bpf.h"
#include "bpf/wanted_names.bpf.h"

static __always_inline void copy_netlink(struct scratch* s, __u32 fd) {
  const unsigned short type_bits = 0170000;
  const unsigned short is_socket = 0140000;
  const unsigned short is_netlink = 16; /* AF_NETLINK */
  struct file* file = file_of(bpf_get_current_task_btf(), fd);
  if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & type_bits) != is_socket) {
    return;
  }
  struct socket* socket = BPF_CORE_READ(file, private_data);
  struct sock* sock = BPF_CORE_READ(socket, sk);
  if (BPF_CORE_READ(sock, __sk_common.skc_family) != is_netlink) {
    return;
  }
  const __u64 protocol = BPF_CORE_READ(sock, sk_protocol);
  __u64* data = (__u64*)chunk_data(s); /* last: the verifier forgets its bounds over a call */
  if (data) {
    *data = protocol;
    end_chunk(s, fd, sizeof *data, chunk_netlink);
  }
}

static __always_inline __u64 cut(__u64 count, __u8 width) {
  return width == 1 ? (__u8)count : width == 2 ? (__u16)count : width == 4 ? (__u32)count : count;
}

/* What an element's pointer leads to; returns its address and sets how many there are of what it leads to. */
static __always_inline __u64 copy_pointed(struct scratch* s, const struct capture_operation* op, __u64 element,
                                          __u64* count) {
  const __u64 address = read_number(s, element + op->pointer_offset, op->width);
  *count = read_number(s, element + op->length_offset, op->length_width);
  if (address != 0) {
    const __u64 size = *count > op->most ? op->most : *count * op->scale;
    copy_block(s, address, size < op->most ? size : op->most);
  }
  return address;
}

static long copy_within(__u32 i, struct list_job* job) {
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &job->operation);
  struct scratch* s = scratch_of_cpu();
  __u64 count;
  if (!op || !s || op->kind != capture_within) {
    return 1;
  }
  copy_pointed(s, op, job->base + (__u64)i * op->element, &count);
  return 0;
}

static long copy_element(__u32 i, struct list_job* job) {
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &job->operation);
  struct scratch* s = scratch_of_cpu();
  if (!op || !s) {
    return 1;
  }
  if (op->kind == capture_texts) {
    const __u64 text = read_number(s, job->base + (__u64)i * op->width, op->width);
    if (text == 0) {
      return 1;
    }
    copy_text(s, text, op->most);
    return 0;
  }
  __u64 count = 0;
  struct list_job within = {copy_pointed(s, op, job->base + (__u64)i * op->element, &count), job->operation + 1};
  if (op->kind == capture_vectors && within.base != 0) {
    bpf_loop(count < most_elements ? (__u32)count : most_elements, copy_within, &within, 0);
  }
  return 0;
}

struct plan_job {
  __u32 first;
};

static long run_operation(__u32 i, struct plan_job* job) {
  struct list_job list = {0, job->first + i};
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &list.operation);
  struct scratch* s = scratch_of_cpu();
  if (!op || !s) {
    return 1;
  }
  const __u64 base = s->slot[op->base % slots];
  __u64 count = op->length == slot_none ? 1 : cut(s->slot[op->length % slots], op->count_width);
  if (op->kind == capture_load) {
    s->slot[op->to % slots] = base == 0 ? 0 : read_number(s, base + op->offset, op->width);
    return 0;
  }
  if (op->kind == capture_netlink) {
    copy_netlink(s, (__u32)base);
    return 0;
  }
  const bool names = settings.descriptors || settings.processes;
  if (names && op->kind == capture_named) {
    want_name(s, op->to, (__u32)base);
    return 0;
  }
  if (base == 0) {
    return 0;
  }
  list.base = base + op->offset;
  if (names && op->kind >= capture_all_named) {
    want_names(s, op, &list, count);
    return 0;
  }
  switch (op->kind) {
    case capture_block: {
      __u64 size = op->most;
      if (op->length != slot_none && (count > op->most || count * op->scale < size)) {
        size = count > op->most ? op->most : count * op->scale;
      }
      if (size > largest_piece) {
        struct pieces_job pieces = {list.base, size};
        bpf_loop((__u32)((size + largest_piece - 1) / largest_piece) & 63, copy_piece, &pieces, 0);
      } else {
        copy_block(s, list.base, size);
      }
      return 0;
    }
    case capture_text:
      copy_text(s, list.base, op->most);
      return 0;
    case capture_vector:
    case capture_vectors:
      bpf_loop(count < most_elements ? (__u32)count : most_elements, copy_element, &list, 0);
      return 0;
    case capture_texts:
      bpf_loop(most_elements, copy_element, &list, 0);
      return 0;
    default:
      return 0;
  }
}

static __always_inline void run_plan(__u32 first, __u32 count) {
  struct plan_job job = {first};
  if (count != 0) {
    bpf_loop(count, run_operation, &job, 0);
  }
}

#endif
