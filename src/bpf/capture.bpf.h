/* What a call's memory holds, copied as its plan says: chunks behind the front of a record that is being made. */
#ifndef TRACER_BPF_CAPTURE_BPF_H
#define TRACER_BPF_CAPTURE_BPF_H

#include "bpf/kernel_types.h"
#include "bpf/names.h"
#include "bpf/records.bpf.h"
#include "bpf/tracing.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, watched_abis* numbers_per_abi);
  __type(key, __u32);
  __type(value, struct capture_plan);
} plans SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct form_plan);
} forms SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, most_operations);
  __type(key, __u32);
  __type(value, struct capture_operation);
} operations SEC(".maps");

/* Where the next chunk's bytes go; there is room for the largest. Nothing: the record is full. */
static __always_inline __u8* chunk_data(struct scratch* s) {
  __u8* front = record_place(s);
  __u32 at = s->used;
  if (!front || at > largest_record) {
    return 0;
  }
  return front + at + sizeof(struct trace_chunk);
}

static __always_inline void end_chunk(struct scratch* s, __u64 address, __u32 size, enum chunk_kind kind) {
  __u8* front = record_place(s);
  __u32 at = s->used;
  if (!front || at > largest_record) {
    return;
  }
  struct trace_chunk* chunk = (void*)(front + at);
  chunk->address = address;
  chunk->size = size;
  chunk->kind = kind;
  s->used = at + sizeof *chunk + ((size + 7) & ~7U);
}

static __always_inline void copy_block(struct scratch* s, __u64 address, __u64 size) {
  const __u32 page = 4096;
  __u8* data = chunk_data(s);
  if (!data || size == 0) {
    return;
  }
  if (size > largest_piece) {
    size = largest_piece;
  }
  if (bpf_probe_read_user(data, (__u32)size, (const void*)address) != 0) {
    s->faults++;
    const __u64 on_page = page - address % page; /* what is on this page may be there */
    if (on_page >= size || on_page > largest_piece ||
        bpf_probe_read_user(data, (__u32)on_page, (const void*)address) != 0) {
      return;
    }
    size = on_page;
  }
  end_chunk(s, address, (__u32)size, chunk_memory);
}

static __always_inline void copy_text(struct scratch* s, __u64 address, __u32 most) {
  __u8* data = chunk_data(s);
  if (!data) {
    return;
  }
  if (most > largest_text) {
    most = largest_text;
  }
  *data = 0;
  const long read = bpf_probe_read_user_str(data, most, (const void*)address);
  if (read < 0) {
    s->faults++;
    return;
  }
  const long got = read == 0 ? 1 : read; /* kernels before 6.13 say 0 of an empty text */
  /* A text that was cut has got a NUL that is not its own. */
  end_chunk(s, address, got == most ? most - 1 : (__u32)got, chunk_memory);
}

/* Behind a descriptor of the current process; nothing if there is none. */
static __always_inline struct file* file_of(struct task_struct* task, __u32 fd) {
  struct fdtable* table = BPF_CORE_READ(task, files, fdt);
  struct file* file = 0;
  if (fd < BPF_CORE_READ(table, max_fds)) {
    bpf_probe_read_kernel(&file, sizeof file, BPF_CORE_READ(table, fd) + fd);
  }
  return file;
}

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

/* Puts a descriptor or an id on the list of what is to be named. */
static __always_inline void want_name(struct scratch* s, __u32 kind, __u32 number) {
  const __u32 working_directory = (__u32)-100; /* AT_FDCWD */
  const __u32 at = s->named_count;
  if (((__s32)number >= 0 || number == working_directory) && at < most_names) {
    s->named[at] = (__u64)kind << 32 | number;
    s->named_count = at + 1;
  }
}

struct pieces_job {
  __u64 address;
  __u64 size;
};

static long copy_piece(__u32 i, struct pieces_job* job) {
  struct scratch* s = scratch_of_cpu();
  const __u64 done = (__u64)i * largest_piece;
  if (!s || done >= job->size) {
    return 1;
  }
  copy_block(s, job->address + done, job->size - done);
  return 0;
}

/* What it takes to unwind the thread's stack afterwards. A stack may be shorter; that is no fault. */
static __always_inline void copy_stack(struct scratch* s, const struct pt_regs* regs) {
  const __u32 faults = s->faults;
  __u8* data = chunk_data(s);
  if (!data || bpf_probe_read_kernel(data, bpf_registers_size, regs) != 0) {
    return;
  }
  end_chunk(s, registers_address, bpf_registers_size, chunk_memory);
  struct pieces_job pieces = {bpf_stack_pointer(regs), settings.stack_bytes};
  bpf_loop((settings.stack_bytes + largest_piece - 1) / largest_piece, copy_piece, &pieces, 0);
  s->faults = faults;
}

static __always_inline __u64 read_number(struct scratch* s, __u64 address, __u8 width) {
  __u64 number = 0;
  long failed;
  switch (width) {
    case 1:
      failed = bpf_probe_read_user(&number, 1, (const void*)address);
      break;
    case 2:
      failed = bpf_probe_read_user(&number, 2, (const void*)address);
      break;
    case 4:
      failed = bpf_probe_read_user(&number, 4, (const void*)address);
      break;
    default:
      failed = bpf_probe_read_user(&number, 8, (const void*)address);
  }
  if (failed) {
    s->faults++;
    return 0;
  }
  return number;
}

static __always_inline __u64 cut(__u64 count, __u8 width) {
  return width == 1 ? (__u8)count : width == 2 ? (__u16)count : width == 4 ? (__u32)count : count;
}

struct list_job {
  __u64 base;
  __u32 operation;
};

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

static long name_element(__u32 i, struct list_job* job) {
  const struct capture_operation* op = bpf_map_lookup_elem(&operations, &job->operation);
  struct scratch* s = scratch_of_cpu();
  if (!op || !s) {
    return 1;
  }
  const __u32 faults = s->faults;
  const __u32 number = (__u32)read_number(s, job->base + (__u64)i * op->element + op->pointer_offset, sizeof number);
  if (s->faults != faults) {
    return 1;
  }
  want_name(s, op->to, number);
  return 0;
}

struct set_job {
  __u64 base;
  __u64 bits; /* of the current word */
  __u32 count;
  __u32 padding;
};

/* 64 descriptors of a set: bytes follow each other as bits do, on machines of either word size. */
static long name_bit(__u32 fd, struct set_job* job) {
  struct scratch* s = scratch_of_cpu();
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

struct passed_job {
  __u64 address;
  __u64 size;
  __u32 wide; /* words of eight bytes */
  __u32 left; /* descriptors of the current message */
};

/* One step along control messages: a descriptor that is passed on, or the next message. */
static long name_passed(__u32 i, struct passed_job* job) {
  const __u64 rights = 0x100000001ULL; /* SOL_SOCKET and, above it, SCM_RIGHTS */
  const __u64 credentials = 0x200000001ULL;
  const __u64 pidfd = 0x400000001ULL;
  const __u32 word = job->wide ? 8 : 4;
  const __u32 front = word + 8; /* struct cmsghdr */
  struct scratch* s = scratch_of_cpu();
  if (!s) {
    return 1;
  }
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

/* Finds what else than a plain number of the call is to be named. */
static __always_inline void want_names(struct scratch* s, const struct capture_operation* op,
                                       const struct list_job* list, __u64 count) {
  if (op->kind == capture_all_named) {
    struct list_job elements = *list;
    if (op->length != slot_none) {
      count = op->element == 0 ? 0 : count * op->scale / op->element;
    }
    bpf_loop(count < most_names ? (__u32)count : most_names, name_element, &elements, 0);
  } else if (op->kind == capture_fd_set) {
    struct set_job set = {list->base, 0, count < 65536 ? (__u32)count : 65536, 0};
    bpf_loop(set.count, name_bit, &set, 0);
  } else {
    struct passed_job passed = {list->base, count, op->width == 8, 0};
    bpf_loop(most_names, name_passed, &passed, 0);
  }
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

/* Finds the plan of a call whose arguments are in the first slots. Verified once, as it is nobody's own. */
__noinline int choose_plan(__u32 slot) {
  const struct capture_plan nothing = {.arguments = most_arguments};
  struct scratch* s = scratch_of_cpu();
  const struct capture_plan* plan = bpf_map_lookup_elem(&plans, &slot);
  if (!s) {
    return 0;
  }
  if (!plan) {
    s->plan = nothing;
    return 0;
  }
  s->plan = *plan;
  if (plan->chooser >= most_arguments) {
    return 0;
  }
  const __u32 value = (__u32)s->slot[plan->chooser % slots] & plan->chooser_bits;
  const __u32 place = place_of_form(slot, value);
  for (__u32 i = 0; i < most_form_steps; ++i) {
    const __u32 at = (place + i) & settings.form_mask;
    const struct form_plan* form = bpf_map_lookup_elem(&forms, &at);
    if (!form || form->slot == 0) {
      break;
    }
    if (form->slot == slot + 1 && form->value == value) {
      s->plan = form->plan;
      break;
    }
  }
  return 0;
}

static __always_inline void run_plan(__u32 first, __u32 count) {
  struct plan_job job = {first};
  if (count != 0) {
    bpf_loop(count, run_operation, &job, 0);
  }
}

#endif
