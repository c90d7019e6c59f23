// Does with stacks what Go's runtime does: a call returns in another thread than it has been made in, and one returns
// on another stack. A function for which there was too little room begins twice, as does one that had to wait while
// others ran. A register has the record of the goroutine, which begins with the bounds of its stack; functions get
// their first argument in rax.
#include <pthread.h>
#include <ucontext.h>

struct record {
  char* low;
  char* high;
};

static char stack[65536] __attribute__((aligned(16)));
char small[4096] __attribute__((aligned(16)));
char large[8192] __attribute__((aligned(16)));
static struct record of_stack = {stack, stack + sizeof stack};
struct record of_deep = {small, small + sizeof small};
register struct record* goroutine asm("r14");

static ucontext_t waiting, *scheduler;
static int result;

int yielding(int value) {
  swapcontext(&waiting, scheduler);
  return value + 1;
}

static void run(void) {
  goroutine = &of_stack;
  result = yielding(4);
  swapcontext(&waiting, scheduler);
}

static void* other_thread(void* none) {
  ucontext_t own;
  scheduler = &own;
  swapcontext(&own, &waiting);
  return none;
}

// deep(n) = n + deep(n - 1). A signal comes as early() begins, whose handler has it begin again after asyncPreempt.
int call_deep(int value);
asm(".text\n"
    ".type deep, @function\n"
    "deep:\n"
    "  cmp $3, %rax\n"
    "  jne 1f\n"
    "  cmpb $0, moved(%rip)\n"
    "  jne 1f\n"
    "  call runtime.morestack\n"
    "  jmp deep\n"
    "1:\n"
    "  test %rax, %rax\n"
    "  je 2f\n"
    "  push %rax\n"
    "  dec %rax\n"
    "  call deep\n"
    "  pop %rdx\n"
    "  add %rdx, %rax\n"
    "2:\n"
    "  ret\n"
    ".size deep, . - deep\n"
    ".type runtime.morestack, @function\n"
    "runtime.morestack:\n"
    "  movb $1, moved(%rip)\n"
    "  mov %rsp, %rsi\n"
    "  mov 8(%r14), %rcx\n"
    "  sub %rsp, %rcx\n"
    "  lea large(%rip), %rdx\n"
    "  mov %rdx, (%r14)\n"
    "  add $8192, %rdx\n"
    "  mov %rdx, 8(%r14)\n"
    "  sub %rcx, %rdx\n"
    "  mov %rdx, %rdi\n"
    "  rep movsb\n"
    "  mov %rdx, %rsp\n"
    "  ret\n"
    ".size runtime.morestack, . - runtime.morestack\n"
    ".type early, @function\n"
    "early:\n"
    "  cmpb $0, preempted(%rip)\n"
    "  jne 1f\n"
    "  movb $1, preempted(%rip)\n"
    "  lea early(%rip), %rdx\n"
    "  push %rdx\n"
    "  jmp runtime.asyncPreempt\n"
    "1:\n"
    "  ret\n"
    ".size early, . - early\n"
    ".type runtime.asyncPreempt, @function\n"
    "runtime.asyncPreempt:\n"
    "  ret\n"
    ".size runtime.asyncPreempt, . - runtime.asyncPreempt\n"
    ".globl call_deep\n"
    ".type call_deep, @function\n"
    "call_deep:\n"
    "  mov %rsp, callers(%rip)\n"
    "  mov %r14, callers+8(%rip)\n"
    "  lea of_deep(%rip), %r14\n"
    "  mov 8(%r14), %rsp\n"
    "  mov %edi, %eax\n"
    "  call deep\n"
    "  push %rax\n"
    "  call early\n"
    "  pop %rax\n"
    "  mov callers(%rip), %rsp\n"
    "  mov callers+8(%rip), %r14\n"
    "  ret\n"
    ".size call_deep, . - call_deep\n"
    ".local moved\n"
    ".comm moved, 1\n"
    ".local preempted\n"
    ".comm preempted, 1\n"
    ".local callers\n"
    ".comm callers, 16, 16\n"
    ".section .note.GNU-stack, \"\", @progbits\n"
    ".text\n");

int main(void) {
  ucontext_t own;
  getcontext(&waiting);
  waiting.uc_stack.ss_sp = stack;
  waiting.uc_stack.ss_size = sizeof stack;
  makecontext(&waiting, run, 0);
  scheduler = &own;
  swapcontext(&own, &waiting);
  pthread_t thread;
  pthread_create(&thread, 0, other_thread, 0);
  pthread_join(thread, 0);
  return result + call_deep(5);
}
