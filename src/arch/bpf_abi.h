/* How BPF programs find the ABI, the number and the arguments of a system call. C, for BPF programs only. */
#ifndef TRACER_ARCH_BPF_ABI_H
#define TRACER_ARCH_BPF_ABI_H

#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct bpf_call_number {
  __u32 abi; /* index of enum Abi in base/abi.h */
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

struct thread_struct {
  unsigned long fsbase;
};

#elif defined(__TARGET_ARCH_arm64)

struct user_thread_state {
  unsigned long tp_value;
};

struct thread_struct {
  struct user_thread_state uw;
};

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

/* The bytes at the start of pt_regs that are laid out like the register set NT_PRSTATUS. */
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

/* A store with release semantics. On x86 every store has them. */
static __always_inline void bpf_store_release(__u64* target, __u64 value) {
  asm volatile("" ::: "memory");
  *(volatile __u64*)target = value;
}

/* `id` is the argument of the tracepoint. TS_COMPAT is valid from the entry of a call to its exit, unless it is an
 * execve that has succeeded. */
static __always_inline struct bpf_call_number bpf_call_number_of(const struct thread_info* thread, __u64 id) {
  const __u32 ts_compat = 2;
  const __u64 x32_bit = 0x40000000;
  if (thread->status & ts_compat) {
    return (struct bpf_call_number){1, (__u32)id};
  }
  if ((id & x32_bit) && id != ~0ULL) {
    return (struct bpf_call_number){2, id & ~x32_bit};
  }
  return (struct bpf_call_number){0, id};
}

static __always_inline __u64 bpf_raw_number(const struct pt_regs* regs) {
  return regs->orig_ax;
}

/* The arguments at the entry. The exit does not change these registers. */
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

/* The result of a function that has just returned, and the stack pointer that it was entered with. Of 64-bit programs.
 */
static __always_inline __u64 bpf_function_result(const struct pt_regs* regs) {
  return regs->ax;
}

static __always_inline __u64 bpf_entry_stack_pointer(const struct pt_regs* regs) {
  return regs->sp - 8;
}

/* Whether the address on top of the stack is one that a call has put there, or the kernel in the place of one. What is
 * there may be anything, where code is jumped to. */
static __always_inline _Bool bpf_has_return_address(const struct pt_regs* regs) {
  __u64 address = 0;
  __u8 before[8] = {};
  if (bpf_probe_read_user(&address, sizeof address, (const void*)regs->sp) != 0 || address < sizeof before) {
    return 0;
  }
  if (bpf_probe_read_user(before, sizeof before - 1, (const void*)(address - (sizeof before - 1))) != 0) {
    before[2] = 0;
  }
  /* call rel32; or ff /2 with what follows it, in two to seven bytes. */
  if (before[2] == 0xe8) {
    return 1;
  }
  for (int i = 0; i < 6; ++i) {
    if (before[i] == 0xff && (before[i + 1] & 0x38) == 0x10) {
      return 1;
    }
  }
  /* The kernel's: int3, or push %rax; push %rcx; push %r11. */
  __u32 there = 0;
  const __u32 saves_registers = 0x53415150;
  return bpf_probe_read_user(&there, sizeof there, (const void*)address) == 0 &&
         ((__u8)there == 0xcc || there == saves_registers);
}

/* Of the current thread, which is a 64-bit one. */
static __always_inline __u64 bpf_thread_pointer(const struct thread_struct* thread) {
  return BPF_CORE_READ(thread, fsbase);
}

/* Reads the return address at the first instruction of a function. `word` is the program's address size in bytes. */
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

/* Zero-extends the number: the verifier has to see that the value that is checked is the value that is used. */
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

static __always_inline __u64 bpf_function_result(const struct pt_regs* regs) {
  return regs->regs[0];
}

static __always_inline __u64 bpf_entry_stack_pointer(const struct pt_regs* regs) {
  return regs->sp;
}

/* It is in a register, wherever code was jumped from. */
static __always_inline _Bool bpf_has_return_address(const struct pt_regs* regs) {
  return regs->regs[30] != 0;
}

static __always_inline __u64 bpf_thread_pointer(const struct thread_struct* thread) {
  return BPF_CORE_READ(thread, uw.tp_value);
}

static __always_inline _Bool bpf_return_address(const struct pt_regs* regs, __u32 word, __u64* into) {
  __u64 narrow = regs->regs[14];
  __u64 wide = regs->regs[30];
  /* Loads both, because the verifier of older kernels (6.1) rejects a variable offset into the context. */
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

/* A store with release semantics. */
static __always_inline void bpf_store_release(__u64* target, __u64 value) {
  __sync_lock_test_and_set(target, value); /* BPF_XCHG is a full memory barrier */
}

#endif

#endif
