// Makes the system calls of a plan (see plan.h) without the kernel acting on any: a seccomp filter hands each to a
// second, untraced process, which answers with the result that the plan says. usage: execute PLAN
// Its status is 1 if a call was made twice, 2 or 3 if none could be made.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { page = 4096, slot_count = 16, first_slot = 0x20000000, slot_step = 2 * page };

// As they stand in the file, little endian. `patch_count` patches follow a scene, each with its bytes, padded to 4.
struct scene {
  uint32_t size;  // of scene and patches
  uint32_t number;
  uint32_t background;
  uint32_t patch_count;
  int64_t result;
  uint64_t args[6];
} __attribute__((packed));
struct patch {
  uint32_t address;
  uint32_t length;
  uint32_t at_exit;
} __attribute__((packed));

// What the two processes share.
struct shared {
  const struct scene* scene;
  int listener;
  int restarted;  // a call that ends with ERESTARTSYS begins again if a signal or the freezer comes just then
};

static void fill(uint32_t background) {
  for (int i = 0; i < slot_count; i++) {
    unsigned char* memory = (unsigned char*)(uintptr_t)(first_slot + i * slot_step);
    for (int at = 0; at < page; at++) {
      memory[at] = background == 2 ? (unsigned char)at
                                   : (unsigned char)(background == 1   ? 0x11
                                                     : background == 3 ? 0xff
                                                                       : 0);
    }
  }
}

static void apply(const struct scene* scene, uint32_t at_exit) {
  const char* at = (const char*)(scene + 1);
  for (uint32_t i = 0; i < scene->patch_count; i++) {
    const struct patch* patch = (const struct patch*)at;
    if (patch->at_exit == at_exit) {
      memcpy((void*)(uintptr_t)patch->address, patch + 1, patch->length);
    }
    at += sizeof *patch + (patch->length + 3) / 4 * 4;
  }
}

static void answer_all(volatile struct shared* shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (shared->listener == 0) {
    usleep(1000);
  }
  for (const struct scene* last = NULL;;) {
    struct seccomp_notif asked;
    memset(&asked, 0, sizeof asked);
    if (ioctl(shared->listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) {
      _exit(0);
    }
    const struct scene* scene = shared->scene;
    apply(scene, 1);
    struct seccomp_notif_resp answer = {.id = asked.id};
    if (scene == last) {
      shared->restarted = 1;
    } else if (scene->result < 0 && scene->result > -4096) {
      answer.error = (int32_t)scene->result;
    } else {
      answer.val = scene->result;
    }
    last = scene;
    ioctl(shared->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

static int install_filter(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x600d600d, 0, 3),  // our own way out
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

int main(int argc, char** argv) {
  const int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) {
    return 2;
  }
  const char* plan = mmap((void*)0x30000000, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
  struct shared* shared = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < slot_count; i++) {
    mmap((void*)(uintptr_t)(first_slot + i * slot_step), page, PROT_READ | PROT_WRITE,
         MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  }
  // A copy of the process that shares its descriptors: there it finds the filter's listener.
  if (syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0) == 0) {
    answer_all(shared);
  }
  const int listener = install_filter();
  if (listener < 0) {
    return 3;
  }
  shared->listener = listener;
  for (const char* at = plan; at < plan + status.st_size;) {
    const struct scene* scene = (const struct scene*)at;
    shared->scene = scene;
    fill(scene->background);
    apply(scene, 0);
    uint64_t a[6];
    memcpy(a, (const char*)scene + offsetof(struct scene, args), sizeof a);
    syscall((long)scene->number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4], (long)a[5]);
    at += scene->size;
  }
  syscall(SYS_exit_group, shared->restarted, 0, 0, 0, 0, 0x600d600d);
}
