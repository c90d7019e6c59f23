/* Copies the memory of a call, as its capture plan says, into chunks of the current record. */
#ifndef TRACER_BPF_CAPTURE_BPF_H
#define TRACER_BPF_CAPTURE_BPF_H

#include "bpf/kernel/chunks.bpf.h"
#include "bpf/kernel/open_file.bpf.h"
#include "bpf/kernel/operations.bpf.h"
#include "bpf/kernel/wanted_names.bpf.h"
#include "bpf/names.h"

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

static __always_inline void copy_file_kind(struct scratch* s, __u32 fd) {
  const unsigned short type_bits = 0170000;
  const unsigned short is_socket = 0140000;
  struct file* file = file_of(bpf_get_current_task_btf(), fd);
  struct inode* inode = file ? BPF_CORE_READ(file, f_inode) : 0;
  if (!inode) {
    return;
  }
  const unsigned short mode = BPF_CORE_READ(inode, i_mode);
  const void* name = (mode & type_bits) == is_socket ? (const void*)BPF_CORE_READ(file, f_path.dentry, d_name.name)
                                                     : (const void*)BPF_CORE_READ(inode, i_sb, s_type, name);
  const __u32 device = BPF_CORE_READ(inode, i_rdev);
  struct file_kind_facts* facts = (struct file_kind_facts*)chunk_data(s);
  if (!facts) {
    return;
  }
  __builtin_memset(facts, 0, sizeof *facts);
  facts->mode = mode;
  facts->device = device;
  bpf_probe_read_kernel_str(facts->name, sizeof facts->name, name);
  end_chunk(s, fd, sizeof *facts, chunk_file_kind);
}

static __always_inline __u64 cut(__u64 count, __u8 width) {
  return width == 1 ? (__u8)count : width == 2 ? (__u16)count : width == 4 ? (__u32)count : count;
}

struct texts_job {
  __u64 base;
  __u32 most;
  __u32 width; /* of a pointer */
};

static long copy_one_text(__u32 i, struct texts_job* job) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  const __u64 text = read_number(s, job->base + (__u64)i * job->width, (__u8)job->width);
  if (text == 0) {
    return 1;
  }
  copy_text(s, text, job->most);
  return 0;
}

/* Goes on with a loop's next element. */
static __always_inline void next_element(struct scratch* s, struct element_loop* loop) {
  __u64 element = loop->next;
  loop->next += loop->element;
  s->at = loop->first;
  s->slot[loop->to % slots] = loop->width == 0 ? element : read_number(s, element, loop->width);
}

static __always_inline void begin_loop(struct scratch* s, const struct capture_operation* op, __u64 base, __u64 count) {
  const __u32 depth = s->depth;
  const __u32 first = s->at;
  s->at += op->body;
  if (op->length != slot_none) {
    count = op->element == 0 ? 0 : (count * op->scale + op->more) / op->element;
  }
  if (base == 0 || count == 0 || depth >= most_loops) {
    return;
  }
  struct element_loop* loop = &s->loops[depth];
  loop->next = base + op->offset;
  loop->first = first;
  loop->end = s->at;
  loop->left = op->length == slot_none || count > op->most ? op->most : (__u32)count;
  loop->element = op->element;
  loop->to = op->to;
  loop->width = op->width;
  s->depth = depth + 1;
  next_element(s, loop);
}

static __always_inline void run_operation(struct scratch* s, const struct capture_operation* op, __u64 base,
                                          __u64 count) {
  if (op->kind == capture_load) {
    s->slot[op->to % slots] = base == 0 ? 0 : read_number(s, base + op->offset, op->width);
    return;
  }
  if (op->kind == capture_netlink) {
    copy_netlink(s, (__u32)base);
    return;
  }
  if (op->kind == capture_file_kind) {
    copy_file_kind(s, (__u32)base);
    return;
  }
  const bool names = settings.descriptors || settings.processes;
  if (names && op->kind == capture_named) {
    if (op->to == named_behind_pidfd) {
      s->pidfd = (__u32)count;
    }
    want_name(s, op->to, (__u32)base);
    return;
  }
  if (base == 0) {
    return;
  }
  const __u64 address = base + op->offset;
  if (names && op->kind >= capture_there_named) {
    want_names(s, op, address, count);
    return;
  }
  if (op->kind == capture_text) {
    copy_text(s, address, op->most);
  } else if (op->kind == capture_texts) {
    struct texts_job texts = {address, op->most, op->width};
    bpf_loop(most_elements, copy_one_text, &texts, 0);
  } else if (op->kind == capture_block) {
    __u64 size = op->most;
    const __u64 wanted = count * op->scale + op->more;
    if (op->length != slot_none && count <= op->most && wanted < size) {
      size = wanted;
    }
    if (size > largest_piece) {
      struct pieces_job pieces = {address, size};
      bpf_loop((__u32)((size + largest_piece - 1) / largest_piece) & 63, copy_piece, &pieces, 0);
    } else {
      copy_block(s, address, size);
    }
  }
}

static long take_step(__u32 i, void* unused) {
  struct scratch* s = own_scratch();
  if (!s) {
    return 1;
  }
  const __u32 depth = s->depth;
  if (depth != 0 && depth <= most_loops) {
    struct element_loop* loop = &s->loops[depth - 1];
    if (s->at >= loop->end) {
      if (--loop->left == 0 || s->used > largest_record) {
        s->depth = depth - 1;
      } else {
        next_element(s, loop);
      }
      return 0;
    }
  }
  if (s->at >= s->end) {
    return 1;
  }
  const __u32 at = s->at++;
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &at);
  if (!op) {
    return 1;
  }
  const __u64 base = s->slot[op->base % slots];
  const __u64 count = op->length == slot_none ? 1 : cut(s->slot[op->length % slots], op->count_width);
  if (op->kind == capture_each) {
    begin_loop(s, op, base, count);
  } else {
    run_operation(s, op, base, count);
  }
  return 0;
}

static __always_inline void run_plan(struct scratch* s, __u32 first, __u32 count) {
  s->at = first;
  s->end = first + count;
  s->depth = 0;
  if (count != 0) {
    bpf_loop(most_steps, take_step, 0, 0);
  }
}

#endif
