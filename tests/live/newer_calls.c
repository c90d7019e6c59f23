// Calls that came after Linux 6.1 and succeed, where /mnt is a tmpfs.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  nr_cachestat = 451,
  nr_fchmodat2 = 452,
  nr_futex_wake = 454,
  nr_statmount = 457,
  nr_listmount = 458,
  nr_lsm_list_modules = 461,
  nr_mseal = 462,
  nr_setxattrat = 463,
  nr_getxattrat = 464,
  nr_listxattrat = 465,
  nr_removexattrat = 466,
  nr_open_tree_attr = 467,
  nr_file_getattr = 468,
  nr_file_setattr = 469,
};

struct mount_request {
  uint32_t size;
  uint32_t spare;
  uint64_t mnt_id;
  uint64_t param;
};
struct xattr {
  uint64_t value;
  uint32_t size;
  uint32_t flags;
};
struct file_attributes {
  uint64_t xflags;
  uint32_t sizes[4];
};
struct mount_attributes {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t userns_fd;
};

int main(void) {
  static char room[4096];
  const int file = open("/mnt/file", O_RDWR | O_CREAT, 0600);
  write(file, "some text\n", 10);
  struct mount_request request = {24, 0, UINT64_MAX, 0};
  static uint64_t ids[512];
  const long mounts = syscall(nr_listmount, &request, ids, 512, 0);
  request.mnt_id = mounts > 0 ? ids[mounts - 1] : 0;
  request.param = 0x2 | 0x10 | 0x20;  // basics, mount point, file system
  syscall(nr_statmount, &request, room, sizeof room, 0);

  const struct xattr given = {(uintptr_t) "staff", 5, 1};
  syscall(nr_setxattrat, AT_FDCWD, "/mnt/file", 0, "trusted.group", &given, sizeof given);
  char value[16];
  const struct xattr wanted = {(uintptr_t)value, sizeof value, 0};
  syscall(nr_getxattrat, AT_FDCWD, "/mnt/file", 0, "trusted.group", &wanted, sizeof wanted);
  syscall(nr_listxattrat, AT_FDCWD, "/mnt/file", 0, room, sizeof room);
  syscall(nr_removexattrat, AT_FDCWD, "/mnt/file", 0, "trusted.group");

  struct file_attributes attributes;
  syscall(nr_file_getattr, AT_FDCWD, "/mnt/file", &attributes, sizeof attributes, 0);
  attributes.xflags = 0x40;  // FS_XFLAG_NOATIME
  syscall(nr_file_setattr, AT_FDCWD, "/mnt/file", &attributes, sizeof attributes, 0);
  const struct mount_attributes read_only = {1, 0, 0, 0};
  syscall(nr_open_tree_attr, AT_FDCWD, "/mnt", 1, &read_only, sizeof read_only);

  void* page = mmap((void*)0x20000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  syscall(nr_mseal, page, 4096, 0);
  const uint64_t range[2] = {0, 4096};
  uint64_t pages[5];
  syscall(nr_cachestat, file, range, pages, 0);
  syscall(nr_fchmodat2, AT_FDCWD, "/mnt/file", 0640, AT_SYMLINK_NOFOLLOW);
  uint32_t word = 0;
  syscall(nr_futex_wake, &word, 1, 1, 0x82);
  uint32_t size = sizeof room;
  syscall(nr_lsm_list_modules, room, &size, 0);
  return 0;
}
