// File systems made, set up, moved and taken down, a loop device, quotas, other roots, and what the kernel refuses.
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

int mount(const char*, const char*, const char*, unsigned long, const void*);
int umount2(const char*, int);

enum { no_suid = 2, read_only = 1, no_exec = 8, bind = 4096, move = 8192, recursive = 16384, remount = 32, lazy = 2 };

static void old_ways(void) {
  mkdir("one", 0755);
  mkdir("two", 0755);
  mount("source", "one", "tmpfs", no_suid | no_exec, "size=64k,mode=711");
  mount("one", "two", NULL, bind | recursive, NULL);
  mount(NULL, "two", NULL, remount | bind | read_only, NULL);
  mount(NULL, "one", NULL, 1 << 18 | recursive, NULL);  // MS_PRIVATE
  mount(NULL, "one", NULL, 1 << 20, NULL);              // MS_SHARED
  mount(NULL, "one", NULL, 1 << 18, NULL);
  umount2("two", lazy);
  mount("one", "two", NULL, move, NULL);
  umount2("two", 4);  // MNT_EXPIRE
  umount2("two", 4);
  umount2("two", 8);  // UMOUNT_NOFOLLOW
}

static void new_ways(void) {
  const int context = (int)syscall(430, "tmpfs", 1);
  syscall(431, context, FSCONFIG_SET_FLAG, "inode64", NULL, 0);
  syscall(431, context, FSCONFIG_SET_STRING, "mode", "0700", 0);
  syscall(431, context, FSCONFIG_SET_STRING, "nonsense", "x", 0);
  syscall(431, context, FSCONFIG_SET_BINARY, "data", "\0\1\2", 3);
  syscall(431, context, FSCONFIG_SET_PATH, "path", "one", AT_FDCWD);
  syscall(431, context, FSCONFIG_SET_PATH_EMPTY, "path", "", AT_FDCWD);
  syscall(431, context, FSCONFIG_SET_FD, "fd", NULL, context);
  char complaint[128];
  read(context, complaint, sizeof complaint);
  syscall(431, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
  const int made = (int)syscall(432, context, 1, 1 | 2 | 8);
  syscall(429, made, "", AT_FDCWD, "one", 4);
  struct mount_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOATIME;
  attributes.attr_clr = MOUNT_ATTR__ATIME | MOUNT_ATTR_NOEXEC;
  attributes.propagation = 1 << 18;
  syscall(442, made, "", 0x1000 | 0x8000, &attributes, sizeof attributes);
  const int tree = (int)syscall(428, AT_FDCWD, "one", 1 | 0x8000 | O_CLOEXEC);
  syscall(429, tree, "", AT_FDCWD, "two", 4);
  const int picked = (int)syscall(433, AT_FDCWD, "one", 1 | 2);
  syscall(431, picked, FSCONFIG_SET_FLAG, "ro", NULL, 0);
  syscall(431, picked, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0);
  close(picked);
  close(tree);
  close(made);
  close(context);
  umount2("two", lazy);
  umount2("one", lazy);
}

static void loops(void) {
  const int image = open("image", O_RDWR | O_CREAT, 0600);
  ftruncate(image, 1 << 20);
  const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  if (control < 0 || flock(control, LOCK_EX) != 0) {
    return;
  }
  const int number = ioctl(control, LOOP_CTL_GET_FREE);
  char name[] = "/dev/loop0";
  if (number < 0 || number > 9) {
    return;
  }
  name[9] = (char)('0' + number);
  const int device = open(name, O_RDWR | O_CLOEXEC);
  if (device < 0) {
    return;
  }
  struct loop_config config;
  memset(&config, 0, sizeof config);
  config.fd = (unsigned)image;
  config.block_size = 512;
  config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
  strcpy((char*)config.info.lo_file_name, "the image");
  struct loop_info64 info;
  struct loop_info old;
  if (ioctl(device, LOOP_CONFIGURE, &config) == 0) {
    ioctl(device, LOOP_GET_STATUS64, &info);
    info.lo_offset = 4096;
    info.lo_sizelimit = 65536;
    ioctl(device, LOOP_SET_STATUS64, &info);
    ioctl(device, LOOP_GET_STATUS, &old);
    ioctl(device, LOOP_SET_STATUS, &old);
    ioctl(device, LOOP_SET_CAPACITY, 0);
    ioctl(device, LOOP_SET_BLOCK_SIZE, 1024);
    ioctl(device, LOOP_SET_DIRECT_IO, 0);
    int size;
    uint64_t bytes;
    ioctl(device, _IO(0x12, 104), &size);            // BLKSSZGET
    ioctl(device, _IOR(0x12, 114, size_t), &bytes);  // BLKGETSIZE64
    ioctl(device, _IO(0x12, 96), &bytes);            // BLKGETSIZE
    ioctl(device, _IO(0x12, 93), (int[1]){0});       // BLKROSET, which outlives whoever set it
    ioctl(device, _IO(0x12, 94), &size);             // BLKROGET
    ioctl(device, _IO(0x12, 93), (int[1]){1});
    ioctl(device, _IO(0x12, 97), 0);                        // BLKFLSBUF
    ioctl(device, _IO(0x12, 119), (uint64_t[2]){0, 4096});  // BLKDISCARD
    ioctl(device, LOOP_CHANGE_FD, image);
    mount(name, "one", "ext4", read_only, NULL);
    ioctl(device, _IO(0x12, 93), (int[1]){0});
    ioctl(device, LOOP_CLR_FD, 0);
  }
  if (ioctl(device, LOOP_SET_FD, image) == 0) {
    ioctl(device, LOOP_CLR_FD, 0);
  }
  close(device);
  close(control);
}

static void quotas(void) {
  char answer[128];
  syscall(SYS_quotactl, QCMD(Q_SYNC, USRQUOTA), NULL, 0, NULL);
  syscall(SYS_quotactl, QCMD(Q_SYNC, GRPQUOTA), "/dev/none", 0, NULL);
  syscall(SYS_quotactl, QCMD(Q_QUOTAON, USRQUOTA), "/dev/none", 2, "aquota.user");
  syscall(SYS_quotactl, QCMD(Q_QUOTAOFF, GRPQUOTA), "/dev/none", 0, NULL);
  syscall(SYS_quotactl, QCMD(Q_GETFMT, USRQUOTA), "/dev/none", 0, answer);
  syscall(SYS_quotactl, QCMD(Q_GETQUOTA, USRQUOTA), "/dev/none", 7, answer);
  struct dqblk limits = {1, 2, 3, 4, 5, 6, 7, 8, QIF_LIMITS};
  syscall(SYS_quotactl, QCMD(Q_SETQUOTA, USRQUOTA), "/dev/none", 7, &limits);
  syscall(443, AT_FDCWD, QCMD(Q_GETINFO, USRQUOTA), 0, answer);
  const int here = open(".", O_RDONLY);
  syscall(443, here, QCMD(Q_GETINFO, USRQUOTA), 0, answer);
}

static void refused(void) {
  syscall(SYS_init_module, "not a module", 12, "option=1");
  const int text = open("data/text", O_RDONLY);
  syscall(313 + (sizeof(long) == 4 ? 37 : 0), text, "option=\"a b\"", 1 | 2 | 4);  // finit_module
  syscall(SYS_delete_module, "no_such_module", O_NONBLOCK | O_TRUNC);
  syscall(SYS_reboot, 0xfee1dead, 1, 0x1234567, NULL);
  syscall(SYS_reboot, 1, 0x28121969, 0, NULL);
  syscall(SYS_kexec_load, 0, 0, NULL, 0x3e0000);
  swapon("image", SWAP_FLAG_PREFER | 5 | SWAP_FLAG_DISCARD);
  swapoff("image");
  syscall(SYS_acct, "missing/file");
  sethostname("scenario", 8);
  setdomainname("scenes", 6);
  syscall(SYS_syslog, 10, NULL, 0);
  syscall(SYS_syslog, 3, NULL, 5);
#ifdef SYS_ioperm
  syscall(SYS_ioperm, 0x80, 1, 0);
#endif
}

static void other_roots(void) {
  mkdir("root", 0755);
  mount("root", "root", NULL, bind, NULL);
  mkdir("root/old", 0755);
  chdir("root");
  if (syscall(SYS_pivot_root, ".", "old") == 0) {
    chroot(".");
    umount2("/old", lazy);
    open("/old/missing", O_RDONLY);
  }
}

int main(void) {
  if (unshare(CLONE_NEWNS | CLONE_NEWUTS) != 0) {
    return 0;
  }
  old_ways();
  new_ways();
  loops();
  quotas();
  refused();
  other_roots();
  return 0;
}
