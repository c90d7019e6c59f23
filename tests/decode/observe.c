// Makes one call that never runs: a filter hands it to a second thread, which writes what the call is to write and
// says how it ends. So a tracer sees any call with any memory and any result. observe FILE; observe.py writes FILE.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page = 4096, max_items = 64, max_calls = 8, first_free_descriptor = 20 };

struct item {
  unsigned long address;
  unsigned char* bytes;
  size_t size;
  int at_exit;
};

struct call {
  int i386;
  unsigned long number;
  unsigned long args[6];
  long result;
};

static struct item items[max_items];
static struct call calls[max_calls];
static int item_count, call_count;
static unsigned long stack;
static int listener = -1;
static pthread_barrier_t started;

extern const char after_syscall[], after_int80[];

/// With the registers as `c` and `stack` say.
static __attribute__((noinline)) long make_call(const struct call* c) {
  register long result __asm__("rax") = (long)c->number;
  const struct call* p = c;
  __asm__ volatile(
      "push %%rbp\n push %%rbx\n push %%r12\n push %%r13\n"
      "mov %%rsp, %%r12\n"
      "mov %[stack], %%r13\n"
      "mov %[p], %%r11\n"
      "cmpl $0, (%%r11)\n"
      "jne 1f\n"
      "mov 16(%%r11), %%rdi\n mov 24(%%r11), %%rsi\n mov 32(%%r11), %%rdx\n"
      "mov 40(%%r11), %%r10\n mov 48(%%r11), %%r8\n mov 56(%%r11), %%r9\n"
      "test %%r13, %%r13\n cmovnz %%r13, %%rsp\n"
      "syscall\n"
      ".globl after_syscall\nafter_syscall:\n"
      "jmp 2f\n"
      "1:\n"
      "mov 16(%%r11), %%rbx\n mov 24(%%r11), %%rcx\n mov 32(%%r11), %%rdx\n"
      "mov 40(%%r11), %%rsi\n mov 48(%%r11), %%rdi\n mov 56(%%r11), %%rbp\n"
      "test %%r13, %%r13\n cmovnz %%r13, %%rsp\n"
      "int $0x80\n"
      ".globl after_int80\nafter_int80:\n"
      "2: mov %%r12, %%rsp\n"
      "pop %%r13\n pop %%r12\n pop %%rbx\n pop %%rbp\n"
      : "+r"(result), [p] "+r"(p)
      : [stack] "m"(stack)
      : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

static void write_items(int at_exit) {
  for (int i = 0; i < item_count; ++i) {
    if (items[i].at_exit == at_exit) {
      memcpy((void*)items[i].address, items[i].bytes, items[i].size);
    }
  }
}

static void* answer(void* unused) {
  pthread_barrier_wait(&started);
  for (int i = 0; i < call_count; ++i) {
    struct seccomp_notif question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) {
      perror("SECCOMP_IOCTL_NOTIF_RECV");
      _exit(1);
    }
    if (i + 1 == call_count) {
      write_items(1);
    }
    struct seccomp_notif_resp reply = {.id = question.id};
    const long result = calls[i].result;
    if (result < 0 && result >= -4095) {
      reply.error = (int)result;
    } else {
      reply.val = result;
    }
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
  }
  return unused;
}

static void filter(void) {
  const unsigned long a = (unsigned long)after_syscall, b = (unsigned long)after_int80;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)a, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)b, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int made = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (made < 0) {
    perror("seccomp");
    exit(1);
  }
  listener = dup2(made, first_free_descriptor);
  close(made);
}

static void map(unsigned long address, size_t size) {
  const unsigned long first = address / page * page;
  for (unsigned long at = first; at < address + size; at += page) {
    if (mmap((void*)at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
            MAP_FAILED &&
        errno != EEXIST) {
      perror("mmap");
      exit(1);
    }
  }
}

static void read_file(const char* path) {
  FILE* f = fopen(path, "r");
  if (f == NULL) {
    perror(path);
    exit(1);
  }
  char word[16];
  while (fscanf(f, "%15s", word) == 1) {
    if (strcmp(word, "memory") == 0 || strcmp(word, "change") == 0) {
      struct item* const item = &items[item_count++];
      item->at_exit = word[0] == 'c';
      if (fscanf(f, "%lx %zu", &item->address, &item->size) != 2) {
        exit(1);
      }
      item->bytes = malloc(item->size + 1);
      for (size_t i = 0; i < item->size; ++i) {
        unsigned byte = 0;
        if (fscanf(f, "%2x", &byte) != 1) {
          exit(1);
        }
        item->bytes[i] = (unsigned char)byte;
      }
    } else if (strcmp(word, "stack") == 0) {
      if (fscanf(f, "%lx", &stack) != 1) {
        exit(1);
      }
    } else {
      struct call* const c = &calls[call_count++];
      if (fscanf(f, "%d %lx %lx %lx %lx %lx %lx %lx %ld", &c->i386, &c->number, &c->args[0], &c->args[1], &c->args[2],
                 &c->args[3], &c->args[4], &c->args[5], &c->result) != 9) {
        exit(1);
      }
    }
  }
  fclose(f);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    return 1;
  }
  read_file(argv[1]);
  for (int i = 0; i < item_count; ++i) {
    map(items[i].address, items[i].size);
  }
  write_items(0);
  pthread_barrier_init(&started, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, answer, NULL);
  filter();
  pthread_barrier_wait(&started);
  // The descriptors that the cases know by name under -y.
  for (int fd = 3; fd < first_free_descriptor; ++fd) {
    close(fd);
  }
  open("/etc/passwd", O_RDONLY);
  open("/tmp/gone", O_RDWR | O_CREAT | O_EXCL, 0600);
  unlink("/tmp/gone");
  if (chdir("/home") != 0) {
    return 1;
  }
  syscall(SYS_chdir, "begin of the case");
  for (int i = 0; i < call_count; ++i) {
    make_call(&calls[i]);
  }
  syscall(SYS_chdir, "end of the case");
  _exit(0);
}
