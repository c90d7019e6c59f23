// Does what its first argument says, with a stack that the tests know. Compiled without inlining, with -rdynamic.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_attribute(noipa)
#define KEEP __attribute__((noinline, noipa))
#else
#define KEEP __attribute__((noinline))
#endif

KEEP int inner(void) {
  return getppid() + 1;
}
KEEP int middle(void) {
  return inner() + 1;
}
KEEP int outer(void) {
  return middle() + 1;
}

KEEP int recurse(int depth) {
  return depth == 0 ? getppid() : recurse(depth - 1) + 1;
}

static void on_signal(int signal) {
  (void)signal;
  inner();
}
KEEP int raise_it(void) {
  signal(SIGUSR1, on_signal);
  return raise(SIGUSR1) + 1;
}

// A frame pointer that points to itself, in code that has no unwind information.
KEEP void go_round(void) {
  static const unsigned char code[] = {
      0x48, 0x89, 0xe5,                 // mov rbp, rsp
      0x48, 0x89, 0x6d, 0x00,           // mov [rbp], rbp
      0x48, 0x8d, 0x05, 0,    0, 0, 0,  // lea rax, [rip]
      0x48, 0x89, 0x45, 0x08,           // mov [rbp + 8], rax
      0xb8, 110,  0,    0,    0,        // mov eax, getppid
      0x0f, 0x05,                       // syscall
      0xb8, 231,  0,    0,    0,        // mov eax, exit_group
      0x31, 0xff,                       // xor edi, edi
      0x0f, 0x05,                       // syscall
  };
  void* place = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(place, code, sizeof code);
  ((void (*)(void))place)();
}

// Code made at run time, with a frame pointer, listed for perf or not; `owner`: whose the list is, 0 for ours.
KEEP int run_compiled(int told, uid_t owner) {
  static const unsigned char code[] = {
      0x55,                       // push rbp
      0x48, 0x89, 0xe5,           // mov rbp, rsp
      0xb8, 110,  0,    0,    0,  // mov eax, getppid
      0x0f, 0x05, 0x5d, 0xc3,     // syscall; pop rbp; ret
  };
  unsigned char* place = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(place, code, sizeof code);
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  if (told) {
    FILE* map = fopen(path, "w");
    fprintf(map, "%lx 10 Compiled::twice~1\n", (unsigned long)place);
    if (owner != 0 && fchown(fileno(map), owner, (gid_t)-1) != 0) {
      return -1;
    }
    fclose(map);
  }
  const int result = ((int (*)(void))place)();
  if (told) {
    unlink(path);
  }
  return result + 1;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "call") == 0) {
    return outer() == 0;
  }
  if (strcmp(what, "deep") == 0) {
    return recurse(atoi(argv[2])) == 0;
  }
  if (strcmp(what, "signal") == 0) {
    return raise_it() == 0;
  }
  if (strcmp(what, "deleted") == 0) {
    unlink(argv[0]);
    return outer() == 0;
  }
  if (strcmp(what, "exec") == 0) {
    char* arguments[] = {argv[0], "call", 0};
    execv(argv[0], arguments);
  }
  if (strcmp(what, "round") == 0) {
    go_round();
  }
  if (strcmp(what, "mapping") == 0) {
    for (int i = 0; i < 100; ++i) {
      void* place = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      inner();
      munmap(place, 4096);
    }
    return 0;
  }
  if (strcmp(what, "compiled") == 0) {
    return run_compiled(argc > 2, argc > 3 ? (uid_t)atoi(argv[3]) : 0) == 0;
  }
  return 2;
}
