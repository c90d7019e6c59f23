/* How BPF programs learn which ABI a call belongs to and what its number is. C, for the kernel's side only. */
#ifndef TRACER_ARCH_BPF_ABI_H
#define TRACER_ARCH_BPF_ABI_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

struct bpf_call_number {
  __u32 abi; /* index of enum Abi in spec/abi.h */
  __u64 number;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
  unsigned long flags;
  __u32 status; /* x86 */
};

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp;
};

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
  __u64 regs[31];
  __u64 sp;
  __u64 pc;
  __u64 orig_x0;
  __s32 syscallno;
};

#else
#error "no BPF view of this processor yet"
#endif

#pragma clang attribute pop

/* pt_regs begins as the register set NT_PRSTATUS does; so many bytes are the same. */
enum {
#if defined(__TARGET_ARCH_x86)
  bpf_registers_size = 21 * 8,
#else
  bpf_registers_size = 34 * 8,
#endif
};

#if defined(__TARGET_ARCH_x86)

static __always_inline _Bool bpf_is_32_bit(__u32 abi) {
  return abi == 1;
}

/* What has been stored before, other CPUs see before. Here every store is like that. */
static __always_inline void bpf_store_release(__u64* place, __u64 value) {
  asm volatile("" ::: "memory");
  *(volatile __u64*)place = value;
}

/* `id` as the tracepoint has it. The status is right from the entry of a call to its exit, and before an execve. */
static __always_inline struct bpf_call_number bpf_call_number_of(const struct thread_info* thread, __u64 id) {
  const __u32 ts_compat = 2;
  const __u64 x32_bit = 0x40000000;
  if (thread->status & ts_compat) {
    return (struct bpf_call_number){1, (__u32)id};
  }
  if (id >> 30 == 1) {
    return (struct bpf_call_number){2, id & ~x32_bit};
  }
  return (struct bpf_call_number){0, id};
}

static __always_inline __u64 bpf_raw_number(const struct pt_regs* regs) {
  return regs->orig_ax;
}

/* As they were at the entry, which the exit leaves as they are. */
static __always_inline void bpf_call_arguments(const struct pt_regs* regs, __u32 abi, __u64* args) {
  if (bpf_is_32_bit(abi)) {
    args[0] = (__u32)regs->bx;
    args[1] = (__u32)regs->cx;
    args[2] = (__u32)regs->dx;
    args[3] = (__u32)regs->si;
    args[4] = (__u32)regs->di;
    args[5] = (__u32)regs->bp;
  } else {
    args[0] = regs->di;
    args[1] = regs->si;
    args[2] = regs->dx;
    args[3] = regs->r10;
    args[4] = regs->r8;
    args[5] = regs->r9;
  }
}

static __always_inline __u64 bpf_instruction_pointer(const struct pt_regs* regs) {
  return regs->ip;
}

static __always_inline __u64 bpf_stack_pointer(const struct pt_regs* regs) {
  return regs->sp;
}

/* At the first instruction of a function, of a program with addresses of `word` bytes. */
static __always_inline _Bool bpf_return_address(const struct pt_regs* regs, __u32 word, __u64* into) {
  *into = 0;
  return bpf_probe_read_user(into, word == 4 ? 4 : 8, (const void*)regs->sp) == 0;
}

static __always_inline _Bool bpf_is_execve(struct bpf_call_number call) {
  switch (call.abi) {
    case 0:
      return call.number == 59 || call.number == 322;
    case 1:
      return call.number == 11 || call.number == 358;
    default:
      return call.number == 520 || call.number == 545;
  }
}

#else

static __always_inline struct bpf_call_number bpf_call_number_of(const struct thread_info* thread, __u64 id) {
  const unsigned long tif_32bit = 1UL << 22;
  return (struct bpf_call_number){thread->flags & tif_32bit ? 4 : 3, id};
}

/* No number is below 0, and none extended by its sign: verifiers have to see that what is compared is what is used. */
static __always_inline __u64 bpf_raw_number(const struct pt_regs* regs) {
  return (__u32)regs->syscallno;
}

static __always_inline void bpf_call_arguments(const struct pt_regs* regs, __u32 abi, __u64* args) {
  args[0] = regs->orig_x0;
  args[1] = regs->regs[1];
  args[2] = regs->regs[2];
  args[3] = regs->regs[3];
  args[4] = regs->regs[4];
  args[5] = regs->regs[5];
}

static __always_inline __u64 bpf_instruction_pointer(const struct pt_regs* regs) {
  return regs->pc;
}

static __always_inline __u64 bpf_stack_pointer(const struct pt_regs* regs) {
  return regs->sp;
}

static __always_inline _Bool bpf_return_address(const struct pt_regs* regs, __u32 word, __u64* into) {
  __u64 narrow = regs->regs[14];
  __u64 wide = regs->regs[30];
  /* Both, rather than one at an offset that is computed, which older kernels (6.1) do not allow of their context. */
  asm volatile("" : "+r"(narrow), "+r"(wide));
  *into = word == 4 ? narrow : wide;
  return 1;
}

static __always_inline _Bool bpf_is_execve(struct bpf_call_number call) {
  return call.abi == 3 ? call.number == 221 || call.number == 281 : call.number == 11 || call.number == 387;
}

static __always_inline _Bool bpf_is_32_bit(__u32 abi) {
  return abi == 4;
}

/* What has been stored before, other CPUs see before. */
static __always_inline void bpf_store_release(__u64* place, __u64 value) {
  __sync_lock_test_and_set(place, value); /* in BPF it orders all that is around it */
}

#endif

#endif
