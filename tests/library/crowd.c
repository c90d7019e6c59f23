// THREADS threads that call step() CALLS times each; a third argument: under a system call filter of their own. With
// -DCALLER or -DCALLEE only the one half, for a library of its own; with -DCHOSEN a resolver chooses the function.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

int step(int number);

#ifndef CALLER
#ifdef CHOSEN
static __attribute__((noinline)) int fast_step(int number) {
  return number + 1;
}

static int (*choose(void))(int) {
  return fast_step;
}

int step(int number) __attribute__((ifunc("choose")));
#else
__attribute__((noinline)) int step(int number) {
  return number + 1;
}
#endif
#endif

#ifndef CALLEE
static int calls;

static void* work(void* unused) {
  long sum = 0;
  for (int i = 0; i < calls; ++i) {
    sum += step(i);
  }
  (void)unused;
  return (void*)sum;
}

static int confine(void) {
  struct sock_filter allow = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  struct sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1;
  calls = argc > 2 ? atoi(argv[2]) : 1;
  if (argc > 3 && confine()) {
    return 2;
  }
  pthread_t* threads = calloc((size_t)count, sizeof *threads);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    wrong |= pthread_create(&threads[i], NULL, work, NULL);
  }
  for (int i = 0; i < count; ++i) {
    void* sum;
    pthread_join(threads[i], &sum);
    wrong |= (long)sum != (long)calls * (calls + 1) / 2;
  }
  return wrong ? 1 : 7;
}
#endif
