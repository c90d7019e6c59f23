// Opening, reading, writing, naming and describing files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static char* const bad = (char*)1;

static void names(void) {
  mkdir("dir", 0755);
  mkdirat(AT_FDCWD, "dir/sub", 01777);
  mknod("fifo", S_IFIFO | 0644, 0);
  mknodat(AT_FDCWD, "null", S_IFCHR | 0666, 0x103);
  symlink("text \"quoted\"\n", "link");
  link("hello.c", "second.c");
  linkat(AT_FDCWD, "hello.c", AT_FDCWD, "third.c", AT_SYMLINK_FOLLOW);
  rename("second.c", "dir/\303\244\001\177.c");
  syscall(SYS_renameat2, AT_FDCWD, "third.c", AT_FDCWD, "hello.c", 1 /* RENAME_NOREPLACE */);
  char buffer[64];
  readlink("link", buffer, sizeof buffer);
  readlinkat(AT_FDCWD, "link", buffer, 3);
  readlink("missing", buffer, sizeof buffer);
  getcwd(buffer, sizeof buffer);
  syscall(SYS_getcwd, buffer, 3);
  chdir("dir");
  chdir("..");
  chmod("hello.c", 04755);
  fchmodat(AT_FDCWD, "hello.c", 0640, 0);
  chown("hello.c", 1, -1);
  fchownat(AT_FDCWD, "hello.c", -1, 2, AT_SYMLINK_NOFOLLOW);
  lchown("link", 3, 4);
  access("hello.c", R_OK | W_OK | X_OK);
  faccessat(AT_FDCWD, "missing", F_OK, 0);
  syscall(SYS_faccessat2, AT_FDCWD, "hello.c", R_OK, AT_EACCESS);
  truncate("hello.c", 10);
  umask(022);
  unlink("fifo");
  unlinkat(AT_FDCWD, "dir/sub", AT_REMOVEDIR);
  rmdir("dir");
  open(bad, O_RDONLY);
  stat(NULL, NULL);
  char longest[PATH_MAX + 1];
  memset(longest, 'x', PATH_MAX);
  longest[PATH_MAX] = 0;
  open(longest, O_RDONLY);
}

static void times(void) {
  const struct timespec both[2] = {{1, 2}, {3, UTIME_OMIT}};
  utimensat(AT_FDCWD, "hello.c", both, AT_SYMLINK_NOFOLLOW);
  const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  utimensat(AT_FDCWD, "hello.c", now, 0);
  utimensat(AT_FDCWD, "hello.c", NULL, 0);
  const struct timeval old[2] = {{5, 6}, {7, 8}};
  utimes("hello.c", old);
  futimes(0, old);
}

static void descriptors(void) {
  const int fd = open("new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  openat(AT_FDCWD, "data", O_RDONLY | O_DIRECTORY | O_PATH);
  open("new", O_WRONLY | O_APPEND | O_NONBLOCK | O_DSYNC | O_EXCL);
  creat("newer", 0600);
  char bytes[256];
  for (int i = 0; i < 256; i++) {
    bytes[i] = (char)i;
  }
  write(fd, bytes, sizeof bytes);
  write(fd, "", 0);
  write(fd, "one\ttwo\r\n\v\f\033[0m\"\\", 18);
  write(fd, bad, 5);
  write(-1, "x", 1);
  pwrite(fd, "123", 3, 1LL << 33);
  pread(fd, bytes, 40, 30);
  lseek(fd, 0, SEEK_SET);
  lseek(fd, 5, SEEK_HOLE);
  lseek(fd, -1, SEEK_END);
  lseek(fd, 0, 99);
  read(fd, bytes, 10);
  lseek(fd, 0, SEEK_SET);
  struct iovec parts[3] = {{bytes, 5}, {bytes + 5, 40}, {bad, 0}};
  readv(fd, parts, 3);
  writev(fd, parts, 2);
  preadv(fd, parts, 2, 7);
  pwritev2(fd, parts, 2, 9, RWF_HIPRI);
  readv(fd, (struct iovec*)bad, 2);
  fsync(fd);
  fdatasync(fd);
  ftruncate(fd, 1000);
  fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 1, 2);
  posix_fadvise(fd, 0, 100, POSIX_FADV_WILLNEED);
  flock(fd, LOCK_EX | LOCK_NB);
  dup(fd);
  dup2(fd, 20);
  dup3(fd, 21, O_CLOEXEC);
  fcntl(fd, F_GETFD);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK);
  fcntl(fd, F_DUPFD, 30);
  fcntl(fd, F_DUPFD_CLOEXEC, 31);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 10};
  fcntl(fd, F_SETLK, &lock);
  fcntl(fd, F_GETLK, &lock);
  lock.l_type = F_UNLCK;
  fcntl(fd, F_SETLKW, &lock);
  fcntl(fd, F_GETOWN);
  fcntl(fd, F_GETLEASE);
  fcntl(fd, 12345, 1);
  fcntl(-1, F_GETFD);
  int pipes[2];
  pipe(pipes);
  fcntl(pipes[0], F_GETPIPE_SZ);
  pipe2(pipes, O_CLOEXEC | O_NONBLOCK);
  read(pipes[0], bytes, 1);
  off_t offset = 3;
  sendfile(pipes[1], fd, &offset, 20);
  splice(pipes[0], NULL, fd, NULL, 10, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  loff_t from = 0;
  copy_file_range(fd, &from, 20, NULL, 10, 0);
  ioctl(fd, FIONREAD, bytes);
  ioctl(-1, FIONBIO, bytes);
  close_range(30, 40, 0);
  close(fd);
  close(fd);
  close(-1);
}

static void descriptions(void) {
  struct stat status;
  stat("hello.c", &status);
  lstat("link", &status);
  stat("/dev/null", &status);
  fstat(1, &status);
  fstatat(AT_FDCWD, "missing", &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
  fstatat(0, "", &status, AT_EMPTY_PATH);
  struct statx more;
  statx(AT_FDCWD, "hello.c", AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MODE | STATX_SIZE, &more);
  statx(AT_FDCWD, "missing", 0, STATX_ALL, &more);
  struct statfs system;
  statfs("/proc", &system);
  fstatfs(-1, &system);
  setxattr("hello.c", "user.a", "value\0x", 7, XATTR_CREATE);
  char value[32];
  getxattr("hello.c", "trusted.none", value, sizeof value);
  listxattr("hello.c", value, sizeof value);
  removexattr("hello.c", "user.a");
  const int directory = open("data", O_RDONLY | O_DIRECTORY);
  char entries[1024];
  while (syscall(SYS_getdents64, directory, entries, sizeof entries) > 0) {
  }
  lseek(directory, 0, SEEK_SET);
#ifdef SYS_getdents
  syscall(SYS_getdents, directory, entries, sizeof entries);
#endif
  sync();
  syncfs(directory);
}

int main(void) {
  names();
  times();
  descriptors();
  descriptions();
}
