// Programs that make it hard to watch their calls: by the first argument. Each ends with a status of its own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { rounds = 200 };

static volatile int sum;

__attribute__((noinline)) int own(int n) {
  return abs(n) + 1;
}

// Writes over its own code, breakpoints and all, with what it has read there.
static int rewritten(void) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  unsigned char* const begin = (unsigned char*)((uintptr_t)&own & ~(page - 1));
  unsigned char* const copy = malloc(page);
  mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC);
  for (int i = 0; i < 20; ++i) {
    memcpy(copy, begin, page);
    sum += own(i);
    memcpy(begin, copy, page);
    __builtin___clear_cache((char*)begin, (char*)begin + page);
    sum += own(i);
  }
  return sum == 420 ? 10 : 1;
}

// Nothing but instructions that do the same anywhere.
#ifdef __x86_64__
__asm__(
    ".globl twice\n.type twice, @function\ntwice: push %rbp\n mov %rsp, %rbp\n lea (%rdi,%rdi), %eax\n pop %rbp\n ret\n"
    ".size twice, . - twice\n");
#else
__asm__(
    ".globl twice\n.type twice, %function\ntwice: mov w1, w0\n add w0, w0, w1\n mov w1, wzr\n ret\n"
    ".size twice, . - twice\n");
#endif
int twice(int n);

static void* call_copy(void* copy) {
  return (void*)(intptr_t)((int (*)(int))copy)(21);
}

// Runs copies of its code, in two threads at once.
static int copied(void) {
  for (int i = 0; i < 20; ++i) {
    char* const page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Some that are whole, and one cut off where its page and the function end.
    char* const copy = i % 2 ? page : page + 4096 - 16;
    memcpy(copy, (void*)(uintptr_t)&twice, 16);
    __builtin___clear_cache(copy, copy + 16);
    pthread_t thread;
    void* result = 0;
    pthread_create(&thread, 0, call_copy, copy);
    sum += (int)(intptr_t)call_copy(copy) == 42;
    pthread_join(thread, &result);
    sum += (int)(intptr_t)result == twice(21);
  }
  return sum == 40 ? 23 : 1;
}

// Code of a page that is unmapped, and mapped again with other code.
static int remapped(void) {
#ifdef __aarch64__
  static const unsigned returns_7[] = {0x528000e0, 0xd65f03c0};
  static const unsigned returns_8[] = {0x52800100, 0xd65f03c0};
#else
  static const unsigned char returns_7[] = {0xb8, 7, 0, 0, 0, 0xc3};
  static const unsigned char returns_8[] = {0xb8, 8, 0, 0, 0, 0xc3};
#endif
  for (int i = 0; i < 20; ++i) {
    char* page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, i % 2 ? returns_7 : returns_8, sizeof returns_7);
    __builtin___clear_cache(page, page + sizeof returns_7);
    sum += ((int (*)(void))(void*)page)() + abs(-1);
    munmap(page, 4096);
  }
  return sum == 170 ? 11 : 1;
}

static int loaded(const char* library) {
  for (int i = 0; i < rounds; ++i) {
    void* handle = dlopen(library, RTLD_NOW);
    int (*call)(int) = (int (*)(int))dlsym(handle, "plugin");
    sum += call(i) != 0;
    dlclose(handle);
  }
  return sum > 0 ? 12 : 1;
}

static int forked(int by_vfork) {
  for (int i = 0; i < rounds; ++i) {
    const pid_t child = by_vfork ? vfork() : fork();
    if (child == 0) {
      _exit(abs(-3) + abs(-4));
    }
    int status = 0;
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status) == 7;
  }
  return sum == rounds ? 13 : 1;
}

static void* execute(void* program) {
  abs(-1);
  execl(program, program, "executed", (char*)0);
  return 0;
}

static int executed(char* program) {
  pthread_t thread;
  pthread_create(&thread, 0, execute, program);
  for (;;) {
    sum += abs(-1);
  }
}

static jmp_buf place;
static sigjmp_buf signal_place;

__attribute__((noinline)) static int leave(const void* a, const void* b) {
  longjmp(place, abs(*(const int*)a) + abs(*(const int*)b));
}

static int jumping(void) {
  int numbers[2] = {1, 2};
  for (volatile int i = 0; i < rounds; ++i) {
    if (setjmp(place) == 0) {
      qsort(numbers, 2, sizeof *numbers, leave);
    } else {
      sum += abs(-1);
    }
  }
  return sum == rounds ? 14 : 1;
}

enum { enough = 50 };

static volatile sig_atomic_t signals;

static void on_alarm(int number) {
  signals += abs(-1);
  if (signals % 3 == 0 && signals < enough) {  // beyond, the place may be gone
    siglongjmp(signal_place, number);
  }
}

static int signalled(void) {
  const struct itimerval often = {{0, 500}, {0, 500}};
  signal(SIGALRM, on_alarm);
  sigsetjmp(signal_place, 1);
  setitimer(ITIMER_REAL, &often, 0);
  while (signals < enough) {
    if (abs(-5) != 5) {
      return 1;
    }
  }
  return 15;
}

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)context;
  signals += info->si_code == SI_TKILL ? 1 : 100;
}

// Traps of its own: from an instruction, and as a signal that it sends.
static int trapping(void) {
  struct sigaction action = {0};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, 0);
  for (int i = 0; i < 20; ++i) {
    sum += own(0);
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("int3");
#else
    signals += 100;
#endif
    raise(SIGTRAP);
    sum += own(0);
  }
  return sum == 40 && signals == 2020 ? 18 : 1;
}

// All code without a file is gone, whoever has put it there.
static int cleared(void) {
  sum += own(1);
  FILE* const maps = fopen("/proc/self/maps", "r");
  uintptr_t ranges[16][2];
  int count = 0;
  char line[512];
  while (count < 16 && fgets(line, sizeof line, maps)) {
    char access[5];
    if (sscanf(line, "%lx-%lx %4s", &ranges[count][0], &ranges[count][1], access) == 3 && strchr(access, 'x') &&
        !strchr(line, '/') && !strchr(line, '[')) {
      ++count;
    }
  }
  fclose(maps);
  while (count-- > 0) {
    munmap((void*)ranges[count][0], ranges[count][1] - ranges[count][0]);
  }
  for (int i = 0; i < 20; ++i) {
    sum += own(0);
  }
  return sum == 22 ? 19 : 1;
}

// No call but read, write, exit and sigreturn.
static int confined(void) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  for (int i = 0; i < 20; ++i) {
    sum += own(0);
  }
  syscall(SYS_exit, sum == 20 ? 20 : 1);
  return 1;
}

static int add_one(void* nothing) {
  (void)nothing;
  sum += own(0);
  syscall(SYS_exit, 0);
  return 0;
}

// Processes that run in the memory of another one.
static int sharing(void) {
  char* const stack = malloc(65536);
  for (int i = 0; i < 20; ++i) {
    const pid_t child = clone(add_one, stack + 65536, CLONE_VM | SIGCHLD, 0);
    int status = 0;
    waitpid(child, &status, 0);
    sum += status == 0 ? own(0) : 100;
  }
  return sum == 40 ? 21 : 1;
}

static ucontext_t contexts[3];
static char stacks[2][65536];

static void coroutine(int which) {
  for (int i = 0; i < rounds; ++i) {
    sum += abs(-1);
    swapcontext(&contexts[which], &contexts[1 - which]);
  }
}

static int coroutines(void) {
  for (int i = 0; i < 2; ++i) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = sizeof stacks[i];
    contexts[i].uc_link = &contexts[2];
    makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
  }
  swapcontext(&contexts[2], &contexts[0]);
  return sum >= 2 * rounds - 1 ? 16 : 1;
}

// Its first instruction may fault.
int touch(const int* number);
#ifdef __x86_64__
__asm__(".globl touch\n.type touch, @function\ntouch: mov (%rdi), %eax\n ret\n.size touch, . - touch\n");
#else
__asm__(".globl touch\n.type touch, %function\ntouch: ldr w0, [x0]\n ret\n.size touch, . - touch\n");
#endif

static void* hidden;

static void on_fault(int number) {
  signals += number == SIGSEGV;
  mprotect(hidden, 4096, PROT_READ);
}

// With a filter of its own, whatever that allows.
static int faulting(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog filter = {1, &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    return 2;
  }
  signal(SIGSEGV, on_fault);
  hidden = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sum = touch(hidden) + touch(hidden);
  return sum == 0 && signals == 1 ? 18 : 1;
}

static volatile int stopped_enough;

static void* call_own(void* nothing) {
  while (!stopped_enough) {
    own(0);
  }
  return nothing;
}

// Threads that have to step over breakpoints in place, as there is a filter, while their process is stopped all the
// time.
static int stopping(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog filter = {1, &allow};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    return 2;
  }
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    pthread_create(&threads[i], 0, call_own, 0);
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  for (int i = 0; child == 0 && i < 40; ++i) {
    kill(parent, SIGSTOP);
    kill(parent, SIGCONT);
    usleep(200);
  }
  if (child == 0) {
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  stopped_enough = 1;
  for (int i = 0; i < 3; ++i) {
    pthread_join(threads[i], 0);
  }
  return status == 0 ? 22 : 1;
}

// Begins with an instruction that waits.
long read_first(long fd, void* into, long size);
#ifdef __x86_64__
__asm__(
    ".globl read_first\n.type read_first, @function\nread_first: syscall\n ret\n.size read_first, . - read_first\n");
#else
__asm__(".globl read_first\n.type read_first, %function\nread_first: svc #0\n ret\n.size read_first, . - read_first\n");
#endif

static void* wait_first(void* fd) {
  char byte = 0;
  long result = 0;
#ifdef __x86_64__
  // Beyond the 128 bytes below the stack pointer, which may be in use.
  __asm__ volatile("sub $128, %%rsp\n call read_first\n add $128, %%rsp"
                   : "=a"(result)
                   : "a"(SYS_read), "D"(fd), "S"(&byte), "d"(1L)
                   : "rcx", "r11", "memory");
#else
  result = read((int)(intptr_t)fd, &byte, 1);
#endif
  return (void*)(intptr_t)(result == 1 && byte == 'x');
}

// A thread that has to step over a breakpoint in place, as there is a filter, and waits there for another one.
static int waiting(int for_ever) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog filter = {1, &allow};
  int ends[2];
  pthread_t thread;
  void* well = 0;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0 || pipe(ends) != 0) {
    return 2;
  }
  pthread_create(&thread, 0, wait_first, (void*)(intptr_t)ends[0]);
  usleep(20000);
  while (for_ever) {
    puts("waiting");
    fflush(stdout);
    pause();
  }
  sum = own(1);
  if (write(ends[1], "x", 1) != 1) {
    return 3;
  }
  pthread_join(thread, &well);
  return well != 0 && sum == 2 ? 24 : 1;
}

// The first thread ends long before the other one.
static void* call_on(void* unused) {
  for (;;) {
    sum = own(1);
    usleep(1000);
  }
  return unused;
}

static int leaving(void) {
  pthread_t thread;
  pthread_create(&thread, 0, call_on, 0);
  usleep(300000);
  pthread_exit(0);
}

// Stays where a thread is that has just run into the breakpoint of spin(), with a trap pending that it does not take.
#ifdef __x86_64__
__asm__(".globl spin\n.type spin, @function\nspin: nop\n1: jmp 1b\n.size spin, . - spin\n");
#else
__asm__(".globl spin\n.type spin, %function\nspin: nop\n1: b 1b\n.size spin, . - spin\n");
#endif
void spin(void);

static int spinning(void) {
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  sigprocmask(SIG_BLOCK, &trap, 0);
  raise(SIGTRAP);
#ifdef __x86_64__
  ((void (*)(void))((uintptr_t)&spin + 1))();
#else
  spin();
#endif
  return 1;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  alarm(60);
  return strcmp(what, "rewritten") == 0    ? rewritten()
         : strcmp(what, "remapped") == 0   ? remapped()
         : strcmp(what, "loaded") == 0     ? loaded(argv[2])
         : strcmp(what, "forked") == 0     ? forked(0)
         : strcmp(what, "vforked") == 0    ? forked(1)
         : strcmp(what, "executed") == 0   ? abs(-17)
         : strcmp(what, "executing") == 0  ? executed(argv[0])
         : strcmp(what, "jumping") == 0    ? jumping()
         : strcmp(what, "signalled") == 0  ? signalled()
         : strcmp(what, "coroutines") == 0 ? coroutines()
         : strcmp(what, "trapping") == 0   ? trapping()
         : strcmp(what, "cleared") == 0    ? cleared()
         : strcmp(what, "confined") == 0   ? confined()
         : strcmp(what, "sharing") == 0    ? sharing()
         : strcmp(what, "faulting") == 0   ? faulting()
         : strcmp(what, "stopping") == 0   ? stopping()
         : strcmp(what, "copied") == 0     ? copied()
         : strcmp(what, "leaving") == 0    ? leaving()
         : strcmp(what, "spinning") == 0   ? spinning()
         : strcmp(what, "waiting") == 0    ? waiting(argc > 2)
                                           : 99;
}
