// A signal interrupts a function, and its handler does what nobody can record from then on: it installs a seccomp
// filter, or calls vfork, which shares the stack. The argument says which. The function returns all the same.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { length = 1 << 27 };

static const char* way;
static volatile int is_inside;
static volatile int interrupted;

static void expect(int right) {
  if (!right) {
    abort();
  }
}

static void handle(int number) {
  (void)number;
  if (!is_inside) {
    return;
  }
  interrupted = 1;
  if (*way == 'v') {
    const pid_t child = vfork();
    if (child == 0) {
      _exit(0);
    }
    int status = 1;
    expect(waitpid(child, &status, 0) == child && status == 0);
    return;
  }
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog filter = {1, &allow};
  expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

int main(int argc, char** argv) {
  way = argv[argc - 1];
  char* text = malloc(length + 1);
  expect(text != NULL);
  memset(text, 'a', length);
  text[length] = 0;
  signal(SIGALRM, handle);
  while (!interrupted) {
    ualarm(2000, 0);
    is_inside = 1;
    expect(strlen(text) == length);
    is_inside = 0;
  }
  for (int i = 0; i < 10; ++i) {
    expect(strlen("abc") == 3);
  }
  puts("done");
  return 8;
}
